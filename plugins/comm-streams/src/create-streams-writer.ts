import { join } from 'node:path';
import {
  type GameMappingInput,
  type LiveStreams,
  openLiveStreams,
  parseGameMapping,
} from '@hansard/datasets';
import type { DispatchStore } from '@hansard/dispatch';
import type {
  CommunicationHost,
  CommunicationProvider,
  DispatchNotice,
  EventNotice,
} from '@hansard/provider';

export interface StreamsWriterOptions {
  /** An absolute path. The files of a dispatch are in `TASK/DISPATCH` below it. */
  readonly folder: string;
  readonly mapping: GameMappingInput;
  readonly isExtended: boolean;
}

/** The files of one dispatch that is being recorded. */
interface Written {
  readonly streams: LiveStreams;
  /** The position of the next event. */
  next: number;
}

/**
 * Writes the streams of every dispatch of a harness while it runs. Events come from the notices; those whose notices were dropped, and
 * those before a dispatch was continued, come from the store.
 * @throws FORMAT_MAPPING_INVALID
 */
export function createStreamsWriter(options: StreamsWriterOptions): CommunicationProvider {
  parseGameMapping(options.mapping);
  return new StreamsWriter(options);
}

class StreamsWriter implements CommunicationProvider {
  readonly contract = 1;
  readonly #options: StreamsWriterOptions;
  readonly #written = new Map<string, Written>();
  /** The dispatches that nothing more is written of, after an error. */
  readonly #failed = new Set<string>();
  #store: DispatchStore | null = null;

  constructor(options: StreamsWriterOptions) {
    this.#options = options;
  }

  start({ store }: CommunicationHost): void {
    if (store === undefined) throw new TypeError('The host of comm-streams gives it no store to read.');
    this.#store = store as DispatchStore;
  }

  dispatchStarted(notice: DispatchNotice): Promise<void> {
    return this.#write(notice);
  }

  eventRecorded(notice: EventNotice): Promise<void> | undefined {
    const { event, position } = notice;
    const files = this.#filesOf(notice);
    if (files === undefined || position < files.next) return undefined;
    // The notices before it were dropped.
    if (position > files.next) return this.#write(notice);
    files.next += 1;
    this.#attempt(notice, () => files.streams.add(event));
    return undefined;
  }

  async dispatchEnded(notice: DispatchNotice): Promise<void> {
    await this.#write(notice);
    this.#attempt(notice, () => this.#written.get(keyOf(notice))?.streams.finish());
    this.#leave(notice);
  }

  close(): void {
    for (const { streams } of this.#written.values()) streams.close();
    this.#written.clear();
  }

  /** Opens the files with the first notice that comes. */
  #filesOf(notice: DispatchNotice): Written | undefined {
    const key = keyOf(notice);
    if (this.#failed.has(key)) return undefined;
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    const { folder, mapping, isExtended } = this.#options;
    const { dispatchId } = notice.envelope;
    const path = join(folder, notice.taskDir, dispatchId);
    const opened = { streams: openLiveStreams(path, mapping, { runId: dispatchId, isExtended }), next: 0 };
    this.#written.set(key, opened);
    return opened;
  }

  /** Writes what the store has after the last event. */
  async #write(notice: DispatchNotice): Promise<void> {
    const files = this.#filesOf(notice);
    if (files === undefined || this.#store === null) return;
    const { dispatchId } = notice.envelope;
    const dispatch = await this.#store.openDispatch({ taskDir: notice.taskDir, dispatchId });
    for await (const { position, event } of dispatch.events({ after: files.next - 1 })) {
      files.next = position + 1;
      this.#attempt(notice, () => files.streams.add(event));
    }
  }

  /** After an error, nothing more is written of the dispatch: the hub reports it once. */
  #attempt(notice: DispatchNotice, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed.add(keyOf(notice));
      this.#leave(notice);
      throw error;
    }
  }

  #leave(notice: DispatchNotice): void {
    this.#written.get(keyOf(notice))?.streams.close();
    this.#written.delete(keyOf(notice));
  }
}

function keyOf({ taskDir, envelope: { dispatchId } }: DispatchNotice): string {
  return `${taskDir}/${dispatchId}`;
}

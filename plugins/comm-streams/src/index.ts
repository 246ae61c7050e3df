import { join, resolve } from 'node:path';
import { type GameMappingInput, openLiveStreams, parseGameMapping } from '@hansard/datasets';
import type { DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type { SessionFormatId } from '@hansard/formats';
import { openLiveSessionLog } from '@hansard/formats/files';
import {
  type CommunicationHost,
  type CommunicationProvider,
  type DispatchNotice,
  definePlugin,
  type EventNotice,
} from '@hansard/provider';

/** The configuration of the plugin; `plugin.json` says what each means. */
interface StreamsConfig {
  readonly folder?: string;
  readonly mapping?: GameMappingInput;
  readonly sessionLogs?: readonly SessionFormatId[];
  readonly extended?: boolean;
}

export default definePlugin({
  id: 'comm-streams',
  provides: 'CommunicationProvider',
  create: ({ folder = 'streams', extended = false, ...written }: StreamsConfig, { baseDir }) =>
    createStreamsWriter({ folder: resolve(baseDir, folder), isExtended: extended, ...written }),
});

interface StreamsWriterOptions {
  /** An absolute path. The files of a dispatch are in `TASK/DISPATCH` below it. */
  readonly folder: string;
  /** Writes the five streams of a game. Absent: it writes none. */
  readonly mapping?: GameMappingInput;
  /** The session logs that it writes, `FORMAT.jsonl` each. Absent: none. */
  readonly sessionLogs?: readonly SessionFormatId[];
  readonly isExtended: boolean;
}

/** Files that are written together: the streams of a game, or a session log. */
interface LiveFiles {
  add(event: CapturedEvent): void;
  flush(): void;
  finish(): void;
  close(): void;
}

/** What is written of one dispatch that is being recorded. */
interface Written {
  /** Without those that failed: nothing more is written to them. */
  files: readonly LiveFiles[];
  /** The position of the next event. */
  next: number;
}

/**
 * Writes the streams and session logs of every dispatch of a harness while it runs. Events come from the notices; those whose notices were
 * dropped, and those before a dispatch was continued, come from the store.
 * @throws FORMAT_MAPPING_INVALID
 */
export function createStreamsWriter(options: StreamsWriterOptions): CommunicationProvider {
  const { mapping, sessionLogs = [] } = options;
  if (mapping === undefined && sessionLogs.length === 0)
    throw new TypeError('comm-streams has nothing to write: give it a mapping, sessionLogs, or both.');
  if (mapping !== undefined) parseGameMapping(mapping);
  return new StreamsWriter(options);
}

class StreamsWriter implements CommunicationProvider {
  readonly contract = 1;
  readonly #options: StreamsWriterOptions;
  readonly #written = new Map<string, Written>();
  /** The first error of a call, which it throws at its end. */
  #failure: { readonly error: unknown } | null = null;
  #store: DispatchStore | null = null;

  constructor(options: StreamsWriterOptions) {
    this.#options = options;
  }

  start({ store }: CommunicationHost): void {
    if (store === undefined) throw new TypeError('The host of comm-streams gives it no store to read.');
    this.#store = store as DispatchStore;
  }

  async dispatchStarted(notice: DispatchNotice): Promise<void> {
    await this.#read(notice, this.#writtenOf(notice));
    this.#throwFailure();
  }

  eventRecorded(notice: EventNotice): Promise<void> | undefined {
    const { event, position } = notice;
    const written = this.#writtenOf(notice);
    if (position < written.next) return undefined;
    // The notices before it were dropped.
    if (position > written.next) return this.dispatchStarted(notice);
    this.#add(written, event);
    this.#forEach(written, (files) => files.flush());
    this.#throwFailure();
    return undefined;
  }

  async dispatchEnded(notice: DispatchNotice): Promise<void> {
    const written = this.#writtenOf(notice);
    try {
      await this.#read(notice, written);
      this.#forEach(written, (files) => files.finish());
    } finally {
      for (const files of written.files) files.close();
      this.#written.delete(keyOf(notice));
    }
    this.#throwFailure();
  }

  close(): void {
    for (const { files } of this.#written.values()) for (const one of files) one.close();
    this.#written.clear();
  }

  /** Opens the files with the first notice that comes. */
  #writtenOf(notice: DispatchNotice): Written {
    const key = keyOf(notice);
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    const written: Written = { files: [], next: 0 };
    this.#written.set(key, written);
    for (const open of this.#openings(notice)) {
      try {
        written.files = [...written.files, open()];
      } catch (error) {
        this.#failure ??= { error };
      }
    }
    return written;
  }

  #openings({ taskDir, envelope: { dispatchId } }: DispatchNotice): (() => LiveFiles)[] {
    const { folder, mapping, sessionLogs = [], isExtended } = this.#options;
    const path = join(folder, taskDir, dispatchId);
    return [
      ...(mapping === undefined
        ? []
        : [() => openLiveStreams(path, mapping, { runId: dispatchId, isExtended })]),
      ...sessionLogs.map(
        (format) => () => openLiveSessionLog(join(path, `${format}.jsonl`), format, { isExtended }),
      ),
    ];
  }

  /** Writes what the store has after the last event. */
  async #read({ taskDir, envelope: { dispatchId } }: DispatchNotice, written: Written): Promise<void> {
    if (this.#store === null) return;
    const dispatch = await this.#store.openDispatch({ taskDir, dispatchId });
    for await (const { event } of dispatch.events({ after: written.next - 1 })) this.#add(written, event);
    this.#forEach(written, (files) => files.flush());
  }

  #add(written: Written, event: CapturedEvent): void {
    written.next += 1;
    this.#forEach(written, (files) => files.add(event));
  }

  /** Files that fail are closed, and the others are written on. The hub reports the error. */
  #forEach(written: Written, work: (files: LiveFiles) => void): void {
    for (const files of written.files) {
      try {
        work(files);
      } catch (error) {
        this.#failure ??= { error };
        written.files = written.files.filter((others) => others !== files);
        files.close();
      }
    }
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
  }
}

function keyOf({ taskDir, envelope: { dispatchId } }: DispatchNotice): string {
  return `${taskDir}/${dispatchId}`;
}

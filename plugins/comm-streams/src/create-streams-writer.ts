import { join } from 'node:path';
import {
  type GameMappingInput,
  type LiveStreams,
  openLiveStreams,
  parseGameMapping,
} from '@hansard/datasets';
import type { DispatchStore } from '@hansard/dispatch';
import type { CommunicationHost, CommunicationProvider, DispatchNotice } from '@hansard/provider';

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
export function createStreamsWriter({
  folder,
  mapping,
  isExtended,
}: StreamsWriterOptions): CommunicationProvider {
  parseGameMapping(mapping);
  let store: DispatchStore | null = null;
  const written = new Map<string, Written>();
  /** The dispatches that nothing more is written of, after an error. */
  const failed = new Set<string>();
  return {
    contract: 1,
    start(host: CommunicationHost) {
      if (host.store === undefined)
        throw new TypeError('The host of comm-streams gives it no store to read.');
      store = host.store as DispatchStore;
    },
    dispatchStarted: (notice) => write(notice),
    eventRecorded(notice) {
      const { event, position } = notice;
      const files = filesOf(notice);
      if (files === undefined || position < files.next) return;
      // The notices before it were dropped.
      if (position > files.next) return write(notice);
      files.next += 1;
      attempt(notice, () => files.streams.add(event));
    },
    async dispatchEnded(notice) {
      await write(notice);
      attempt(notice, () => written.get(keyOf(notice))?.streams.finish());
      leave(notice);
    },
    close() {
      for (const { streams } of written.values()) streams.close();
      written.clear();
    },
  };

  /** Opens the files with the first notice that comes. */
  function filesOf(notice: DispatchNotice): Written | undefined {
    const key = keyOf(notice);
    if (failed.has(key)) return undefined;
    const known = written.get(key);
    if (known !== undefined) return known;
    const { dispatchId } = notice.envelope;
    const path = join(folder, notice.taskDir, dispatchId);
    const opened = { streams: openLiveStreams(path, mapping, { runId: dispatchId, isExtended }), next: 0 };
    written.set(key, opened);
    return opened;
  }

  /** Writes what the store has after the last event. */
  async function write(notice: DispatchNotice): Promise<void> {
    const files = filesOf(notice);
    if (files === undefined || store === null) return;
    const { dispatchId } = notice.envelope;
    const dispatch = await store.openDispatch({ taskDir: notice.taskDir, dispatchId });
    for await (const { position, event } of dispatch.events({ after: files.next - 1 })) {
      files.next = position + 1;
      attempt(notice, () => files.streams.add(event));
    }
  }

  /** After an error, nothing more is written of the dispatch: the hub reports it once. */
  function attempt(notice: DispatchNotice, work: () => void): void {
    try {
      work();
    } catch (error) {
      failed.add(keyOf(notice));
      leave(notice);
      throw error;
    }
  }

  function leave(notice: DispatchNotice): void {
    written.get(keyOf(notice))?.streams.close();
    written.delete(keyOf(notice));
  }
}

function keyOf({ taskDir, envelope: { dispatchId } }: DispatchNotice): string {
  return `${taskDir}/${dispatchId}`;
}

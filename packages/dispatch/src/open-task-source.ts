import type { DispatchEnvelope, TaskRecord, TaskSource } from '@hansard/events';
import { isUnreadable, type StoreError } from '@hansard/provider';
import type { ListedDispatch } from './store/dispatch-entry.ts';
import type { DispatchStore } from './store/dispatch-store.ts';
import { CopiesAmong } from './usage/find-copies.ts';

export interface TaskSourceOptions {
  /** The dispatches to export. Absent: all dispatches of the task. */
  readonly envelopes?: readonly DispatchEnvelope[];
  /** Receives the error of an unreadable dispatch or task record, which the source then omits. Absent: the error is thrown. */
  readonly onUnreadable?: (error: StoreError, omitted: 'dispatch' | 'task') => void;
  /** Called after each page is read, with the number of events read so far. The events follow once it resolves. */
  readonly onPage?: (events: number) => void | Promise<void>;
}

const pageSize = 500;

/**
 * Reads a task of a store for an export. The source keeps at most a page of events in memory; the store must stay open
 * until the export ends.
 * @throws STORE_CORRUPT, STORE_NEWER or STORE_UNAVAILABLE for an unreadable dispatch or task record
 */
export async function openTaskSource(
  store: DispatchStore,
  taskDir: string,
  { envelopes, onUnreadable = fail, onPage }: TaskSourceOptions = {},
): Promise<TaskSource> {
  const relatives: DispatchEnvelope[] = [];
  const entries: ListedDispatch[] = [];
  for await (const listed of store.dispatches({ taskDir })) {
    if ('error' in listed) onUnreadable(listed.error, 'dispatch');
    else {
      relatives.push(listed.envelope);
      entries.push(listed);
    }
  }
  const exported = envelopes ?? relatives;
  const ids = new Set(exported.map(({ dispatchId }) => dispatchId));
  const copies = new CopiesAmong(entries.filter(({ dispatchId }) => ids.has(dispatchId)));
  let count = 0;
  return {
    taskDir,
    task: await readTask(store, taskDir, onUnreadable),
    envelopes: exported,
    relatives,
    async copiedEvents(dispatchId) {
      return (await copies.eventsOf({ taskDir, dispatchId }))?.copied ?? null;
    },
    async *readEvents(dispatchId) {
      const log = await store.openDispatch({ taskDir, dispatchId });
      for await (const { events } of log.pages({ limit: pageSize, content: true })) {
        count += events.length;
        await onPage?.(count);
        yield* events;
      }
    },
  };
}

async function readTask(
  store: DispatchStore,
  taskDir: string,
  onUnreadable: NonNullable<TaskSourceOptions['onUnreadable']>,
): Promise<TaskRecord | null> {
  try {
    return await store.findTask(taskDir);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    onUnreadable(error, 'task');
    return null;
  }
}

function fail(error: StoreError): never {
  throw error;
}

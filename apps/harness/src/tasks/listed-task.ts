import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError, type StoreError, type TaskListing } from '@hansard/provider';
import { addSpending, nothingSpent, type Spending, spendingOf } from '@hansard/views/basics';
import { listReadable } from './find-dispatch.ts';

/** A task with its dispatches; null if they are unreadable, with the reason in `errors`. */
export interface ListedTask extends Omit<TaskListing, 'error'> {
  readonly envelopes: readonly DispatchEnvelope[] | null;
  readonly errors: readonly StoreError[];
}

/** The figures of a task's dispatches; null: they are unreadable. */
interface TaskFigures extends Spending {
  readonly dispatches: number | null;
  readonly running: number | null;
  readonly lastStartedAt: string | null;
}

/** Every task, including unreadable ones: a damaged file hides no other task. */
export async function listAllTasks(store: DispatchStore): Promise<ListedTask[]> {
  const listed: ListedTask[] = [];
  for (const { error: unreadable, ...listing } of await store.listTasks()) {
    const errors = unreadable === undefined ? [] : [unreadable];
    try {
      const { envelopes, errors: damaged } = await listReadable(store, listing.taskDir);
      const areAll = damaged.length === 0;
      listed.push({ ...listing, envelopes: areAll ? envelopes : null, errors: [...errors, ...damaged] });
    } catch (error) {
      if (!isStoreError(error) || error.code === 'STORE_CLOSED') throw error;
      listed.push({ ...listing, envelopes: null, errors: [...errors, error] });
    }
  }
  return listed;
}

export function taskFigures({ envelopes }: ListedTask): TaskFigures {
  if (envelopes === null) return { dispatches: null, running: null, ...nothingSpent, lastStartedAt: null };
  return {
    dispatches: envelopes.length,
    running: envelopes.filter(({ status }) => status === 'running').length,
    ...envelopes.map(spendingOf).reduce(addSpending, nothingSpent),
    lastStartedAt: envelopes.at(-1)?.startedAt ?? null,
  };
}

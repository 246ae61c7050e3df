import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import type { StoreError, TaskListing } from '@hansard/provider';
import { addSpending, nothingSpent, type Spending, spendingOf } from '@hansard/views/basics';
import { listAll, readableOf } from './find-dispatch.ts';

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

/**
 * Every task, including unreadable ones: a damaged file hides no other task. The number of calls of the store does not depend on the
 * number of tasks, because each call can be a round trip to a server.
 */
export async function listAllTasks(store: DispatchStore): Promise<ListedTask[]> {
  const tasks = await store.listTasks();
  const listings = Map.groupBy(await listAll(store, {}), ({ taskDir }) => taskDir);
  return tasks.map(({ error: unreadable, ...listing }) => {
    const { envelopes, errors } = readableOf(listings.get(listing.taskDir) ?? []);
    return {
      ...listing,
      envelopes: errors.length === 0 ? envelopes : null,
      errors: unreadable === undefined ? errors : [unreadable, ...errors],
    };
  });
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

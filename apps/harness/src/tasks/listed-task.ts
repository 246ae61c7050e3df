import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { addSpending, nothingSpent, type Spending, spendingOf } from '@hansard/facts';
import type { StoreError, TaskListing } from '@hansard/provider';
import { listAll, readableOf } from './find-dispatch.ts';

/** A task with its dispatches; null if they are unreadable, with the reason in `errors`. */
export interface ListedTask extends Omit<TaskListing, 'error'> {
  readonly envelopes: readonly DispatchEnvelope[] | null;
  /** Those of its dispatches that can be read. */
  readonly readable: readonly DispatchEnvelope[];
  /** The time of the last event of any of its dispatches; null if there is none, or it cannot be read. */
  readonly lastActiveAt: string | null;
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
    const dispatches = listings.get(listing.taskDir) ?? [];
    const { envelopes, errors } = readableOf(dispatches);
    return {
      ...listing,
      lastActiveAt: latestOf(dispatches.flatMap(({ lastActiveAt }) => lastActiveAt ?? [])),
      envelopes: errors.length === 0 ? envelopes : null,
      readable: envelopes,
      errors: unreadable === undefined ? errors : [unreadable, ...errors],
    };
  });
}

function latestOf(times: readonly string[]): string | null {
  return times.reduce<string | null>(
    (latest, time) => (latest === null || time > latest ? time : latest),
    null,
  );
}

/** The name of a task if it says more than its slug, or else the title of the dispatch that began last and has one; '' without any. */
export function titleOf({ taskDir, task, envelopes }: ListedTask): string {
  const name = task?.name ?? '';
  if (name !== '' && !taskDir.endsWith(`/${name}`)) return name;
  return envelopes?.findLast(({ title }) => title !== null)?.title ?? '';
}

const orders = {
  active: (one, other) => compareTexts(other.lastActiveAt ?? '', one.lastActiveAt ?? ''),
  name: () => 0,
  cost: (one, other) => (taskFigures(other).costUsd ?? 0) - (taskFigures(one).costUsd ?? 0),
  dispatches: (one, other) => (other.envelopes?.length ?? 0) - (one.envelopes?.length ?? 0),
} as const satisfies Record<string, (one: ListedTask, other: ListedTask) => number>;

export type TaskOrder = keyof typeof orders;
export const taskOrders = Object.keys(orders) as TaskOrder[];

/** In an order; those that are equal in it by their names. */
export function sortTasks(tasks: readonly ListedTask[], order: TaskOrder): ListedTask[] {
  return tasks.toSorted(
    (one, other) => orders[order](one, other) || compareTexts(one.taskDir, other.taskDir),
  );
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
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

import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { addSpending, dispatchDuration, nothingSpent, type Spending, spendingOf } from '@hansard/facts';
import type { StoreError, TaskListing } from '@hansard/provider';
import { listAll, readableOf } from './resolve-session.ts';

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
      lastActiveAt: latestOf(dispatches.flatMap((one) => ('error' in one ? [] : (one.lastActiveAt ?? [])))),
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
export function taskTitle({ taskDir, task, envelopes }: ListedTask): string {
  const name = task?.name ?? '';
  if (name !== '' && !taskDir.endsWith(`/${name}`)) return name;
  return envelopes?.findLast(({ title }) => title !== null)?.title ?? '';
}

/** How sessions and tasks can be ordered: by their last event, or the largest figure first, or by title. */
export type SessionOrder = 'newest' | 'active' | 'cost' | 'tokens' | 'duration' | 'title';

/** Tasks in an order of people; those that are equal in it by their names. */
export function sortTasks(tasks: readonly ListedTask[], order: SessionOrder): ListedTask[] {
  const figure = (listed: ListedTask): number => {
    if (order === 'cost') return taskFigures(listed).costUsd ?? 0;
    const of = order === 'tokens' ? tokensOf : dispatchDuration;
    return listed.readable.reduce((sum, envelope) => sum + (of(envelope) ?? 0), 0);
  };
  const compare = (one: ListedTask, other: ListedTask): number => {
    if (order === 'title') return compareTexts(taskTitle(one), taskTitle(other));
    if (order === 'newest' || order === 'active')
      return compareTexts(other.lastActiveAt ?? '', one.lastActiveAt ?? '');
    return figure(other) - figure(one);
  };
  return tasks.toSorted((one, other) => compare(one, other) || compareTexts(one.taskDir, other.taskDir));
}

/** All its tokens, also those from a cache; null: not known. */
export function tokensOf({ usage }: DispatchEnvelope): number | null {
  if (usage === null) return null;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

export function compareTexts(one: string, other: string): number {
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

import type { DispatchEntry, DispatchStore, ListedDispatch } from '@hansard/dispatch';
import { dispatchDuration, spendingOf } from '@hansard/facts';
import {
  compareTexts,
  type ListedTask,
  listAllTasks,
  type SessionOrder,
  sortTasks,
  tokensOf,
} from './listed-task.ts';
import { envelopeOf, listingsOf, noSession, resolveScope } from './resolve-session.ts';
import { projectOf, toTaskName } from './task-name.ts';

/** Which sessions or tasks are listed, and in which order. */
export interface ListingChoice {
  /** What one word names: a task, or a session with its workers. Absent: all. */
  readonly word?: string | undefined;
  /** Only of projects whose name contains this text, ignoring case. */
  readonly project?: string | undefined;
  /** Absent: `newest`. */
  readonly sort?: SessionOrder | undefined;
  /** Absent: no limit. */
  readonly limit?: number | undefined;
}

export interface TaskChoice extends ListingChoice {
  /** Only tasks whose record has this status, such as `open` or `done`, ignoring case. */
  readonly status?: string | undefined;
}

export interface ListedSessions {
  readonly sessions: readonly ListedDispatch[];
  /** What was looked at, also what cannot be read. */
  readonly entries: readonly DispatchEntry[];
  /** How many more there are; null: some, which were not counted. */
  readonly more: number | null;
  /** The task that the word names, or the task of the session. Null: all. */
  readonly taskDir: string | null;
}

export interface ListedTasks {
  readonly tasks: readonly ListedTask[];
  /** How many more there are. */
  readonly more: number;
}

const orders = {
  newest: () => 0,
  active: (one, other) => compareTexts(activeAt(other) ?? '', activeAt(one) ?? ''),
  cost: (one, other) => costOf(other) - costOf(one),
  tokens: (one, other) => (tokensOf(other.envelope) ?? 0) - (tokensOf(one.envelope) ?? 0),
  duration: (one, other) => (dispatchDuration(other.envelope) ?? 0) - (dispatchDuration(one.envelope) ?? 0),
  title: (one, other) => compareTexts(sessionTitle(one), sessionTitle(other)),
} as const satisfies Record<SessionOrder, (one: ListedDispatch, other: ListedDispatch) => number>;

export const sessionOrders = Object.keys(orders) as readonly SessionOrder[];

/**
 * Sessions in an order of people. In an order of time, the workers of a session follow it.
 * @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS for the word
 */
export async function listSessions(
  store: DispatchStore,
  { word, project, sort = 'newest', limit = Number.POSITIVE_INFINITY }: ListingChoice = {},
): Promise<ListedSessions> {
  const scope = word === undefined ? null : await resolveScope(store, word);
  const { entries, isMore } =
    scope === null
      ? await newest(store, project, sort === 'newest' ? limit : Number.POSITIVE_INFINITY)
      : { entries: (await listingsOf(store, scope)).toSorted(byStart), isMore: false };
  if (scope !== null && entries.length === 0) throw noSession(scope.taskDir);
  const readable = entries.filter((one): one is ListedDispatch => !('error' in one));
  const sorted = readable.toSorted(orders[sort]);
  const listed = sorted.slice(0, limit);
  return {
    sessions: sort === 'newest' || sort === 'active' ? workersBelow(listed) : listed,
    entries,
    more: isMore ? null : sorted.length - listed.length,
    taskDir: scope?.taskDir ?? null,
  };
}

/** Tasks, as `sortTasks` orders them. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS for the word */
export async function listTasks(
  store: DispatchStore,
  { word, project, status, sort = 'newest', limit = Number.POSITIVE_INFINITY }: TaskChoice = {},
): Promise<ListedTasks> {
  const taskDir = word === undefined ? undefined : (await resolveScope(store, word)).taskDir;
  const wanted = status?.toLowerCase();
  const all = (await listAllTasks(store)).filter(
    (one) =>
      isOfProject(one, project) &&
      (taskDir ?? one.taskDir) === one.taskDir &&
      (wanted === undefined || one.task?.status.toLowerCase() === wanted),
  );
  const tasks = sortTasks(all, sort).slice(0, limit);
  return { tasks, more: all.length - tasks.length };
}

/** The title of a session; without one the role of a worker, otherwise the slug of its task. */
export function sessionTitle({
  taskDir,
  envelope: { title, role, parentDispatchId },
}: ListedDispatch): string {
  if (title !== null) return title;
  return parentDispatchId === null ? (toTaskName(taskDir).split('/').at(-1) ?? '') : role;
}

/** When a session was last active, as far as that is recorded: at its last event, at its end or at its start. Null: none of them is. */
export function activeAt({ lastActiveAt, envelope }: ListedDispatch): string | null {
  const { startedAt, completedAt, source } = envelope;
  const quiet = source?.ifQuiet?.isRecorded === true ? source.ifQuiet.since : null;
  return lastActiveAt ?? completedAt ?? quiet ?? startedAt;
}

/** The newest sessions of projects, and those that cannot be read, if the limit is not reached before. */
async function newest(
  store: DispatchStore,
  project: string | undefined,
  limit: number,
): Promise<{ readonly entries: readonly DispatchEntry[]; readonly isMore: boolean }> {
  const entries: DispatchEntry[] = [];
  const isShort = limit < 1_000 && project === undefined;
  for await (const one of store.dispatches({ order: 'newest', ...(isShort && { limit: limit + 1 }) })) {
    if (!isOfProject(one, project)) continue;
    if (entries.length >= limit) return { entries, isMore: true };
    entries.push(one);
  }
  return { entries, isMore: false };
}

function workersBelow(listed: readonly ListedDispatch[]): ListedDispatch[] {
  const ids = new Set(listed.map(({ envelope }) => envelope.dispatchId));
  const parentOf = ({ envelope: { parentDispatchId } }: ListedDispatch) =>
    parentDispatchId !== null && ids.has(parentDispatchId) ? parentDispatchId : null;
  const byParent = Map.groupBy(listed, parentOf);
  const seen = new Set<ListedDispatch>();
  const withWorkers = (one: ListedDispatch): ListedDispatch[] => {
    if (seen.has(one)) return [];
    seen.add(one);
    return [one, ...(byParent.get(one.envelope.dispatchId) ?? []).flatMap(withWorkers)];
  };
  // A damaged log can make sessions workers of each other: they have no parent that is listed before.
  return [...(byParent.get(null) ?? []), ...listed].flatMap(withWorkers);
}

function byStart(one: DispatchEntry, other: DispatchEntry): number {
  return compareTexts(envelopeOf(other)?.startedAt ?? '', envelopeOf(one)?.startedAt ?? '');
}

/** Whether something is of a project whose name contains a text, ignoring case. */
function isOfProject({ taskDir }: { readonly taskDir: string }, project: string | undefined): boolean {
  return project === undefined || projectOf(taskDir).toLowerCase().includes(project.toLowerCase());
}

function costOf({ envelope }: ListedDispatch): number {
  const { costUsd, estimatedUsd } = spendingOf(envelope);
  return costUsd ?? estimatedUsd ?? 0;
}

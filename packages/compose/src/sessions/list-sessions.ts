import type { DispatchEntry, DispatchStore, ListedDispatch } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import {
  addSpending,
  dispatchDuration,
  nothingSpent,
  projectOf,
  type Spending,
  spendingOf,
} from '@hansard/facts';
import { type StoreError, storeErrors, type TaskListing } from '@hansard/provider';
import { envelopeOf, listAll, listingsOf, noSession, readableOf, resolveScope } from './resolve-session.ts';
import { toTaskName } from './task-name.ts';

/** Which sessions or tasks are listed, and in which order. */
export interface ListingChoice {
  /** What one word names: a task, or a session with its workers. Absent: all. */
  readonly word?: string | undefined;
  /** Only of projects whose name contains this text, ignoring case. */
  readonly project?: string | undefined;
  /** Only of sources on the machine with this name. */
  readonly machine?: string | undefined;
  /** Absent: `newest`. */
  readonly sort?: SessionOrder | undefined;
  /** Absent: no limit. */
  readonly limit?: number | undefined;
}

export interface TaskChoice extends ListingChoice {
  /** Only tasks whose record has this status, such as `open` or `done`, ignoring case. */
  readonly status?: string | undefined;
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
  { word, project, machine, sort = 'newest', limit = Number.POSITIVE_INFINITY }: ListingChoice = {},
): Promise<{
  readonly sessions: readonly ListedDispatch[];
  /** What was looked at, also what cannot be read. */
  readonly entries: readonly DispatchEntry[];
  /** How many more there are; null: some, which were not counted. */
  readonly more: number | null;
  /** The task that the word names, or the task of the session. Null: all. */
  readonly taskDir: string | null;
}> {
  const scope = word === undefined ? null : await resolveScope(store, word);
  const { entries, isMore } =
    scope === null
      ? await newest(
          store,
          project,
          sort === 'newest' && machine === undefined ? limit : Number.POSITIVE_INFINITY,
        )
      : { entries: (await listingsOf(store, scope)).toSorted(byStart), isMore: false };
  if (scope !== null && entries.length === 0) throw noSession(scope.taskDir);
  const readable = entries.filter(
    (one): one is ListedDispatch =>
      !('error' in one) && (machine === undefined || one.envelope.source?.machine === machine),
  );
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
): Promise<{
  readonly tasks: readonly ListedTask[];
  /** How many more there are. */
  readonly more: number;
}> {
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

/** Whether something is of a project whose name, or whose folder among the tasks, contains a text, ignoring case. */
function isOfProject(
  { taskDir, envelope }: { readonly taskDir: string; readonly envelope?: DispatchEnvelope },
  project: string | undefined,
): boolean {
  if (project === undefined) return true;
  const names = [
    toTaskName(taskDir).split('/').slice(0, -1).join('/'),
    envelope === undefined ? '' : projectOf(taskDir, envelope),
  ];
  return names.some((name) => name.toLowerCase().includes(project.toLowerCase()));
}

function costOf({ envelope }: ListedDispatch): number {
  const { costUsd, estimatedUsd } = spendingOf(envelope);
  return costUsd ?? estimatedUsd ?? 0;
}

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
async function listAllTasks(store: DispatchStore): Promise<ListedTask[]> {
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
function sortTasks(tasks: readonly ListedTask[], order: SessionOrder): ListedTask[] {
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
function tokensOf({ usage }: DispatchEnvelope): number | null {
  if (usage === null) return null;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
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
    ...envelopes.map((one) => spendingOf(withoutCopies(one, envelopes))).reduce(addSpending, nothingSpent),
    lastStartedAt: envelopes.at(-1)?.startedAt ?? null,
  };
}

/** An envelope without the copies that an import has found, if their origins are among these. */
function withoutCopies(envelope: DispatchEnvelope, among: readonly DispatchEnvelope[]): DispatchEnvelope {
  const { of = [], figures } = envelope.source?.copies ?? {};
  const ids = new Set(among.map(({ dispatchId }) => dispatchId));
  return figures === undefined || !of.every((one) => ids.has(one)) ? envelope : { ...envelope, ...figures };
}

/** The status of a dispatch in words. */
export type ShownStatus = (envelope: DispatchEnvelope) => string;

const lastSeen = 'running when last seen';

/**
 * The status of dispatches as people read it: one that is `running` without a claim is so only as far as its log shows. A
 * store that cannot say whether a dispatch is claimed shows this for imported ones.
 */
export async function shownStatus(
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
): Promise<ShownStatus> {
  const running = envelopes.filter(({ status }) => status === 'running');
  const areClaimed = running.length === 0 ? [] : await claimed(store, taskDir, running);
  const unclaimed = new Set(running.flatMap(({ dispatchId }, at) => (areClaimed[at] ? [] : dispatchId)));
  return ({ dispatchId, status }) => (unclaimed.has(dispatchId) ? lastSeen : status);
}

/** The same for sessions of any tasks: whether those that run are claimed is asked once for a task. */
export async function shownStatuses(
  store: DispatchStore,
  listings: readonly ListedDispatch[],
): Promise<ShownStatus> {
  const words = new Map<DispatchEnvelope, string>();
  for (const [taskDir, own] of Map.groupBy(listings, (listed) => listed.taskDir)) {
    const envelopes = own.map(({ envelope }) => envelope);
    const statusOf = await shownStatus(store, taskDir, envelopes);
    for (const envelope of envelopes) words.set(envelope, statusOf(envelope));
  }
  return (envelope) => words.get(envelope) ?? envelope.status;
}

/** Whether each dispatch is claimed. */
async function claimed(
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
): Promise<boolean[]> {
  try {
    const claims = await store.findClaims(
      taskDir,
      envelopes.map(({ dispatchId }) => dispatchId),
    );
    return claims.map((claim) => claim !== null && claim.state !== 'expired');
  } catch (error) {
    if (storeErrors.is(error, 'STORE_UNSUPPORTED')) return envelopes.map(({ source }) => source === null);
    throw error;
  }
}

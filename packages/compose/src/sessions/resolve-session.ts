import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DispatchEntry, DispatchLog, DispatchRef, DispatchStore, ReadAccess } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { findNamed } from '@hansard/facts';
import {
  type ListDispatchesOptions,
  type StoreError,
  storeErrors,
  type TaskListing,
} from '@hansard/provider';
import { type HarnessError, harnessErrors, listChoices } from '../harness-errors.ts';
import { toTaskDir, toTaskName } from './task-name.ts';

/** What a word names: a session, or all sessions of a task. */
export interface Scope {
  readonly taskDir: string;
  /** Null: the word names a task. */
  readonly dispatchId: string | null;
  /** The dispatches of the task, oldest first; those that cannot be read follow the others. */
  readonly listings: readonly DispatchEntry[];
}

type NamedListing = DispatchEntry & { readonly dispatchId: string };

const latest = 'latest';

/** In every message about a word that names nothing. */
const howToName =
  'Name a session as PROJECT/SLUG/ID, by the end of its id, by the beginning of its title, or as "latest"; `hansard ls` lists them.';

/**
 * What a word names, tried in this order: `latest`, a task, `TASK/ID`, an id or its end, a part of a task's name, a title or its
 * beginning. The number of calls of the store does not depend on how many sessions it has.
 * @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS if it names nothing, or several things; then it lists the choices
 */
export async function resolveScope(store: DispatchStore, word: string): Promise<Scope> {
  if (word === latest) return latestSession(store);
  const found = word.includes('/') ? await byPath(store, word) : await byName(store, word);
  if (found !== null) return found;
  throw harnessErrors.error('HARNESS_NOT_FOUND', `There is no session or task ${JSON.stringify(word)}.`, {
    advice: howToName,
    details: { isPlace: true },
  });
}

/** The task that a word names, which need not have sessions. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
export async function resolveTask(store: DispatchStore, word: string): Promise<string> {
  if (word.includes('/') || word === latest)
    return word === latest ? (await resolveScope(store, word)).taskDir : taskWithPath(store, word);
  const tasks = await store.listTasks();
  const found = wholeTask(tasks, word) ?? partOfTask(tasks, word);
  if (found !== null) return found;
  throw harnessErrors.error('HARNESS_NOT_FOUND', `There is no task ${JSON.stringify(word)}.`, {
    advice: 'Name it as PROJECT/SLUG, such as research/route-models; `hansard ls --tasks` lists the tasks.',
    details: { isPlace: true },
  });
}

/** A task by its path, which a program can have named without `tasks/`. */
async function taskWithPath(store: DispatchStore, word: string): Promise<string> {
  const taskDir = toTaskDir(word);
  if (taskDir === word) return word;
  const tasks = (await store.listTasks()).map((task) => task.taskDir);
  return !tasks.includes(taskDir) && tasks.includes(word) ? word : taskDir;
}

/** The one session that a word names: of a task, its only one. It can be damaged. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS for a task with several, with the choices */
export async function resolveSession(store: DispatchStore, word: string): Promise<DispatchRef> {
  return onlySession(await resolveScope(store, word), word);
}

/** Whether a word names a log file that exists. */
export function isLogFile(cwd: string, word: string): boolean {
  const path = resolve(cwd, word);
  return /\.jsonl?$/.test(path) && existsSync(path) && !statSync(path).isDirectory();
}

/** Opens the session that a word names, to read it. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
export async function openNamed(
  store: DispatchStore,
  word: string,
  access: ReadAccess = {},
): Promise<{ readonly taskDir: string; readonly log: DispatchLog }> {
  const { taskDir, dispatchId } = await resolveSession(store, word);
  return { taskDir, log: await store.openDispatch(taskDir, dispatchId, access) };
}

/** What a word without a slash means inside a task: its `latest`, or an id there. Any other word means what it means elsewhere. */
export function inTask(taskDir: string, word: string): string {
  return word.includes('/') ? word : `${taskDir}/${word}`;
}

/** The reference of a scope, for calls that take a task or one of its sessions. */
export function partOfStore(scope: Scope | null): {
  readonly taskDir?: string;
  readonly dispatchId?: string;
} {
  if (scope === null) return {};
  const { taskDir, dispatchId } = scope;
  return dispatchId === null ? { taskDir } : { taskDir, dispatchId };
}

/** The newest session, except workers. Sessions that cannot be read follow the others in the order: they are named only if no other is there. */
async function latestSession(store: DispatchStore): Promise<Scope> {
  let worker: NamedListing | null = null;
  for await (const listing of store.dispatches({ order: 'newest' })) {
    if ('error' in listing && worker === null) throw listing.error;
    if ('error' in listing) break;
    if (listing.envelope.parentDispatchId === null) return scopeOf(listing);
    worker ??= listing;
  }
  if (worker !== null) return scopeOf(worker);
  throw harnessErrors.error('HARNESS_NOT_FOUND', 'There is no session yet.', {
    advice: '`hansard demo` records some.',
    details: { isPlace: true },
  });
}

function scopeOf(listing: NamedListing): Scope {
  return { taskDir: listing.taskDir, dispatchId: listing.dispatchId, listings: [listing] };
}

/** `PROJECT/SLUG`, a whole `taskDir`, or one of them, or a slug, before the id of a session. */
async function byPath(store: DispatchStore, word: string): Promise<Scope | null> {
  let refusal: unknown = null;
  const listed = async (name: string) => {
    try {
      const taskDir = toTaskDir(name);
      const listings = await listAll(store, { taskDir });
      if (listings.length > 0 || taskDir === name) return { taskDir, listings };
      // A program can name a task without `tasks/`.
      const asNamed = await listAll(store, { taskDir: name });
      return asNamed.length > 0 ? { taskDir: name, listings: asNamed } : { taskDir, listings };
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_INVALID_PATH') && !harnessErrors.is(error)) throw error;
      refusal ??= error;
      return null;
    }
  };
  const task = await listed(word);
  if (task !== null && task.listings.length > 0) return { ...task, dispatchId: null };
  const cut = word.lastIndexOf('/');
  const [head, id] = [word.slice(0, cut), word.slice(cut + 1)];
  const place = head.includes('/') ? await listed(head) : await bySlug(store, head);
  if (place !== null && place.listings.length > 0 && id !== '') return ofTask(place, id);
  if (task !== null && (await hasRecord(store, task.taskDir))) return { ...task, dispatchId: null };
  const found = byTitle(await listAll(store, {}), word);
  if (found === null && refusal !== null) throw refusal;
  return found;
}

async function hasRecord(store: DispatchStore, taskDir: string): Promise<boolean> {
  return (await store.findTask(taskDir)) !== null;
}

type Place = Pick<Scope, 'taskDir' | 'listings'>;

async function bySlug(store: DispatchStore, word: string): Promise<Place | null> {
  const tasks = await store.listTasks();
  const taskDir = wholeTask(tasks, word);
  return taskDir === null ? null : { taskDir, listings: await listAll(store, { taskDir }) };
}

/** A session of a task by its id there. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
function ofTask(place: Place, id: string): Scope {
  const { taskDir, listings } = place;
  const name = toTaskName(taskDir);
  const [unlisted] = errorsOf(listings.filter(({ dispatchId }) => dispatchId === undefined));
  if (id === latest) {
    const [unread] = errorsOf(listings);
    if (unread !== undefined) throw unread;
    const newest = leadsOf(listings).at(-1) ?? listings.at(-1);
    return { ...place, dispatchId: newest?.dispatchId ?? null };
  }
  const found = byId(listings, id, `sessions of ${name}`);
  if (found !== null) return { ...place, dispatchId: found.dispatchId };
  if (unlisted !== undefined) throw unlisted;
  throw harnessErrors.error('HARNESS_NOT_FOUND', `${name} has no session ${id}.`, {
    advice: `\`hansard ls ${name}\` lists them; the last characters of an id are enough, and so is "${name}/latest".`,
  });
}

async function byName(store: DispatchStore, word: string): Promise<Scope | null> {
  if (word === '') return null;
  const tasks = await store.listTasks();
  const whole = wholeTask(tasks, word);
  const asTask = async (taskDir: string): Promise<Scope> => ({
    taskDir,
    dispatchId: null,
    listings: await listAll(store, { taskDir }),
  });
  if (whole !== null) return asTask(whole);
  const listings = await listAll(store, {});
  const found = byId(listings, word, 'sessions');
  if (found !== null) return scopeOf(found);
  const part = partOfTask(tasks, word);
  return part === null ? byTitle(listings, word) : asTask(part);
}

/** The task with this slug. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS if several have it */
function wholeTask(tasks: readonly TaskListing[], word: string): string | null {
  const fit = tasks.filter(({ taskDir, task }) => {
    const name = toTaskName(taskDir);
    return name === word || name.endsWith(`/${word}`) || task?.slug === word;
  });
  return onlyTask(fit, word);
}

/** The task whose PROJECT/SLUG ends or begins with the word, or whose name begins with it. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS for several */
function partOfTask(tasks: readonly TaskListing[], word: string): string | null {
  const answer = findNamed(tasks, word, ({ taskDir, task }) => ({
    id: toTaskName(taskDir),
    names: [task?.slug ?? null, task?.name ?? null],
  }));
  if (answer.kind === 'unknown') return null;
  return onlyTask(answer.kind === 'found' ? [answer.item] : answer.items, word);
}

function onlyTask(tasks: readonly TaskListing[], word: string): string | null {
  const [first, ...others] = tasks;
  if (first === undefined) return null;
  if (others.length === 0) return first.taskDir;
  const lines = tasks.map(({ taskDir, task }) =>
    [toTaskName(taskDir), task?.name ?? ''].filter(Boolean).join('  '),
  );
  throw harnessErrors.error('HARNESS_AMBIGUOUS', `${word} fits ${tasks.length} tasks:${listChoices(lines)}`, {
    advice: 'Name one as PROJECT/SLUG.',
  });
}

/** The session whose id is the word, ends with it or begins with it. @throws HARNESS_AMBIGUOUS for several */
function byId(listings: readonly DispatchEntry[], word: string, what: string): NamedListing | null {
  const named = listings.filter((listing): listing is NamedListing => listing.dispatchId !== undefined);
  const answer = findNamed(named, word, ({ dispatchId }) => ({ id: dispatchId }));
  if (answer.kind === 'unknown') return null;
  if (answer.kind === 'found') return answer.item;
  throw severalSessions(answer.items, `${word} fits ${answer.items.length} ${what}:`);
}

/** Titles are texts of others: what they name, nothing else may. */
function byTitle(listings: readonly DispatchEntry[], word: string): Scope | null {
  const named = listings.filter((listing): listing is NamedListing => listing.dispatchId !== undefined);
  const lower = word.toLowerCase();
  const titleOf = (listing: NamedListing) => envelopeOf(listing)?.title?.toLowerCase() ?? '';
  const whole = named.filter((listing) => titleOf(listing) === lower);
  const fit = whole.length > 0 ? whole : named.filter((listing) => titleOf(listing).startsWith(lower));
  const [first, ...others] = fit;
  if (first === undefined) return null;
  if (others.length === 0) return scopeOf(first);
  throw severalSessions(fit, `${fit.length} titles begin with ${JSON.stringify(word)}:`);
}

/** The session of a scope. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS for a task without a session, or with several */
export function onlySession({ taskDir, dispatchId, listings }: Scope, word: string): DispatchRef {
  if (dispatchId !== null) return { taskDir, dispatchId };
  const [unlisted] = errorsOf(listings.filter((one) => one.dispatchId === undefined));
  if (unlisted !== undefined) throw unlisted;
  const [first, ...others] = leadsOf(listings);
  if (first === undefined) throw noSession(taskDir);
  if (others.length === 0) return { taskDir, dispatchId: first.dispatchId };
  throw severalSessions([first, ...others], `${word} has ${others.length + 1} sessions:`);
}

/** The dispatches of a task that were not started by another of its dispatches. */
function leadsOf(listings: readonly DispatchEntry[]): NamedListing[] {
  const ids = new Set(listings.map(({ dispatchId }) => dispatchId));
  return listings.filter(
    (listing): listing is NamedListing =>
      listing.dispatchId !== undefined && !ids.has(envelopeOf(listing)?.parentDispatchId ?? ''),
  );
}

function severalSessions(listings: readonly NamedListing[], message: string): HarnessError {
  return harnessErrors.error('HARNESS_AMBIGUOUS', `${message}${listChoices(listings.map(inWords))}`, {
    advice: 'Name one as it stands here, or the newest of a task as PROJECT/SLUG/latest.',
  });
}

function inWords(listing: NamedListing): string {
  const name = `${toTaskName(listing.taskDir)}/${listing.dispatchId}`;
  if ('error' in listing) return `${name}  unreadable`;
  const { role, status, startedAt, title } = listing.envelope;
  return [name, role, status, startedAt, title ?? ''].filter(Boolean).join('  ');
}

export function noSession(taskDir: string): HarnessError {
  return harnessErrors.error('HARNESS_NOT_FOUND', `${toTaskName(taskDir)} has no sessions.`, {
    advice: '`hansard ls` lists the sessions.',
    details: { isPlace: true },
  });
}

export async function listAll(
  store: DispatchStore,
  options: ListDispatchesOptions,
): Promise<readonly DispatchEntry[]> {
  const listings: DispatchEntry[] = [];
  for await (const listing of store.dispatches(options)) listings.push(listing);
  return listings;
}

/** The readable dispatches among these, and the errors of the others. */
export function readableOf(listings: readonly DispatchEntry[]): {
  readonly envelopes: readonly DispatchEnvelope[];
  readonly errors: readonly StoreError[];
} {
  return {
    envelopes: listings.flatMap((listing) => envelopeOf(listing) ?? []),
    errors: errorsOf(listings),
  };
}

/** The envelope of an entry; undefined if it cannot be read. */
export function envelopeOf(entry: DispatchEntry): DispatchEnvelope | undefined {
  return 'error' in entry ? undefined : entry.envelope;
}

function errorsOf(listings: readonly DispatchEntry[]): StoreError[] {
  return listings.flatMap((listing) => ('error' in listing ? listing.error : []));
}

/** The dispatches of a task, oldest first. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS if there are none, or if one is unreadable */
export function allSessions({ taskDir, listings }: Place): readonly DispatchEnvelope[] {
  const { envelopes, errors } = readableOf(listings);
  if (errors[0] !== undefined) throw errors[0];
  if (envelopes.length === 0) throw noSession(taskDir);
  return envelopes;
}

/** The listings of a scope: all of a task, or a session with the workers below it. */
export async function listingsOf(store: DispatchStore, scope: Scope): Promise<readonly DispatchEntry[]> {
  const { taskDir, dispatchId, listings } = scope;
  if (dispatchId === null) return listings;
  const all = listings.length > 1 ? listings : await listAll(store, { taskDir });
  const workers = Map.groupBy(all, (one) => envelopeOf(one)?.parentDispatchId ?? null);
  const found = all.filter((one) => one.dispatchId === dispatchId);
  // The iteration of an array includes the entries that are added during it.
  for (const { dispatchId: id } of found)
    if (id !== undefined) found.push(...(workers.get(id) ?? []).filter((one) => !found.includes(one)));
  return all.filter((one) => found.includes(one));
}

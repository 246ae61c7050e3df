import { toTimestamp } from '@hansard/events';
import { type ListDispatchesOptions, storeErrors, type WatchScope } from '@hansard/provider';

/** @throws TypeError if the number is not whole or is below the minimum */
export function assertCount(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new TypeError(`${name} must be a whole number from ${least}; it is ${String(value)}.`);
}

/** @throws STORE_INVALID_CURSOR if the cursor is neither the position of an event nor -1 */
export function assertCursor(after: number): void {
  if (Number.isSafeInteger(after) && after >= -1) return;
  throw storeErrors.error(
    'STORE_INVALID_CURSOR',
    `A cursor is the position of an event, or -1 for the beginning; it is ${String(after)}.`,
    { details: { after } },
  );
}

/** @throws STORE_INVALID_CURSOR, TypeError for a `pageSize` that is not a whole number from 1 */
export function checkFollow({ after, pageSize }: FollowLimits): void {
  const cursors = typeof after === 'object' ? Object.values(after) : after === undefined ? [] : [after];
  for (const cursor of cursors) assertCursor(cursor);
  if (pageSize !== undefined) assertCount('pageSize', pageSize, 1);
}

interface FollowLimits {
  readonly after?: number | Readonly<Record<string, number>>;
  readonly pageSize?: number;
}

/** @throws TypeError for a dispatch without its task */
export function assertScope({ taskDir, dispatchId }: WatchScope): void {
  if (dispatchId === undefined || taskDir !== undefined) return;
  throw new TypeError(`The dispatch ${dispatchId} needs its taskDir, because ids are unique in a task only.`);
}

/** The options with `startedSince` in the form of the stored times. @throws TypeError */
export function checkListing(options: ListDispatchesOptions): ListDispatchesOptions {
  const { limit, startedSince } = options;
  if (limit !== undefined) assertCount('limit', limit, 1);
  if (startedSince === undefined) return options;
  const since = Date.parse(startedSince);
  if (Number.isNaN(since))
    throw new TypeError(`startedSince must be a time such as 2026-03-01T09:00:00Z; it is ${startedSince}.`);
  return { ...options, startedSince: toTimestamp(since) };
}

/** Below it are the letters of each dispatch, in a task of its own. */
export const inboxes = '_hansard/inbox/';

/**
 * Its dispatches have no events, and the ids of deleted imports. An import skips such an id until its dispatch here is deleted, too.
 */
export const excludedTask = '_hansard/excluded';

/** Its dispatches have no events: the watchers of a store, and the words that name what no watcher imports. */
export const watchTask = '_hansard/watch';

/**
 * Its dispatches have the saved filters of people, one dispatch for each reader. Below it is a task for each project: a dispatch for each reader,
 * with the marks on the sessions of the project.
 */
export const notesTask = '_hansard/notes';

export const isNotesTask = (taskDir: string): boolean =>
  taskDir === notesTask || taskDir.startsWith(`${notesTask}/`);

export const isInbox = (taskDir: string): boolean => taskDir.startsWith(inboxes);

/** @throws STORE_INVALID_PATH for a task that has letters: no program writes to them */
export function assertNotInbox(taskDir: string): void {
  if (typeof taskDir !== 'string' || !isInbox(taskDir)) return;
  throw storeErrors.error(
    'STORE_INVALID_PATH',
    `${JSON.stringify(taskDir)} has the letters to a dispatch, which are never changed as dispatches. Name the dispatch.`,
    { details: { taskDir } },
  );
}

import {
  type DispatchEnvelope,
  eventErrors,
  parseEnvelope,
  parseTaskRecord,
  type TaskRecord,
} from '@hansard/events';
import { type DispatchListing, type StoreError, storeErrors } from '@hansard/provider';
import { wordOf } from './lease.ts';

// The errors by which every store refuses the same requests, with the details that `storeErrors` lists for each code.

/** For `createDispatch` with an id that the task already has: STORE_DISPATCH_EXISTS. */
export function dispatchExists(taskDir: string, dispatchId: string, cause?: unknown): StoreError {
  return storeErrors.error(
    'STORE_DISPATCH_EXISTS',
    `Task ${taskDir} already has a dispatch ${dispatchId}. Create the new one with its own id.`,
    { details: { taskDir, dispatchId }, cause },
  );
}

/** For every use of a missing dispatch: STORE_DISPATCH_NOT_FOUND. */
export function dispatchNotFound(taskDir: string, dispatchId: string): StoreError {
  return storeErrors.error(
    'STORE_DISPATCH_NOT_FOUND',
    `Task ${taskDir} has no dispatch ${dispatchId}. Check the id, or create the dispatch first.`,
    { details: { taskDir, dispatchId } },
  );
}

/**
 * For a write to a dispatch that this opening has not claimed: STORE_LOCKED. If another opening has claimed it, `refusal` is
 * the error that names the owner.
 */
export function dispatchNotClaimed(
  taskDir: string,
  dispatchId: string,
  refusal: StoreError | null = null,
): StoreError {
  const message = `This opening of the store has not claimed dispatch ${dispatchId} of ${taskDir}. Claim it before you write to it.`;
  return storeErrors.error('STORE_LOCKED', refusal === null ? message : `${message} ${refusal.message}`, {
    details: { taskDir, dispatchId, ...refusal?.details },
  });
}

/** For an append of other content under a stored id: STORE_EVENT_CONFLICT. */
export function eventConflict(eventId: string): StoreError {
  return storeErrors.error(
    'STORE_EVENT_CONFLICT',
    `The dispatch already has an event ${eventId} with other content. Events never change: append the new content under a new id.`,
    { details: { eventId } },
  );
}

/** For `readEvents` after a position that does not exist: STORE_INVALID_CURSOR. */
export function cursorAfterEnd(after: number, count: number): StoreError {
  return storeErrors.error(
    'STORE_INVALID_CURSOR',
    `There is no event at position ${after}, because the dispatch has ${count} events. Continue after the \`next\` of an earlier page.`,
    { details: { after, count } },
  );
}

/** A log that was written under another name than that of its place. */
interface MisplacedLog {
  readonly taskDir: string;
  /** Null: it is a task whose folder has another name. */
  readonly dispatchId: string | null;
  readonly writtenTaskDir: string;
  readonly writtenDispatchId: string | null;
}

/** For a log whose own name is not that of its place: STORE_MISPLACED. `place` is its file or table in words. */
export function dispatchMisplaced(log: MisplacedLog, place: string): StoreError {
  const { taskDir, dispatchId, writtenTaskDir, writtenDispatchId } = log;
  const isTask = dispatchId === null;
  const written = isTask ? `task ${writtenTaskDir}` : `dispatch ${writtenDispatchId} of ${writtenTaskDir}`;
  const here = isTask ? `task ${taskDir}` : `dispatch ${dispatchId} of ${taskDir}`;
  const what = isTask ? `The logs in ${place} were` : `${place} was`;
  const rename = isTask ? 'Rename the task' : 'Rename it';
  const command = `hansard store adopt ${wordOf(taskDir)}${isTask ? '' : `/${dispatchId}`}`;
  const dispatches = isTask ? {} : { dispatchId, writtenDispatchId };
  return storeErrors.error(
    'STORE_MISPLACED',
    `${what} written as ${written}. ${rename} back, or keep it as ${here} with \`${command}\`.`,
    { details: { taskDir, writtenTaskDir, ...dispatches, file: place } },
  );
}

/** How a table names a log inside its row: its task and its id. */
export function writtenName(taskDir: string, dispatchId: string): string {
  return `${taskDir}/${dispatchId}`;
}

/** As {@link dispatchMisplaced}, for a row with a {@link writtenName}. `place` is the row in words. */
export function misplacedAs(
  writtenAs: string,
  { taskDir, dispatchId }: { readonly taskDir: string; readonly dispatchId: string },
  place: string,
): StoreError {
  const at = writtenAs.lastIndexOf('/');
  const written = { writtenTaskDir: writtenAs.slice(0, at), writtenDispatchId: writtenAs.slice(at + 1) };
  return dispatchMisplaced({ taskDir, dispatchId, ...written }, place);
}

type ListedName = Pick<DispatchListing, 'taskDir' | 'dispatchId' | 'error'>;

/** The dispatches of a task, with one entry in place of all that were written as another task. `place` keeps the task, in words. */
export function withRenamedTasks<One extends ListedName>(
  listed: readonly One[],
  place: string,
): (One | { taskDir: string; dispatchId: null; envelope: null; error: StoreError })[] {
  const others = Map.groupBy(listed, otherTaskOf);
  others.delete(null);
  const renamed = [...others].filter(([, { length }]) => length > 1);
  if (renamed.length === 0) return [...listed];
  const isOfThem = (one: One) => renamed.some(([, ofTask]) => ofTask.includes(one));
  const entries = renamed.map(([writtenTaskDir, [{ taskDir } = { taskDir: '' }]]) => {
    const log = { taskDir, dispatchId: null, writtenTaskDir: writtenTaskDir ?? '', writtenDispatchId: null };
    return { taskDir, dispatchId: null, envelope: null, error: dispatchMisplaced(log, place) };
  });
  return [...listed.filter((one) => !isOfThem(one)), ...entries];
}

/** The task in which a dispatch was written that has the right id in the wrong task; null for any other. */
function otherTaskOf({ dispatchId, error }: ListedName): string | null {
  if (error === undefined || !storeErrors.is(error, 'STORE_MISPLACED')) return null;
  const { writtenTaskDir, writtenDispatchId } = error.details as Record<string, unknown>;
  return writtenDispatchId === dispatchId && typeof writtenTaskDir === 'string' ? writtenTaskDir : null;
}

/** For every call after `close`: STORE_CLOSED. `name` identifies the store, such as its path. */
export function storeClosed(name: string): StoreError {
  return storeErrors.error('STORE_CLOSED', `The store ${name} is closed. Open it again.`, {
    details: { store: name },
  });
}

/**
 * Checks an envelope that a store has read whole. A newer version can have written one with a status or a field that this version does not
 * know: only that dispatch cannot be read then.
 * @throws STORE_NEWER naming `place`
 */
export function knownEnvelope(
  value: unknown,
  place: string,
  details: Readonly<Record<string, unknown>>,
): DispatchEnvelope {
  return known(parseEnvelope, value, place, details);
}

/** As {@link knownEnvelope}, for the record of a task. @throws STORE_NEWER naming `place` */
export function knownTask(
  value: unknown,
  place: string,
  details: Readonly<Record<string, unknown>>,
): TaskRecord {
  return known(parseTaskRecord, value, place, details);
}

function known<T>(
  parse: (value: unknown) => T,
  value: unknown,
  place: string,
  details: Readonly<Record<string, unknown>>,
): T {
  try {
    return parse(value);
  } catch (cause) {
    if (!eventErrors.is(cause)) throw cause;
    throw writtenByNewer(place, cause.message.replace(/[^.]$/, '$&.'), details, cause);
  }
}

/** The error of a whole record that this version cannot read. `reason` is one or more sentences. */
export function writtenByNewer(
  place: string,
  reason: string,
  details: Readonly<Record<string, unknown>>,
  cause?: unknown,
): StoreError {
  const message = `${place} was written by a newer version of Hansard, or by another program. ${reason} Update Hansard.`;
  return storeErrors.error('STORE_NEWER', message, { details, cause });
}

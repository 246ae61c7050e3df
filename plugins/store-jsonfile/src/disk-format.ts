import { join } from 'node:path';

/**
 * The disk format, version 1. The `schemaVersion` of the envelope is the only version number in the files.
 *
 * NAMES, below the root of the store. `TASK` is a `taskDir`, `ID` a dispatch id, `TOKEN` the token of a lease,
 * `N` a number:
 *
 *     .writers/TOKEN.json            a heartbeat of one opening of the store that has claimed something
 *     TASK/task.json                 the record of the task, and an index of its dispatches
 *     TASK/.task.lock.1              the lock of task.json, while it is written
 *     TASK/.task.tmp                 the next content of task.json
 *     TASK/dispatches/ID.json        a dispatch
 *     TASK/dispatches/ID.lock.N      its lock, while it is claimed; N is the number of the claim
 *     TASK/dispatches/.ID.N.tmp      a new dispatch, or a copy of it; only the owner of the lock N writes it
 *
 * The parts of a `taskDir` are names of folders, and an id is the name of a file. Nothing is encoded, because
 * `assertTaskDir` and `assertDispatchId` accept only names that all common file systems take. No part of a `taskDir` may be
 * `dispatches` or `task.json`, in upper or lower case.
 *
 * A DISPATCH is one JSON object in UTF-8. A space is shown as `·`:
 *
 *     {"dispatchId":"ID",…,"eventBytes":N······,     the head line: the envelope, padded with spaces to its slot
 *     "events":[
 *     {"id":"1",…},                                  one event per line, as `encodeEvent` writes it
 *     ·{"id":"2",…},                                 a space: more lines of the same batch follow
 *     {"id":"3",…}                                   the last line of the batch
 *     ]}                                             the closing brackets
 *
 * 1. The head line, with its line end, fills a slot of 2,048 or 4,096 bytes, so an envelope that fits its slot is changed
 *    in place. One that outgrows 4,096 bytes has a slot of exactly its own length. A slot of more than one page is never
 *    changed in place, because a kill could leave half of each; the file is then copied with a new head, and the copy is renamed.
 * 2. `eventBytes` is not part of the envelope. It is the number of bytes from the bracket that opens the events to the end of
 *    the last event. It is written when the dispatch ends, when it is released and when the store closes. A file whose events
 *    end earlier is damaged; later appends may only make it longer.
 *    `epoch` is not part of the envelope, either. It is the number of the last claim; it is written at the latest when that
 *    claim is released. Absent: 0.
 * 3. Lines are separated by a comma and a line feed. An append is one write from the end of the last event: a separator, the
 *    new lines and the closing brackets, over the old brackets. A line that begins with a space counts only if the rest of
 *    its batch follows.
 * 4. The closing brackets are `\n]}\n` if each id is greater than all before it, and `\n] }\n` otherwise. So opening a file
 *    with growing ids reads one event to know the greatest id.
 * 5. A torn tail, left by a kill in the middle of an append, ends with neither form. Going back from the end, an incomplete
 *    last line, remains of the brackets and lines of an unfinished batch do not count; the first complete line before them is
 *    the last event. Any other line that is not an event is damage. A reader beside a writer reads the end again until it
 *    does not change. The next claim cuts the file after the last event and restores the brackets.
 *
 * TASK.JSON is an object of the fields of the record, then `dispatches`: one line per dispatch with some fields of its
 * envelope, ordered by start. The index is derived. It is for people, and no answer of the store comes from it.
 *
 * A LOCK is a hard link to a heartbeat of its owner in `.writers`: one line of JSON with the process, `leaseMs` and the token.
 * The owner changes the time of the heartbeat in each third of `leaseMs`, and with it the time of all its locks. The lock with
 * the greatest number counts. A lock without a number, of an earlier version, counts as the first. See `WriterLocks`.
 */
export const diskFormatVersion = 1;

/** Names and suffixes of files and folders. */
export const names = {
  writers: '.writers',
  heartbeat: '.json',
  dispatches: 'dispatches',
  task: 'task.json',
  taskLock: '.task.lock',
  taskTemporary: '.task.tmp',
  dispatch: '.json',
  lock: '.lock',
  temporary: '.tmp',
} as const;

/** The sizes of a slot that is changed in place. The larger one is a page. */
export const slots = [2_048, 4_096] as const;
/** The line after the head line. */
export const eventsLine = '"events":[';
/** Between two lines of events. */
export const lineSeparator = ',\n';
/** Before the first line of events. */
export const firstSeparator = '\n';
/** Before every line of a batch but the last. */
export const batchMark = ' ';
/** The closing brackets, by the order of the ids. */
export const closings = { growing: '\n]}\n', mixed: '\n] }\n' } as const;
export type IdOrder = keyof typeof closings;

/** The places of one dispatch. */
export interface DispatchPaths {
  readonly file: string;
  readonly lock: string;
  /** For a new file that the owner of the lock with this number writes. Only that owner creates it. */
  readonly temporary: (epoch: number) => string;
  readonly folder: string;
  readonly task: string;
}

export function dispatchPaths(taskFolder: string, dispatchId: string): DispatchPaths {
  const folder = join(taskFolder, names.dispatches);
  return {
    task: taskFolder,
    folder,
    file: join(folder, dispatchId + names.dispatch),
    lock: join(folder, dispatchId + names.lock),
    temporary: (epoch) => join(folder, `.${dispatchId}.${epoch}${names.temporary}`),
  };
}

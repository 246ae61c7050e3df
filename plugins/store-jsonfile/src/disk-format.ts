import { join } from 'node:path';

/**
 * The disk format, version 1. Its number is at the beginning of each dispatch file, and of no other file.
 *
 * NAMES, below the root of the store. `TASK` is a `taskDir`, `ID` a dispatch id, `TOKEN` the token of a lease,
 * `N` a number:
 *
 *     .writers/TOKEN.json            a heartbeat of one opening of the store that has claimed something
 *     TASK/task.json                 the record of the task, and an index of its dispatches
 *     TASK/.task.lock.1              the lock of task.json, while it is written
 *     TASK/.task.tmp                 the next content of task.json
 *     TASK/.listing                  what listings have read of the dispatches
 *     TASK/.listing.tmp              its next content
 *     TASK/dispatches/ID.json        a dispatch
 *     TASK/dispatches/ID.lock.N      its lock, while it is claimed; N is the number of the claim
 *     TASK/dispatches/.ID.N.tmp      a new dispatch, or a copy of it; only the owner of the lock N writes it
 *     TASK/dispatches/.ID.N.TOKEN.gone/  a dispatch that is being deleted; only the owner of the lock N makes the folder
 *     TASK/dispatches/ID.json.damaged-N  the file as it was before its loss was accepted for the Nth time
 *
 * The parts of a `taskDir` are names of folders, and an id is the name of a file. Nothing is encoded, because
 * `assertTaskDir` and `assertDispatchId` accept only names that all common file systems take. No part of a `taskDir` may be
 * `dispatches` or `task.json`, in upper or lower case.
 *
 * A DISPATCH is one JSON object in UTF-8. A space is shown as `·`:
 *
 *     {"format":1,"task":"TASK","id":"ID",…,"crc":"5d6e0c1a"·············,      the head, padded with spaces to its slot
 *     "copy":{"format":1,"task":"TASK","id":"ID",…,"crc":"5d6e0c1a"}·····,  the copy of the head, of the same size
 *     "events":[
 *     {"id":"1",…,"crc":"0b2f91c4"},        one event per line, as `encodeEvent` writes it, and a checksum
 *     ·{"id":"2",…,"crc":"97aa03de"},       a space: more lines of the same batch follow
 *     {"id":"3",…,"crc":"c3f0b6a8"}         the last line of the batch
 *     ]}                                    the closing brackets
 *
 * 1. CHECKSUMS are CRC-32, as eight hexadecimal digits. That of an event is the checksum of the name (`task`, a line feed, `id`) and of every
 *    byte from the bracket that opens the events to these digits, the earlier events included. So each begins with the one before it, a change
 *    of any byte shows at the next digits, and an event that is missing, doubled, moved or of another dispatch shows at the event after it.
 *    The checksum of a head is that of its bytes from `"format"` to before `,"crc"`.
 * 2. THE HEAD has `format`, `task` and `id` (the name under which the log was written: in a file of any other name it is STORE_MISPLACED), `revision` (greater at each write), `epoch` (the number of the last claim), `acknowledged` and `envelope`.
 *    It is stored twice, in two slots of equal size: 2,048 bytes, or twice or four times as much, and so on, as much as it needs. Of two
 *    whole heads the one with the greater revision counts. A write never touches the slot that counts before the other one is written; so
 *    a torn write leaves the earlier head, and damage of one slot loses nothing. A write of the envelope goes to both slots. Only an
 *    envelope that outgrows its slot makes a copy of the file, which is renamed over it.
 * 3. `acknowledged` is a lower limit: `bytes` from the bracket that opens the events to the end of an acknowledged event,
 *    the number of `events` up to there, and the `crc` of the last one. A file that does not have this event at this place is damaged. It
 *    is at most 256 events or one second old while the dispatch is written, and exact after an end and after a release.
 * 4. LINES are separated by a comma and a line feed. An append is one write from the end of the last event: a separator, the
 *    new lines and the closing brackets, over the old brackets. A line that begins with a space counts only if the rest of
 *    its batch follows.
 * 5. THE CLOSING BRACKETS are `\n]}\n` if each id is greater than all before it, and `\n] }\n` otherwise. So opening a file
 *    with growing ids reads one event to know the greatest id. Ids that are digests (`isDigest`) do not count here: they have no order.
 * 6. A TORN TAIL, left by a kill or a loss of power in the middle of an append, is after the acknowledged events. Either no whole event
 *    follows it and it does not end with the closing brackets; or a sector of it (512 bytes) was not written: it still has the old closing
 *    brackets, or the zeros that a file system leaves where bytes were never written.
 *    It does not count, and neither does an unfinished batch. Anything else that is not whole is damage. A reader beside a writer reads
 *    the end again until it does not change. The next claim cuts the file after the last event and restores the brackets.
 *
 * A file of a greater format is refused with its number. `test/integrity/upgrade-step.ts` is the template for a step from an earlier format.
 *
 * TASK.JSON is an object of the fields of the record, then `dispatches`: one line per dispatch with some fields of its
 * envelope, ordered by start. The index is derived. It is for people, and no answer of the store comes from it. It is written at most
 * once a second, and when the store closes.
 *
 * .LISTING has a line with its format, the task and the checksum of the rest. Then comes a line for each dispatch that a listing has read: its id, the
 * inode, size and change time of its file, `startedAt`, `status`, and the time of its last event if that was read. An entry counts only
 * for a file with these facts. The file holds no content, and every listing answers the same without it.
 *
 * A LOCK is a hard link to a heartbeat of its owner in `.writers`: one line of JSON with the process, `leaseMs` and the token.
 * The owner changes the time of the heartbeat in each third of `leaseMs`, and with it the time of all its locks. The lock with
 * the greatest number counts. See `WriterLocks`.
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
  listing: '.listing',
  listingTemporary: '.listing.tmp',
  dispatch: '.json',
  lock: '.lock',
  temporary: '.tmp',
  gone: '.gone',
  damaged: '.damaged-',
} as const;

/** The size of the smallest slot of a head; every other one is twice as large as the one before it. */
export const smallestSlot = 2_048;
/** Before a head in the second slot. */
export const copyKey = '"copy":';
/** The line after the heads. */
export const eventsLine = '"events":[';
/** Between two lines of events, and at the end of a slot. */
export const lineSeparator = ',\n';
/** Before the first line of events. */
export const firstSeparator = '\n';
/** Before every line of a batch but the last. */
export const batchMark = ' ';
/** Between an event, or a head, and its checksum. */
export const checksumKey = ',"crc":"';
/** After a checksum. */
export const checksumEnd = '"}';
/** The closing brackets, by the order of the ids. */
export const closings = { growing: '\n]}\n', mixed: '\n] }\n' } as const;
export type IdOrder = keyof typeof closings;

/** No digest is shorter. */
export const digestLength = 64;

/** Whether an id is the digest of its event, such as that of stored content or of a stored request. */
export function isDigest(id: string): boolean {
  return id.length >= digestLength && /^(?:sha256:)?[0-9a-f]{64}$/.test(id);
}

/** The limits of the age of `acknowledged` while a dispatch is written. */
export const acknowledgedAge = { events: 256, ms: 1_000 } as const;

/** The places of one dispatch. */
export interface DispatchPaths {
  readonly file: string;
  readonly lock: string;
  /** For a new file that the owner of the lock with this number writes. Only that owner creates it. */
  readonly temporary: (epoch: number) => string;
  /** The folder into which the owner of the lock with this number, and this lease, moves what it deletes. */
  readonly gone: (epoch: number, token: string) => string;
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
    gone: (epoch, token) => join(folder, `.${dispatchId}.${epoch}.${token}${names.gone}`),
  };
}

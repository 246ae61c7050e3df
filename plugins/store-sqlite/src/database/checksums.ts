import { crc32 } from 'node:zlib';

/*
 * The checksums of stored rows: CRC-32 (that of zlib) of UTF-8. They detect accidents, not malice.
 */

/** A damaged row can have a value of any type. Anything but a string gives -1, which never is the checksum of a text. */
function checksumOf(text: string, start: number): number {
  return typeof text === 'string' ? crc32(text, start) : -1;
}

/** The value from which the checksum of the first event of a dispatch starts, so that a row of another dispatch is out of place. */
export function chainStart(taskDir: string, dispatchId: string): number {
  return crc32(`${taskDir}\n${dispatchId}`);
}

/**
 * The checksum of an event: it starts from the checksum of the event before it, so that a missing, doubled or moved row shows.
 * `batch` is the number of events that follow it in its batch.
 */
export function eventChecksum(previous: number, batch: number, line: string): number {
  return checksumOf(line, (previous ^ batch) >>> 0);
}

export interface CheckedDispatch {
  readonly number: number;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly epoch: number;
  readonly hasEventIds: number;
  readonly envelope: string;
}

export function dispatchChecksum(row: CheckedDispatch): number {
  const { number, epoch, hasEventIds, taskDir, dispatchId } = row;
  return checksumOf(row.envelope, crc32(`${number} ${epoch} ${hasEventIds}\n${taskDir}\n${dispatchId}\n`));
}

export interface CheckedTask {
  readonly taskDir: string;
  /** The record of the task as JSON; null if it has none. */
  readonly task: string | null;
  /** The number of its dispatches, and the digest of their ids. */
  readonly dispatches: number;
  readonly digest: number;
}

export function taskChecksum({ taskDir, task, dispatches, digest }: CheckedTask): number {
  return checksumOf(task ?? '', crc32(`${dispatches} ${digest} ${task === null}\n${taskDir}\n`));
}

export interface CheckedHead {
  readonly databaseId: string;
  /** The number of rows in `tasks`, and the digest of their names. */
  readonly tasks: number;
  readonly digest: number;
}

export function headChecksum({ databaseId, tasks, digest }: CheckedHead): number {
  return crc32(`${databaseId} ${tasks} ${digest}`);
}

/** Adds a name to the digest of a set of names, or removes it. */
export function toggleName(digest: number, name: string): number {
  // A damaged name can have any type.
  return (digest ^ crc32(String(name))) >>> 0;
}

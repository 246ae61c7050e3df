import { crc32 } from 'node:zlib';
import { type CapturedEvent, findNotJson } from '@hansard/events';
import { corrupt } from '../sqlite-errors.ts';

/** No shorter text nests deeper than an event may. */
const shortestTooDeep = 2_000;

/** Parses stored JSON; `what` names it in the error. @throws STORE_CORRUPT */
export function decodeJson<T>(
  text: string,
  what: string,
  file: string,
  details: Record<string, unknown> = {},
): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw corrupt(file, `${what} is not JSON`, { cause, details });
  }
}

/** The event of a stored line; null if the line is not one, or nests deeper than any reader can follow. */
export function decodeEvent(line: unknown): CapturedEvent | null {
  if (typeof line !== 'string') return null;
  try {
    const value = JSON.parse(line) as Partial<CapturedEvent> | null;
    if (typeof value?.id !== 'string' || typeof value.type !== 'string') return null;
    const isReadable = line.length < shortestTooDeep || findNotJson(value) === null;
    return isReadable ? (value as CapturedEvent) : null;
  } catch {
    return null;
  }
}

/*
 * The checksums of stored rows: CRC-32 (that of zlib) of UTF-8. They detect accidents, not malice.
 */

/** A damaged row can have a value of any type. Anything but a string gives -1, which never is the checksum of a text. */
function checksumOf(text: string, start: number): number {
  return typeof text === 'string' ? crc32(text, start) : -1;
}

/**
 * The checksum of an event: it starts from the checksum of the event before it, so that a missing, doubled or moved row shows.
 * `batch` is the number of events that follow it in its batch.
 */
export function eventChecksum(previous: number, batch: number, line: string): number {
  return checksumOf(line, (previous ^ batch) >>> 0);
}

interface CheckedDispatch {
  readonly number: number;
  readonly writtenAs: string;
  readonly epoch: number;
  readonly hasEventIds: number;
  readonly envelope: string;
}

export function dispatchChecksum(row: CheckedDispatch): number {
  const { number, epoch, hasEventIds, writtenAs } = row;
  return checksumOf(row.envelope, crc32(`${number} ${epoch} ${hasEventIds}\n${writtenAs}\n`));
}

interface CheckedTask {
  readonly writtenAs: string;
  /** The record of the task as JSON; null if it has none. */
  readonly task: string | null;
  /** The number of its dispatches, and the digest of their ids. */
  readonly dispatches: number;
  readonly digest: number;
}

export function taskChecksum({ writtenAs, task, dispatches, digest }: CheckedTask): number {
  return checksumOf(task ?? '', crc32(`${dispatches} ${digest} ${task === null}\n${writtenAs}\n`));
}

interface CheckedHead {
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

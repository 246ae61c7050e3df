import { checksumLength, readChecksum } from '@hansard/store-kit';
import { checksumEnd, closings, firstSeparator, type IdOrder, lineSeparator } from '../disk-format.ts';
import type { DispatchHead } from '../head/dispatch-head.ts';
import { hasText } from '../lines/event-line.ts';
import { damagedLine, eventsMissing, inspectLines } from '../lines/inspect-lines.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { checksumTail } from '../lines/scan-lines.ts';

const mostAttempts = 1_000;
/** A run of zeros that no damage of single bytes makes. */
const hole = Buffer.alloc(8);
/** No disk writes less than this as a whole. */
const sectorBytes = 512;

/** What follows the acknowledged events. */
interface Rest {
  readonly tail: FileTail;
  /** The offset of the first line that is damaged and not torn; null without one. */
  readonly damagedAt: number | null;
}

/**
 * Finds the end of the events (see disk-format.ts, section 6).
 * @throws STORE_CORRUPT for damage after the acknowledged events, and if an acknowledged one is not at its place
 */
export function findTail(file: OpenFile, head: DispatchHead): FileTail {
  assertAcknowledged(file, head);
  let ending = readEnding(file);
  for (let attempt = 1; ; attempt += 1) {
    const { tail, damagedAt } = readRest(file, head, ending);
    if (tail.idOrder !== null && damagedAt === null) return tail;
    // A writer may be writing. An end that does not change is torn or damaged.
    const next = readEnding(file);
    if ((next.size === ending.size && next.text === ending.text) || attempt === mostAttempts) {
      if (damagedAt === null) return tail;
      throw damagedLine(
        { file, start: head.start, seed: head.seed },
        damagedAt,
        'this line is not the one that was written here',
      );
    }
    ending = next;
  }
}

function assertAcknowledged(file: OpenFile, { record, start, seed }: DispatchHead): void {
  const { bytes, events, crc } = record.acknowledged;
  if (events === 0) return;
  const end = start + bytes;
  const last = file.read(end - checksumTail, end);
  const checked = { file, start, seed };
  if (last.length < checksumTail) throw eventsMissing(checked, file.stats().size, end);
  if (readChecksum(last, 0) !== crc || !hasText(last, checksumLength, checksumEnd))
    throw damagedLine(checked, end - checksumTail, 'the last acknowledged event does not end here');
}

function readRest(file: OpenFile, { record, start, seed }: DispatchHead, ending: FileEnding): Rest {
  const { bytes, events, crc } = record.acknowledged;
  const complete = completeEnd(ending, start);
  const { size } = ending;
  let end = start + bytes;
  let count = events;
  let last = crc;
  if (events > 0 && isOldSeparator(file, end, size))
    return { tail: { end, size, count, crc, idOrder: null }, damagedAt: null };
  let unfinished: { readonly offset: number; count: number; crc: number } | null = null;
  const found: { damagedAt: number | null; isFollowed: boolean } = { damagedAt: null, isFollowed: false };
  const from = end + (events === 0 ? firstSeparator.length : lineSeparator.length);
  const to = complete?.end ?? size;
  inspectLines(
    { file, from, crc: events === 0 ? null : crc, seed, to },
    {
      onEvent(event) {
        if (found.damagedAt !== null) {
          found.isFollowed = true;
          return;
        }
        const batch = { offset: unfinished?.offset ?? event.offset, count: (unfinished?.count ?? 0) + 1 };
        unfinished = { ...batch, crc: event.crc };
        if (event.continues) return;
        end = event.endOffset;
        count += unfinished.count;
        last = event.crc;
        unfinished = null;
      },
      onDamage(damage) {
        found.damagedAt ??= damage.offset;
      },
    },
  );
  const { damagedAt, isFollowed } = found;
  const tail = { end, size, count, crc: last };
  const isComplete = complete !== null && complete.end === end;
  if (isComplete && damagedAt === null) return { tail: { ...tail, idOrder: complete.idOrder }, damagedAt };
  const isTorn = (complete === null && !isFollowed) || isPartOfAppend(file, end, size);
  return { tail: { ...tail, idOrder: null }, damagedAt: isTorn ? null : (damagedAt ?? end) };
}

/**
 * Whether a loss of power left an append in part: zeros where bytes were never written, the old closing brackets with other bytes after
 * them, or a sector that is as it was before. Damage of a few bits makes none of these, because an event has no zeros.
 */
function isPartOfAppend(file: OpenFile, end: number, size: number): boolean {
  const rest = file.read(end, size);
  return (
    rest.includes(hole) || hasOldBytes(rest, end, closings.growing) || hasOldBytes(rest, end, closings.mixed)
  );
}

/** The same for a sector with nothing of the append but bytes of its separator, after which the inspection begins. */
function isOldSeparator(file: OpenFile, end: number, size: number): boolean {
  const length = sectorBytes - (end % sectorBytes);
  if (length > lineSeparator.length || size <= end + closings.mixed.length) return false;
  return hasText(file.read(end, end + length), 0, closings.growing.slice(0, length));
}

function hasOldBytes(rest: Buffer, end: number, closing: string): boolean {
  if (rest.length > closing.length && hasText(rest, 0, closing)) return true;
  const old = Buffer.alloc(rest.length);
  old.write(closing, 'latin1');
  for (let at = 0; at < rest.length; ) {
    const next = at + sectorBytes - ((end + at) % sectorBytes);
    if (rest.subarray(at, next).equals(old.subarray(at, next))) return true;
    at = next;
  }
  return false;
}

const longestClosing = closings.mixed.length;

/** The end of the events of a dispatch file. */
export interface FileTail {
  /** The offset after the last event that counts. */
  readonly end: number;
  readonly size: number;
  /** Null if the closing brackets are incomplete: a write is in progress, or the tail is torn. */
  readonly idOrder: IdOrder | null;
  /** The number of events, and the checksum of the last one. */
  readonly count: number;
  readonly crc: number;
}

/** The last bytes of a file. */
interface FileEnding {
  readonly size: number;
  readonly text: string;
}

export function readEnding(file: OpenFile): FileEnding {
  const { size } = file.stats();
  return { size, text: file.read(Math.max(0, size - longestClosing), size).toString('latin1') };
}

/** The end of the events according to complete closing brackets; null without them. */
export function completeEnd(
  { size, text }: FileEnding,
  start: number,
): { readonly end: number; readonly idOrder: IdOrder } | null {
  for (const idOrder of ['growing', 'mixed'] as const) {
    const end = size - closings[idOrder].length;
    if (end >= start && text.endsWith(closings[idOrder])) return { end, idOrder };
  }
  return null;
}

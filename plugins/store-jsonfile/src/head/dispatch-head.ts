import { chainStart, writtenByNewer } from '@hansard/store-kit';
import { copyKey, diskFormatVersion, eventsLine, smallestSlot } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import { hasText } from '../lines/event-line.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { type DecodedHead, decodeHead, startOfEvents } from './head-codec.ts';

const mostReads = 3;

/** The heads of a dispatch file. */
export interface DispatchHead extends DecodedHead {
  /** The size of each slot. */
  readonly slot: number;
  /** The offset after the bracket that opens the events. */
  readonly start: number;
  /** The checksum before the first event. */
  readonly seed: number;
}

/** Reads the head of an open dispatch file. @throws STORE_CORRUPT; STORE_NEWER for a newer format */
export function readHead(file: OpenFile): DispatchHead {
  const head = findHead(file);
  if (head !== null) {
    const at = head.start - eventsLine.length;
    if (file.read(at, head.start).toString('latin1') === eventsLine) return head;
    throw corrupt(file.path, at, 'the events do not begin here', { wholeEvents: 0 });
  }
  throw corrupt(file.path, 0, withoutHead(file), { wholeEvents: 0 });
}

function withoutHead(file: OpenFile): string {
  return formatOf(file) === null
    ? 'it does not begin with the head of a dispatch'
    : 'both copies of the head are damaged';
}

/** The format with which a file begins, whatever follows it, as in a file of any version; null for another file. */
function formatOf(file: OpenFile): number | null {
  const [, format] = /^\{"format":(\d+),/.exec(file.read(0, smallestSlot).toString('latin1')) ?? [];
  return format === undefined ? null : Number(format);
}

/** The heads, also if the line that opens the events is damaged; null if neither is whole. @throws STORE_NEWER */
export function findHead(file: OpenFile): DispatchHead | null {
  for (let reads = 1; ; reads += 1) {
    const head = searchHead(file);
    // A writer may have changed both while they were read.
    if (head !== null) return head;
    const format = formatOf(file);
    if (format !== null && format > diskFormatVersion)
      throw writtenByNewer(
        file.path,
        `It has format ${format}, and this version reads formats up to ${diskFormatVersion}.`,
        { file: file.path },
      );
    if (reads === mostReads || searchSlots(file).length === 0) return null;
  }
}

function searchHead(file: OpenFile): DispatchHead | null {
  const bytes = file.read(0, startOfEvents(smallestSlot));
  const found = decode(bytes, smallestSlot, file);
  if (found !== null) return found;
  for (const slot of searchSlots(file)) {
    const head = decode(file.read(0, slot * 2), slot, file);
    if (head !== null) return head;
  }
  return null;
}

/** The size of the slots, also if both heads are damaged; null for another file. */
export function findSlot(file: OpenFile): number | null {
  return searchSlots(file)[0] ?? null;
}

/** The sizes of slots that fit the bytes of the file. */
function searchSlots(file: OpenFile): number[] {
  const slots: number[] = [];
  const { size } = file.stats();
  for (let slot = smallestSlot; slot < size; slot *= 2) {
    const isCopy = hasText(file.read(slot, slot + copyKey.length), 0, copyKey);
    if (isCopy || hasText(file.read(slot * 2, startOfEvents(slot)), 0, eventsLine)) slots.push(slot);
  }
  return slots;
}

function decode(bytes: Buffer, slot: number, { path }: OpenFile): DispatchHead | null {
  const head = decodeHead(bytes, slot, path);
  if (head === null) return null;
  const { taskDir, dispatchId } = head.record;
  return { ...head, slot, start: startOfEvents(slot), seed: chainStart(taskDir, dispatchId) };
}

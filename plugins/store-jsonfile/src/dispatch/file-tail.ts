import { closings, type IdOrder } from '../disk-format.ts';
import { corrupt, eventsMissing } from '../errors.ts';
import { continuesBatch, eventLineText, parseEventText } from '../lines/event-line.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { findLineStart } from '../lines/scan-lines.ts';
import type { DispatchHead } from './dispatch-head.ts';

const longestClosing = closings.mixed.length;

/** Remains of the closing brackets, as lines of their own, after an append has overwritten only their first bytes. */
const remains = /^(?:\]? ?\}?| ?\{|\{["}])$/;
const remainsOfClosing = /,(?:\] ?\})?$/;
const mostAttempts = 1_000;

export interface FileTail {
  /** The offset after the last event that counts. */
  readonly end: number;
  readonly size: number;
  /** Null if the closing brackets are incomplete: a write is in progress, or the tail is torn. */
  readonly idOrder: IdOrder | null;
}

/** The facts in the head about the events. The head must be read before the events, which only grow. */
export type EventsPlace = Pick<DispatchHead, 'start' | 'eventBytes'>;

interface Ending {
  readonly size: number;
  readonly text: string;
}

/**
 * Finds the end of the events (see disk-format.ts, section 5).
 * @throws STORE_CORRUPT for damage, and if the events end before the `eventBytes` of the head
 */
export function findTail(file: OpenFile, { start, eventBytes }: EventsPlace): FileTail {
  const tail = searchTail(file, start);
  if (eventBytes === null || tail.end - start >= eventBytes) return tail;
  throw eventsMissing(file.path, tail.size, start + eventBytes);
}

/** Reads the end again while a writer changes it. An end that does not change is complete, torn or damaged. */
function searchTail(file: OpenFile, start: number): FileTail {
  let ending = readEnding(file);
  for (let attempt = 1; ; attempt += 1) {
    const complete = completeTail(ending, start);
    if (complete !== null) return complete;
    const { end, damagedAt } = findLastEvent(file, start, ending.size);
    const next = readEnding(file);
    const isUnchanged = next.size === ending.size && next.text === ending.text;
    if (isUnchanged || attempt === mostAttempts) {
      if (damagedAt === null) return { end, size: ending.size, idOrder: null };
      throw corrupt(file.path, damagedAt, 'this line is not an event');
    }
    ending = next;
  }
}

function readEnding(file: OpenFile): Ending {
  const { size } = file.stats();
  return { size, text: file.read(Math.max(0, size - longestClosing), size).toString('latin1') };
}

function completeTail({ size, text }: Ending, start: number): FileTail | null {
  for (const idOrder of ['growing', 'mixed'] as const) {
    const end = size - closings[idOrder].length;
    if (end >= start && text.endsWith(closings[idOrder])) return { end, size, idOrder };
  }
  return null;
}

/** Goes back line by line, over an incomplete line and an unfinished batch, to the last event that counts. */
function findLastEvent(
  file: OpenFile,
  start: number,
  size: number,
): { readonly end: number; readonly damagedAt: number | null } {
  for (let lineEnd = size; ; ) {
    const lineStart = findLineStart(file, start, lineEnd);
    const bytes = file.read(lineStart, lineEnd);
    if (lineStart === start) {
      return { end: start, damagedAt: bytes.length === 0 ? null : start };
    }
    const text = bytes.toString('latin1');
    const length = text.replace(remainsOfClosing, '').length;
    if (isEvent(bytes, length)) {
      if (!continuesBatch(bytes, 0)) return { end: lineStart + length, damagedAt: null };
    } else if (!remains.test(text) && lineEnd !== size) return { end: start, damagedAt: lineStart };
    lineEnd = lineStart - 1;
  }
}

function isEvent(bytes: Buffer, length: number): boolean {
  const text = eventLineText(bytes, 0, length, true);
  return text !== null && parseEventText(text) !== null;
}

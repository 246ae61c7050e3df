import { fstatSync } from 'node:fs';
import { corrupt, eventsMissing } from '../errors.ts';
import { continuesBatch, eventLineText, parseEventText } from '../lines/event-line.ts';
import { readBytes } from '../lines/file-io.ts';
import { findLineStart } from '../lines/scan-lines.ts';
import type { DispatchHead } from './dispatch-head.ts';

/**
 * The closing brackets. The second form says that the ids of the events do not all grow, so that the last one is not
 * the greatest; whoever opens the file then need not read it whole to know.
 */
export const closings = { growing: '\n]}\n', mixed: '\n] }\n' } as const;
export type IdOrder = keyof typeof closings;

const longestClosing = closings.mixed.length;

/** What the first bytes of an append leave of the closing brackets that they overwrite, as lines of their own. */
const remains = /^(?:\]? ?\}?| ?\{|\{["}])$/;
const remainsOfClosing = /,(?:\] ?\})?$/;
const mostAttempts = 1_000;

export interface FileTail {
  /** The offset just behind the last event that counts. */
  readonly end: number;
  readonly size: number;
  /** Null where the closing brackets are not whole: a write is in flight, or one was cut off. */
  readonly idOrder: IdOrder | null;
}

/** What the head of a file tells of its events. It must be read before the events, which only grow. */
export type EventsPlace = Pick<DispatchHead, 'start' | 'eventBytes'>;

interface Ending {
  readonly size: number;
  readonly text: string;
}

/**
 * Finds where the events end, which is never before what the head says of them.
 * @throws STORE_CORRUPT
 */
export function findTail(fd: number, file: string, { start, eventBytes }: EventsPlace): FileTail {
  const tail = searchTail(fd, file, start);
  if (eventBytes === null || tail.end - start >= eventBytes) return tail;
  throw eventsMissing(file, tail.size, start + eventBytes);
}

/**
 * Beside a writer the closing brackets may just be half overwritten: then it looks again,
 * and what stays so is judged by its lines. The last line may be unfinished; any other that is not an event is damage.
 */
function searchTail(fd: number, file: string, start: number): FileTail {
  let ending = readEnding(fd);
  for (let attempt = 1; ; attempt += 1) {
    const whole = wholeTail(ending, start);
    if (whole !== null) return whole;
    const { end, damagedAt } = findLastEvent(fd, start, ending.size);
    const next = readEnding(fd);
    const isStill = next.size === ending.size && next.text === ending.text;
    if (isStill || attempt === mostAttempts) {
      if (damagedAt === null) return { end, size: ending.size, idOrder: null };
      throw corrupt(file, damagedAt, 'this line is not an event');
    }
    ending = next;
  }
}

function readEnding(fd: number): Ending {
  const { size } = fstatSync(fd);
  return { size, text: readBytes(fd, Math.max(0, size - longestClosing), size).toString('latin1') };
}

function wholeTail({ size, text }: Ending, start: number): FileTail | null {
  for (const idOrder of ['growing', 'mixed'] as const) {
    const end = size - closings[idOrder].length;
    if (end >= start && text.endsWith(closings[idOrder])) return { end, size, idOrder };
  }
  return null;
}

/** Goes back line by line to the last event that counts, over the unfinished line and an unfinished batch. */
function findLastEvent(
  fd: number,
  start: number,
  size: number,
): { readonly end: number; readonly damagedAt: number | null } {
  for (let lineEnd = size; ; ) {
    const lineStart = findLineStart(fd, start, lineEnd);
    const bytes = readBytes(fd, lineStart, lineEnd);
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

import { completeEnd, type FileTail, readEnding } from '../dispatch/file-end.ts';
import { damagedLine, eventsMissing } from '../lines/damaged-line.ts';
import { continuesBatch, endsWithComma, parseEventBytes } from '../lines/event-line.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { findLineStart } from '../lines/scan-lines.ts';
import type { Head1 } from './head-1.ts';

/** Remains of the closing brackets, as lines of their own, after an append has overwritten only their first bytes. */
const remains = /^(?:\]? ?\}?| ?\{|\{["}])$/;
const remainsOfClosing = /,(?:\] ?\})?$/;
const mostAttempts = 1_000;
/** Format 1 counts no events. */
const unknown = { count: null, crc: null } as const;

/**
 * Finds the end of the events in a file of format 1. Going back from the end, an incomplete last line, remains of the brackets and
 * lines of an unfinished batch do not count; the first complete line before them is the last event. Any other line that is not
 * an event is damage.
 * @throws STORE_CORRUPT for damage, and if the events end before the `eventBytes` of the head
 */
export function findTail1(file: OpenFile, { start, eventBytes }: Head1): FileTail {
  const tail = searchTail(file, start);
  if (eventBytes === null || tail.end - start >= eventBytes) return tail;
  throw eventsMissing({ file, start, isChecked: false }, tail.size, start + eventBytes);
}

/** Reads the end again while a writer changes it. An end that does not change is complete, torn or damaged. */
function searchTail(file: OpenFile, start: number): FileTail {
  let ending = readEnding(file);
  for (let attempt = 1; ; attempt += 1) {
    const complete = completeEnd(ending, start);
    if (complete !== null) return { ...unknown, ...complete, size: ending.size };
    const { end, damagedAt } = findLastEvent(file, start, ending.size);
    const next = readEnding(file);
    const isUnchanged = next.size === ending.size && next.text === ending.text;
    if (isUnchanged || attempt === mostAttempts) {
      if (damagedAt === null) return { ...unknown, end, size: ending.size, idOrder: null };
      throw damagedLine({ file, start, isChecked: false }, damagedAt, 'this line is not an event');
    }
    ending = next;
  }
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
  if (endsWithComma(bytes, length)) return false;
  return parseEventBytes(bytes, continuesBatch(bytes, 0) ? 1 : 0, length) !== null;
}

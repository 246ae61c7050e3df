import { isUtf8 } from 'node:buffer';
import type { CapturedEvent } from '@hansard/events';

const comma = 0x2c;
const space = 0x20;

/**
 * Event lines are parted by `,\n`. A line that begins with a space is one of a batch and not its last: without the rest
 * of its batch it does not count, so that a batch torn in the middle leaves nothing behind.
 */
export const batchMark = ' ';

/** Whether the line at `start` waits for more of its batch. */
export function continuesBatch(bytes: Buffer, start: number): boolean {
  return bytes[start] === space;
}

/** The event of one line without its line end; null where the line is not one. Every line but the last has its comma. */
export function parseEventLine(
  bytes: Buffer,
  start: number,
  end: number,
  isLast: boolean,
): CapturedEvent | null {
  const text = eventLineText(bytes, start, end, isLast);
  return text === null ? null : parseEventText(text);
}

/** The line as it was encoded, without mark and comma; null where the comma is amiss or the bytes are not text. */
export function eventLineText(bytes: Buffer, start: number, end: number, isLast: boolean): string | null {
  if ((bytes[end - 1] === comma) === isLast) return null;
  const line = bytes.subarray(continuesBatch(bytes, start) ? start + 1 : start, isLast ? end : end - 1);
  return isUtf8(line) ? line.toString('utf8') : null;
}

const beforeId = Buffer.from('{"id":"');
const longestId = 128;
const quote = 0x22;
const backslash = 0x5c;

/** The id of an event line without reading the rest of it; null where it is not written as this store writes it. */
export function eventLineId(bytes: Buffer, start: number, end: number): string | null {
  const from = continuesBatch(bytes, start) ? start + 1 : start;
  const idStart = from + beforeId.length;
  if (idStart >= end || beforeId.compare(bytes, from, idStart) !== 0) return null;
  const last = Math.min(end, idStart + longestId + 1);
  for (let at = idStart; at < last; at += 1) {
    const byte = bytes[at] as number;
    if (byte === quote) return bytes.toString('latin1', idStart, at);
    if (byte === backslash || byte > 0x7e) return null;
  }
  return null;
}

export function parseEventText(text: string): CapturedEvent | null {
  let value: Partial<Record<keyof CapturedEvent, unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const isEvent =
    typeof value === 'object' &&
    value !== null &&
    typeof value.id === 'string' &&
    typeof value.type === 'string' &&
    typeof value.timestamp === 'string' &&
    typeof value.data === 'object' &&
    value.data !== null;
  return isEvent ? (value as CapturedEvent) : null;
}

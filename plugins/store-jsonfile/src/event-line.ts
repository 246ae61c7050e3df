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

import { isUtf8 } from 'node:buffer';
import { type CapturedEvent, findNotJson } from '@hansard/events';
import { batchMark } from '../disk-format.ts';

const comma = 0x2c;
const mark = batchMark.charCodeAt(0);

/** Whether more lines of the same batch follow the line at `start`. */
export function continuesBatch(bytes: Buffer, start: number): boolean {
  return bytes[start] === mark;
}

/** The event of a line without its line end; null if the line is not an event. Every line but the last ends with a comma. */
export function parseEventLine(
  bytes: Buffer,
  start: number,
  end: number,
  isLast: boolean,
): CapturedEvent | null {
  const text = eventLineText(bytes, start, end, isLast);
  return text === null ? null : parseEventText(text);
}

/** The line as it was encoded, without mark and comma; null if the comma is wrong or the bytes are not UTF-8. */
export function eventLineText(bytes: Buffer, start: number, end: number, isLast: boolean): string | null {
  if ((bytes[end - 1] === comma) === isLast) return null;
  const line = bytes.subarray(continuesBatch(bytes, start) ? start + 1 : start, isLast ? end : end - 1);
  return isUtf8(line) ? line.toString('utf8') : null;
}

const beforeId = Buffer.from('{"id":"');
const longestId = 128;
const quote = 0x22;
const backslash = 0x5c;

/** The id of an event line, found without parsing the line; null if this store did not write the line. */
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

/** No shorter text nests deeper than an event may. */
const shortestTooDeep = 2_000;

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
    value.data !== null &&
    (text.length < shortestTooDeep || findNotJson(value.data) === null);
  return isEvent ? (value as CapturedEvent) : null;
}

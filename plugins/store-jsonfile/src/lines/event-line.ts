import { isUtf8 } from 'node:buffer';
import { type CapturedEvent, findNotJson } from '@hansard/events';
import { checksumLength, readChecksum } from '@hansard/store-kit';
import { batchMark, checksumEnd, checksumKey } from '../disk-format.ts';

const comma = 0x2c;
const closingBrace = 0x7d;
const mark = batchMark.charCodeAt(0);
/** The bytes from the end of an event to the end of its line, without the comma. */
export const checksumSize = checksumKey.length + checksumLength + checksumEnd.length;

/** Whether more lines of the same batch follow the line at `start`. */
export function continuesBatch(bytes: Buffer, start: number): boolean {
  return bytes[start] === mark;
}

/** Whether the bytes before `end` are a checksum, as at the end of a line without its comma. */
export function endsWithChecksum(bytes: Buffer, end: number): boolean {
  const at = end - checksumSize;
  return (
    at >= 0 &&
    hasText(bytes, at, checksumKey) &&
    hasText(bytes, end - checksumEnd.length, checksumEnd) &&
    readChecksum(bytes, at + checksumKey.length) !== null
  );
}

/** Whether these ASCII characters are at a place in bytes. */
export function hasText(bytes: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}

/** Whether a line without its line end ends with a comma. Every line but the last does. */
export function endsWithComma(bytes: Buffer, end: number): boolean {
  return bytes[end - 1] === comma;
}

/**
 * Makes the text of an event complete: its closing brace takes the place of the comma before the checksum. @returns the end
 * of the text
 */
export function closeText(bytes: Buffer, checksumAt: number): number {
  bytes[checksumAt] = closingBrace;
  return checksumAt + 1;
}

/** The text of an event; null if the bytes are not UTF-8. */
export function eventText(bytes: Buffer, start: number, end: number): string | null {
  const text = bytes.subarray(start, end);
  return isUtf8(text) ? text.toString('utf8') : null;
}

/** The event from its text; null if it is not an event. */
export function parseEventBytes(bytes: Buffer, start: number, end: number): CapturedEvent | null {
  const text = eventText(bytes, start, end);
  return text === null ? null : parseEventText(text);
}

const beforeId = Buffer.from('{"id":"');
const longestId = 128;
const quote = 0x22;
const backslash = 0x5c;

/** The id of an event, found without parsing its text; null if this store did not write it. */
export function eventIdOf(bytes: Buffer, start: number, end: number): string | null {
  const idStart = start + beforeId.length;
  if (idStart >= end || beforeId.compare(bytes, start, idStart) !== 0) return null;
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
    (value.timestamp === null || typeof value.timestamp === 'string') &&
    typeof value.data === 'object' &&
    value.data !== null &&
    (text.length < shortestTooDeep || findNotJson(value.data) === null);
  return isEvent ? (value as CapturedEvent) : null;
}

import { findNotJson, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';

/** An id of a log, which is text or a number; undefined for any other value. */
export function idText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The references of a log: an id, or a list of ids. */
export function references(value: JsonValue | undefined): string[] {
  return [value ?? null].flat().flatMap((item) => idText(item) ?? []);
}

export interface RecordLine {
  readonly kind: 'record';
  /** From 1. */
  readonly line: number;
  /** With the line end. Of a list, the first record has the bytes of the whole text. */
  readonly bytes: number;
  readonly record: JsonObject;
  readonly isUtf8: boolean;
  /** Absent: the record is an item of a list. */
  readonly text?: string;
}

export interface DamagedLine {
  readonly kind: 'damaged';
  readonly line: number;
  readonly bytes: number;
  /** `unfinished`: the last line has no line end and is not a record, so more of it may follow. */
  readonly code: 'not_json' | 'not_an_object' | 'unfinished';
  readonly problem: string;
  readonly text: string;
}

export type SessionLine = RecordLine | DamagedLine;

/** The depth of a record inside the data of an event, which counts against the limit for JSON. */
const depthInEvent = 20;

/**
 * The lines of a log that are not blank. The last one may be unfinished. A byte order mark and CRLF are accepted.
 */
export function parseLines(source: string | Uint8Array): SessionLine[] {
  const list = parseList(source);
  if (list !== null) return list;
  const lines = splitLines(source);
  return lines.flatMap(({ text, isUtf8, bytes }, index) => {
    // Also removes a carriage return and a byte order mark.
    const trimmed = text.trim();
    if (trimmed === '') return [];
    const line = { ...parseLine(trimmed, index + 1, isUtf8), bytes };
    const mayContinue = line.kind === 'damaged' && index === lines.length - 1;
    return [mayContinue ? { ...line, code: 'unfinished', problem: 'The last line is truncated.' } : line];
  });
}

/** The records of a log that is one JSON array, each with its number as its line; null for any other log. */
function parseList(source: string | Uint8Array): SessionLine[] | null {
  const start =
    typeof source === 'string' ? source.slice(0, 100) : Buffer.from(source.subarray(0, 100)).toString();
  if (!/^\uFEFF?\s*\[\s*\{/.test(start)) return null;
  const { text, isUtf8 } = typeof source === 'string' ? { text: source, isUtf8: true } : decode(source);
  const value = parseJson(text.trim())?.value;
  if (!Array.isArray(value) || !value.every(isPlainObject)) return null;
  return value.map((record, index) => ({
    kind: 'record',
    line: index + 1,
    bytes: index === 0 ? bytesOf(source) : 0,
    record: record as JsonObject,
    isUtf8,
  }));
}

/** The diagnostic of a damaged line. */
export function describeDamage({ code, problem }: DamagedLine): string {
  return code === 'unfinished'
    ? `${problem} It is left out until it is complete.`
    : `${problem} It is kept as a notice.`;
}

/** The name of a file without its folders, so that a log is the same in any folder. */
export function fileName(file: string): string {
  return file.replace(/^.*[\\/]/s, '');
}

/** Parses JSON text; undefined if it is not JSON or an event cannot hold the value. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return findNotJson(value, '', depthInEvent) === null ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** The bytes of a source as UTF-8. */
export function bytesOf(source: string | Uint8Array): number {
  return typeof source === 'string' ? Buffer.byteLength(source) : source.length;
}

type Unmeasured<L> = L extends unknown ? Omit<L, 'bytes'> : never;

function parseLine(text: string, line: number, isUtf8: boolean): Unmeasured<SessionLine> {
  const parsed = parseJson(text);
  if (parsed === undefined) {
    return { kind: 'damaged', line, code: 'not_json', problem: 'The line is not JSON.', text };
  }
  if (!isPlainObject(parsed.value)) {
    return { kind: 'damaged', line, code: 'not_an_object', problem: 'The line is not a JSON object.', text };
  }
  return { kind: 'record', line, record: parsed.value as JsonObject, isUtf8, text };
}

function splitLines(source: string | Uint8Array): { text: string; isUtf8: boolean; bytes: number }[] {
  if (typeof source === 'string')
    return source.split('\n').map((text, at, { length }) => ({
      text,
      isUtf8: true,
      bytes: Buffer.byteLength(text) + (at < length - 1 ? 1 : 0),
    }));
  const lines: { text: string; isUtf8: boolean; bytes: number }[] = [];
  for (let start = 0; start <= source.length; ) {
    const found = source.indexOf(0x0a, start);
    const end = found < 0 ? source.length : found;
    lines.push({ ...decode(source.subarray(start, end)), bytes: end - start + (found < 0 ? 0 : 1) });
    start = end + 1;
  }
  return lines;
}

function decode(bytes: Uint8Array): { text: string; isUtf8: boolean } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isUtf8: true };
  } catch {
    return { text: new TextDecoder().decode(bytes), isUtf8: false };
  }
}

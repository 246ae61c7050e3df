import { isPlainObject, type JsonValue } from '@hansard/events';

/** A part of a line of a recorded stream: a record, or damaged text. */
export type LinePart =
  | { readonly kind: 'record'; readonly record: JsonValue }
  | { readonly kind: 'damaged'; readonly problem: string; readonly raw?: string };

/** Whether a value after damaged text is a record, and not a part of one. */
export type IsRecord = (value: JsonValue) => boolean;

/**
 * The records of one line and its damaged parts, in order. A line is normally one record. After a crash a line may hold
 * two records, a truncated record followed by a whole one, or blocks of NUL bytes.
 */
export function splitRecords(line: string, isRecord: IsRecord = looksLikeMessage): LinePart[] {
  const text = line.startsWith('\uFEFF') ? line.slice(1) : line;
  const record = parse(text);
  if (record !== undefined) return [{ kind: 'record', record }];
  const pieces = piecesBetweenNuls(text);
  const parts = pieces.flatMap((piece) => (piece.trim() === '' ? [] : splitPiece(piece, isRecord)));
  const nulBytes = pieces.reduce((left, piece) => left - piece.length, text.length);
  const problem = `${nulBytes} NUL bytes, as after a crash`;
  return nulBytes === 0 ? parts : [...parts, { kind: 'damaged', problem }];
}

/** By loop: an expression that repeats over millions of NUL bytes can exceed the stack. */
function piecesBetweenNuls(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    if (text.charCodeAt(start) === 0) {
      start += 1;
      continue;
    }
    const nul = text.indexOf('\0', start);
    const end = nul === -1 ? text.length : nul;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function splitPiece(text: string, isRecord: IsRecord): LinePart[] {
  const parts: LinePart[] = [];
  const effort = { left: 1_000_000 + 4 * text.length };
  let position = 0;
  while (position < text.length) {
    const record = recordAt(text, position, effort) ?? nextRecord(text, position, effort, isRecord);
    const damaged = text.slice(position, record?.start);
    if (damaged.trim() !== '') parts.push({ kind: 'damaged', problem: 'not JSON', raw: damaged });
    if (record === undefined) break;
    parts.push({ kind: 'record', record: record.value });
    position = record.end;
  }
  return parts;
}

interface FoundRecord {
  readonly start: number;
  readonly end: number;
  readonly value: JsonValue;
}

/** The next complete message. Objects nested in a broken message do not look like messages. */
function nextRecord(
  text: string,
  from: number,
  effort: { left: number },
  isRecord: IsRecord,
): FoundRecord | undefined {
  let start = text.indexOf('{"', from + 1);
  while (start !== -1 && effort.left > 0) {
    const record = recordAt(text, start, effort);
    if (record !== undefined && isRecord(record.value)) return record;
    start = text.indexOf('{"', start + 1);
  }
  return undefined;
}

function recordAt(text: string, from: number, effort: { left: number }): FoundRecord | undefined {
  const start = from + (/^\s*/.exec(text.slice(from, from + 100))?.[0].length ?? 0);
  const end = endOfObject(text, start);
  effort.left -= (end ?? text.length) - start;
  if (end === undefined) return undefined;
  const value = parse(text.slice(start, end));
  return value === undefined ? undefined : { start, end, value };
}

/** The end of the object that begins at `start`, by its brackets; undefined if it does not end. */
function endOfObject(text: string, start: number): number | undefined {
  if (text[start] !== '{') return undefined;
  const token = /["{}]/g;
  token.lastIndex = start;
  let depth = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '"') {
      const end = endOfString(text, found.index);
      if (end === undefined) return undefined;
      token.lastIndex = end;
    } else {
      depth += found[0] === '{' ? 1 : -1;
      if (depth === 0) return token.lastIndex;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number | undefined {
  const token = /["\\]/g;
  token.lastIndex = start + 1;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '"') return token.lastIndex;
    token.lastIndex += 1;
  }
  return undefined;
}

function looksLikeMessage(value: JsonValue): boolean {
  return isPlainObject(value) && typeof value.type === 'string' && ('session_id' in value || 'uuid' in value);
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

import { crc32 } from 'node:zlib';
import type { JsonValue } from '@hansard/events';
import type { ClaudeDiagnosticCode } from './claude-diagnostic.ts';
import { type FileLine, type ReadFrom, readLineGroups } from './read-lines.ts';
import { type IsRecord, type LinePart, splitRecords } from './split-records.ts';

/** The maximum number of characters of a record that is broken over lines. */
const longest = 100 * 1024 * 1024;

interface Joined {
  readonly value: JsonValue;
  /** The text after the value on its last line. */
  readonly rest: string;
  readonly lines: number;
}

/**
 * A JSON object or array that continues over lines: pretty-printed JSON, or a string with line feeds that should have
 * been escaped.
 */
class OpenText {
  readonly firstLine: number;
  readonly lines: string[] = [];
  length = 0;
  /** The text so far, line feeds within strings escaped. */
  readonly #pieces: string[] = [];
  #depth = 0;
  #isInString = false;

  /** Null if the text is not the start of an object or array. */
  static begin(text: string, line: number): OpenText | null {
    const start = text.trimStart()[0];
    if (start !== '{' && start !== '[') return null;
    const open = new OpenText(line);
    return open.add(text) === 'open' ? open : null;
  }

  private constructor(firstLine: number) {
    this.firstLine = firstLine;
  }

  add(text: string): Joined | 'open' | 'hopeless' {
    this.lines.push(text);
    this.length += text.length + 1;
    const end = this.#scan(text);
    if (end === undefined) {
      this.#pieces.push(text.replace(/\r$/, ''), this.#isInString ? '\\n' : '\n');
      return this.length > longest ? 'hopeless' : 'open';
    }
    this.#pieces.push(text.slice(0, end));
    try {
      const value = JSON.parse(this.#pieces.join('').replace(/^\uFEFF/, '')) as JsonValue;
      return { value, rest: text.slice(end), lines: this.lines.length };
    } catch {
      return 'hopeless';
    }
  }

  /** The position at which the outermost bracket closes. */
  #scan(text: string): number | undefined {
    const token = /["\\{}[\]]/g;
    for (let found = token.exec(text); found !== null; found = token.exec(text)) {
      const [mark] = found;
      if (mark === '\\') token.lastIndex += this.#isInString ? 1 : 0;
      else if (mark === '"') this.#isInString = !this.#isInString;
      else if (!this.#isInString) {
        this.#depth += mark === '{' || mark === '[' ? 1 : -1;
        if (this.#depth <= 0) return token.lastIndex;
      }
    }
    return undefined;
  }
}

/** The greatest depth of a value inside an event: the limit for JSON, minus room for the event around the value. */
const deepest = 980;

/** Whether an event can store a value that was parsed from JSON. JSON text can nest deeper and can hold numbers that parse as infinite. */
export function isStorable(value: JsonValue, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > deepest) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'string' && !isStorable(item, depth + 1)) return false;
    return true;
  }
  for (const key in value) {
    const child = value[key];
    if (child !== undefined && typeof child !== 'string' && !isStorable(child, depth + 1)) return false;
  }
  return true;
}

/** A part of a log: a value, or text that could not be read. */
export type LogPart = LinePart & {
  /** Checksum of a record's content. */
  readonly checksum: number;
  /** Counted from 1. */
  readonly line: number;
  /** The number of the part within its line, counted from 1. */
  readonly part: number;
};

/** A record that is a line. Few records need their checksum. */
class WholeLine {
  readonly kind = 'record';
  readonly record: JsonValue;
  readonly line: number;
  readonly part = 1;
  readonly #text: string;

  constructor(record: JsonValue, text: string, line: number) {
    this.record = record;
    this.#text = text;
    this.line = line;
  }

  get checksum(): number {
    return crc32(this.#text);
  }
}

type Report = (code: ClaudeDiagnosticCode, line: number, message: string) => void;

/**
 * Splits lines into records. The result for a growing file never depends on where the file ended when it was read: an
 * unfinished record at the end is held back. A record that is broken over lines is joined.
 */
class LogParts {
  readonly #isRecord: IsRecord;
  readonly #report: Report;
  #open: OpenText | null = null;
  #unfinished: { readonly line: number; readonly bytes: number } | null = null;
  #hasCrlf = false;

  constructor(isRecord: IsRecord, report: Report) {
    this.#isRecord = isRecord;
    this.#report = report;
  }

  take(line: FileLine): LogPart[] {
    if (line.isTooLong) return this.#takeTooLong(line);
    const { text } = line;
    this.#reportEncoding(line);
    if (this.#open !== null) return this.#continue(this.#open, line);
    const record = text.charCodeAt(0) === brace ? parseObject(text) : undefined;
    if (record !== undefined) {
      if (mayHoldSurrogates(text)) this.#reportSurrogates(record, line.number);
      return [new WholeLine(record, text, line.number)];
    }
    if (text.trim() === '') return [];
    return line.isEnded ? this.#takeUnusual(line) : this.#takeLeading(text, line, line.number, 1);
  }

  /** Whether a record continues with the next line. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** Reports the record that was held back, if any. */
  end(): void {
    const open = this.#open;
    const { line, bytes } = this.#unfinished ?? { line: open?.firstLine ?? 0, bytes: open?.length ?? 0 };
    if (bytes === 0) return;
    const message = `The file ends in the middle of a record: ${bytes} bytes from this line on are held back until the record is complete.`;
    this.#report('unfinished', line, message);
  }

  #reportEncoding({ text, number, isUtf8, isEnded }: FileLine): void {
    if (number === 1 && text.startsWith('\uFEFF'))
      this.#report('byte_order_mark', 1, 'The file begins with a byte order mark.');
    if (!this.#hasCrlf && text.endsWith('\r')) {
      this.#hasCrlf = true;
      this.#report('crlf', number, 'Lines end with a carriage return and a line feed from here on.');
    }
    if (!isUtf8 && isEnded)
      this.#report('not_utf8', number, 'Bytes that are not UTF-8 were replaced by U+FFFD.');
  }

  #reportSurrogates(record: JsonValue, line: number): void {
    if (!isStorable(record) || isWellFormed(record)) return;
    this.#report(
      'lone_surrogate',
      line,
      'A text holds half a character (a lone surrogate); it is kept unchanged.',
    );
  }

  #takeTooLong({ number, bytes, text, isEnded }: FileLine): LogPart[] {
    const before = this.#giveUp();
    if (!isEnded) {
      this.#unfinished = { line: number, bytes };
      return before;
    }
    const problem = `a line of ${bytes} bytes, longer than the 100 MB that are read`;
    this.#report(
      'too_long',
      number,
      `This is ${problem}. Its start is kept as a notice, and reading continues with the next line.`,
    );
    const part: LogPart = { kind: 'damaged', problem, raw: text, checksum: 0, line: number, part: 1 };
    return [...before, part];
  }

  #takeUnusual(line: FileLine): LogPart[] {
    const { text, number } = line;
    const parts = splitRecords(text, this.#isRecord);
    const hasRecord = parts.some(({ kind }) => kind === 'record');
    if (!hasRecord && !text.includes('\0')) {
      this.#open = OpenText.begin(text, number);
      if (this.#open !== null) return [];
    }
    return this.#number(parts, number);
  }

  /** The complete records at the start of the last line. */
  #takeLeading(text: string, { bytes }: FileLine, line: number, firstPart: number): LogPart[] {
    const parts = splitRecords(text, this.#isRecord).filter(
      (part) => part.kind === 'record' || !isPunctuation(part.raw),
    );
    const end = parts.findIndex(
      (part) => part.kind === 'damaged' || !(isObject(part.record) || this.#isList(part.record)),
    );
    const whole = end < 0 ? parts : parts.slice(0, end);
    if (end >= 0) this.#unfinished = { line, bytes };
    return this.#number(whole, line, firstPart);
  }

  #continue(open: OpenText, line: FileLine): LogPart[] {
    const { text, number, isEnded } = line;
    if (isEnded && this.#holdsRecord(text)) {
      const before = this.#giveUp();
      return [...before, ...this.take(line)];
    }
    const joined = open.add(text);
    if (joined === 'open') return [];
    if (joined === 'hopeless') return this.#giveUp();
    this.#open = null;
    const { value, rest, lines } = joined;
    const first = open.firstLine;
    this.#report('joined_lines', first, `A record is broken over ${lines} lines; it was joined.`);
    const parts = this.#number([{ kind: 'record', record: value }], first);
    if (rest.trim() === '') return parts;
    const more = isEnded
      ? this.#number(splitRecords(rest, this.#isRecord), number)
      : this.#takeLeading(rest, line, number, 1);
    return [...parts, ...more];
  }

  #holdsRecord(text: string): boolean {
    if (!text.trimStart().startsWith('{"')) return false;
    return splitRecords(text, this.#isRecord).some(
      (part) => part.kind === 'record' && this.#isRecord(part.record),
    );
  }

  /** Treats each line of a record that never ended as damaged. */
  #giveUp(): LogPart[] {
    const open = this.#open;
    this.#open = null;
    if (open === null) return [];
    return open.lines.flatMap((raw, index) => {
      if (raw.trim() === '' || isPunctuation(raw)) return [];
      return this.#number([{ kind: 'damaged', problem: 'not JSON', raw }], open.firstLine + index);
    });
  }

  #number(all: readonly LinePart[], line: number, firstPart = 1): LogPart[] {
    const parts = all.filter((part) => part.kind === 'record' || !isPunctuation(part.raw));
    const records = parts.filter(({ kind }) => kind === 'record').length;
    if (records > 1) this.#report('several_records', line, `${records} records are on one line.`);
    for (const part of parts) {
      if (part.kind === 'record') continue;
      const code = part.raw === undefined ? 'nul_bytes' : 'not_json';
      this.#report(code, line, `A part of this line is damaged: ${part.problem}. It is kept as a notice.`);
    }
    const spread = parts.flatMap((part) => (part.kind === 'record' ? this.#listed(part.record) : [part]));
    return spread.map((part, index) => {
      const isWhole = part.kind === 'record' && isStorable(part.record);
      const checksum = isWhole ? crc32(JSON.stringify(part.record)) : 0;
      if (isWhole) this.#reportSurrogates(part.record, line);
      return { ...part, checksum, line, part: firstPart + index };
    });
  }

  /** A JSON array of records counts as its records. */
  #listed(value: JsonValue): LinePart[] {
    return (this.#isList(value) ? value : [value]).map((record) => ({ kind: 'record', record }));
  }

  /** Whether a value is a list of records. Some of them may be of an unknown kind. */
  #isList(value: JsonValue): value is JsonValue[] {
    return Array.isArray(value) && value.every(isObject) && value.some(this.#isRecord);
  }
}

const brace = 0x7b;

function parseObject(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** A lone surrogate can only come from an escape. Most lines hold no numeric escape at all, so this test is cheap. */
function mayHoldSurrogates(text: string): boolean {
  return text.includes('\\u') && (text.includes('\\ud') || text.includes('\\uD'));
}

/** Whether a text is what a JSON array has between its items, each of which has a line of its own. */
function isPunctuation(text: string | undefined): boolean {
  return text !== undefined && /^[[\],]$/.test(text.trim());
}

function isObject(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWellFormed(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isWellFormed);
}

interface LinePartsRead {
  readonly parts: readonly LogPart[];
  /** Bytes of the line, including its end. */
  readonly bytes: number;
  /** Whether the next line begins a record of its own, whatever follows in the file. */
  readonly isWhole: boolean;
}

/** The parts of a file, line by line, in groups of lines. Each group can be iterated once. @throws FORMAT_UNREADABLE */
export async function* readParts(
  path: string,
  isRecord: IsRecord,
  report: (code: ClaudeDiagnosticCode, line: number, message: string) => void,
  from?: ReadFrom,
): AsyncGenerator<Iterable<LinePartsRead>> {
  const parts = new LogParts(isRecord, report);
  for await (const lines of readLineGroups(path, from)) yield partsOf(lines, parts);
  parts.end();
}

/** Parses line by line, so that the values of only one line are in memory. */
function* partsOf(lines: readonly FileLine[], parts: LogParts): Generator<LinePartsRead> {
  for (const line of lines) {
    const { bytes, isEnded } = line;
    yield {
      parts: parts.take(line),
      bytes: bytes + (isEnded ? 1 : 0),
      isWhole: isEnded && !parts.isOpen,
    };
  }
}

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  BalanceSheet,
  type CapturedEvent,
  eventProblem,
  isPlainObject,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import type { LogImporterProvider, LogSource, OpenLog } from '@hansard/provider';

/** The parts of the example importer, which mutants replace. */
export interface Parts {
  detect(records: readonly JsonValue[]): boolean;
  /** The texts of the lines, with their bytes. The last one may be unfinished. */
  linesOf(path: string): Line[];
  identify(first: JsonObject, path: string): string;
  eventsOf(line: Line, seen: Map<string, string>, path: string): CapturedEvent[];
  /** Changes everything that was read. */
  finish(
    read: { events: CapturedEvent[]; sheet: BalanceSheet; diagnostics: number },
    source: LogSource,
  ): void;
}

export interface Line {
  readonly number: number;
  readonly text: string;
  readonly bytes: number;
  readonly isUnfinished: boolean;
}

export const parts: Parts = {
  detect: (records) => records.filter(isNote).length > records.length / 2,

  linesOf(path) {
    const bytes = readFileSync(path);
    const lines: Line[] = [];
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(10, start);
      const end = found < 0 ? bytes.length : found + 1;
      const text = bytes.subarray(start, end).toString().trim();
      const isUnfinished = found < 0 && parse(text) === undefined;
      lines.push({ number: lines.length + 1, text, bytes: end - start, isUnfinished });
      start = end;
    }
    return lines;
  },

  identify: ({ book = null }) => `notes\n${JSON.stringify(book)}`,

  eventsOf({ number, text }, seen) {
    const record = parse(text);
    const id = isPlainObject(record) && typeof record.note === 'string' ? record.note : '';
    const isFree = /^[A-Za-z0-9._-]{1,100}$/.test(id) && !seen.has(id);
    const named = isFree ? id : `line-${number}`;
    if (seen.get(id) === text) return [];
    seen.set(named, text);
    const event = isPlainObject(record) ? eventOf(named, record as JsonObject) : null;
    return [event !== null && eventProblem(event) === null ? event : notice(named, number, text)];
  },

  finish: () => {},
};

function eventOf(id: string, record: JsonObject): CapturedEvent {
  const { at, by, kind, text, ...rest } = record;
  const hasTime = typeof at === 'string' && /^\d{4}-.*Z$/.test(at) && !Number.isNaN(Date.parse(at));
  const fields = { id, timestamp: hasTime ? new Date(at).toISOString() : null };
  const agent = typeof by === 'string' && /^[a-z]{1,40}$/.test(by) ? { agentId: by } : {};
  const more = {
    rest: {
      ...rest,
      ...(hasTime ? {} : { at: at ?? null }),
      ...('agentId' in agent ? {} : { by: by ?? null }),
    },
  };
  if (kind === 'said' && typeof text === 'string')
    return { ...fields, ...agent, type: 'agent:text', data: { text, ...more } } as CapturedEvent;
  return {
    ...fields,
    ...agent,
    type: 'notes:other',
    data: { kind: kind ?? null, text: text ?? null, ...more },
  } as CapturedEvent;
}

export function notice(id: string, line: number, raw: string): CapturedEvent {
  return {
    id,
    type: 'system:notice',
    timestamp: null,
    data: { problem: 'not a note', line, raw },
  } as CapturedEvent;
}

export function isNote(value: JsonValue): boolean {
  return isPlainObject(value) && typeof value.note === 'string' && typeof value.book === 'string';
}

export function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export function ulidOf(name: string): string {
  const digest = [...hash('sha256', name, 'buffer')];
  return `0${digest
    .slice(0, 25)
    .map((byte) => alphabet[byte % 32])
    .join('')}`;
}

/** An importer of note books: a JSON object a line, with the id of the note, its book, time and writer. */
export function notesImporter(changed: Partial<Parts> = {}): LogImporterProvider {
  const { detect, linesOf, identify, eventsOf, finish } = { ...parts, ...changed };
  return {
    contract: 1,
    id: 'notes',
    title: 'a note book',
    detect: ({ text }) => {
      const records = text
        .split('\n')
        .map(parse)
        .filter((value) => value !== undefined);
      return records.length > 0 && detect(records);
    },
    open(source): OpenLog[] {
      const [path = ''] = source.files;
      const first = linesOf(path)
        .map(({ text }) => parse(text))
        .find((value) => isPlainObject(value));
      const read = { events: [] as CapturedEvent[], sheet: new BalanceSheet(), diagnostics: 0 };
      const times = () => read.events.flatMap(({ timestamp }) => timestamp ?? []);
      return [
        {
          format: 'notes',
          files: source.files,
          dispatchId: ulidOf(identify((first ?? {}) as JsonObject, basename(path))),
          startedAt: firstTime(first),
          async *read() {
            readLines(read, linesOf(path), (line, seen) => eventsOf(line, seen, path));
            finish(read, source);
            yield read.events;
          },
          summary: () => ({
            records: read.sheet.balance.records.in,
            events: read.events.length,
            status: 'completed',
            completedAt: times().length === 0 ? null : Date.parse(times().sort().at(-1) ?? ''),
            diagnostics: [],
            counts: {},
            balance: read.sheet.balance,
          }),
        },
      ];
    },
  };
}

function readLines(
  { events, sheet }: { events: CapturedEvent[]; sheet: BalanceSheet },
  lines: readonly Line[],
  eventsOf: (line: Line, seen: Map<string, string>) => CapturedEvent[],
): void {
  const seen = new Map<string, string>();
  sheet.take('files');
  sheet.record('files');
  for (const line of lines) {
    sheet.take('bytes', line.bytes);
    if (line.text === '') {
      sheet.leaveOut('bytes', 'blank', line.bytes);
      continue;
    }
    sheet.take('records');
    const made = line.isUnfinished ? [] : eventsOf(line, seen);
    events.push(...made);
    const reason = line.isUnfinished ? 'unfinished' : 'repeated';
    if (made.length > 0) sheet.record('records');
    else sheet.leaveOut('records', reason);
    if (made.length > 0) sheet.record('bytes', line.bytes);
    else sheet.leaveOut('bytes', reason, line.bytes);
  }
}

function firstTime(first: JsonValue | undefined): number | null {
  const at = isPlainObject(first) && typeof first.at === 'string' ? first.at : '';
  return /^\d{4}-.*Z$/.test(at) && !Number.isNaN(Date.parse(at)) ? Date.parse(at) : null;
}

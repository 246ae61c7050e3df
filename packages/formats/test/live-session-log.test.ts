import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject } from '@hansard/events';
import { LineFile } from '@hansard/formats/files';
import { randomFrom } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSessionWriter,
  type SessionFormatId,
  type SessionWriter,
  sessionFormats,
} from '../src/index.ts';
import { type ExpectedLine, type PlayedRun, playRun } from './random-run.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const formats = ['session-v1', 'session-v2'] as const;
const runs = Array.from({ length: 40 }, (_, at) => playRun(randomFrom(seed + at), at % 4 !== 3));

type Write = (format: SessionFormatId, isExtended: boolean) => Pick<SessionWriter, 'add' | 'finish'>;
const write: Write = (format, isExtended) => createSessionWriter(format, { isExtended });

/** What is wrong with the lines that a writer gives for a run, in words; null: nothing. */
function problemOf(
  { events, lines, complete, numbers }: PlayedRun,
  format: SessionFormatId,
  isExtended: boolean,
  create: Write,
): string | null {
  const has = ({ isPiece }: ExpectedLine) => format === 'session-v2' || isPiece !== true;
  const writer = create(format, isExtended);
  const given: string[] = [];
  for (const [at, event] of events.entries()) {
    given.push(...writer.add(event));
    const wanted = lines.slice(0, complete[at]).filter(has).length;
    if (given.length !== wanted)
      return `${given.length} lines after event ${at} (${event.type}), and ${wanted} are complete`;
  }
  given.push(...writer.finish());
  const all = lines.flatMap((line, at) => (has(line) ? [asRecord(line, at, numbers)] : []));
  for (const [at, record] of all.entries()) {
    const written = essence(JSON.parse(given[at] ?? '{}'), format);
    if (JSON.stringify(written) !== JSON.stringify(record))
      return `line ${at + 1} is ${JSON.stringify(written)}, not ${JSON.stringify(record)}`;
  }
  if (given.length !== all.length) return `${given.length} lines, not ${all.length}`;
  const { text } = sessionFormats[format].write(events, { isExtended });
  return given.join('') === text ? null : 'the lines are not those of the whole log';
}

function asRecord(
  { agent_id, role, content, calls, tool_call_id, substance }: ExpectedLine,
  at: number,
  numbers: ReadonlyMap<string, string>,
) {
  const link = substance === undefined ? undefined : numbers.get(substance);
  return [
    `msg_${String(at + 1).padStart(3, '0')}`,
    agent_id,
    role ?? null,
    content ?? null,
    calls,
    tool_call_id ?? null,
    link ?? null,
  ];
}

function essence(record: JsonObject, format: SessionFormatId) {
  const {
    message_id,
    agent_id,
    role = null,
    content = null,
    tool_calls: calls = [],
    tool_call_id = null,
  } = record;
  const link = record[format === 'session-v1' ? 'utterance_ref' : 'substance'] ?? null;
  return [
    message_id,
    agent_id,
    role,
    content,
    (calls as JsonObject[]).map(({ id }) => id),
    tool_call_id,
    link,
  ];
}

/** Writers with a fault. */
const mutants: readonly (readonly [string, Write])[] = [
  [
    'writes a line with the first block of an answer',
    (format, isExtended) => {
      const events: CapturedEvent[] = [];
      let count = 0;
      const linesOf = () => {
        const lines = sessionFormats[format]
          .write(events, { isExtended })
          .text.split(/(?<=\n)/)
          .filter(Boolean);
        const more = lines.slice(count);
        count = lines.length;
        return more;
      };
      return {
        add(event) {
          events.push(event);
          return linesOf();
        },
        finish: linesOf,
      };
    },
  ],
  [
    'waits for the end of the log',
    (format, isExtended) => {
      const writer = write(format, isExtended);
      const lines: string[] = [];
      return {
        add(event) {
          lines.push(...writer.add(event));
          return [];
        },
        finish: () => [...lines, ...writer.finish()],
      };
    },
  ],
  [
    'ends an answer with the result of one of its calls',
    (format, isExtended) => {
      const writer = write(format, isExtended);
      const messages = new Map<string, string>();
      return {
        add(event) {
          const { toolCallId } = event.data;
          if (event.type === 'agent:tool_call') messages.set(String(toolCallId), event.messageId ?? event.id);
          const messageId = event.type === 'agent:tool_result' ? messages.get(String(toolCallId)) : undefined;
          const end =
            messageId === undefined
              ? []
              : writer.add({ ...event, id: `${event.id}:end`, type: 'agent:inference', messageId });
          return [...end, ...writer.add(event)];
        },
        finish: () => writer.finish(),
      };
    },
  ],
  [
    'does not see that an answer has ended',
    (format, isExtended) => {
      const writer = write(format, isExtended);
      return {
        add: (event) => (event.type === 'agent:inference' ? [] : writer.add(event)),
        finish: () => writer.finish(),
      };
    },
  ],
  [
    'forgets the last answer',
    (format, isExtended) => {
      const writer = write(format, isExtended);
      return { add: (event) => writer.add(event), finish: () => writer.finish().slice(0, -1) };
    },
  ],
  [
    'numbers each line by itself',
    (format, isExtended) => {
      const writer = write(format, isExtended);
      let count = 1;
      const renumbered = (lines: readonly string[]) =>
        lines.map((line) => {
          count += 1;
          return line.replace(/msg_\d+/, `msg_${String(count).padStart(3, '0')}`);
        });
      return { add: (event) => renumbered(writer.add(event)), finish: () => renumbered(writer.finish()) };
    },
  ],
];

describe(`a session log that is written while it is recorded (HANSARD_SEED=${seed})`, () => {
  it.each(formats)(
    'of %s has each line once, as soon as nothing can change it, in 40 runs of several agents',
    (format) => {
      for (const [at, run] of runs.entries())
        for (const isExtended of [false, true])
          expect(problemOf(run, format, isExtended, write), `run ${at}`).toBeNull();
      const answers = runs.flatMap(({ lines }) => lines).filter(({ calls }) => calls.length > 1);
      expect(answers.length).toBeGreaterThan(100);
    },
  );

  it.each(mutants)('fails this comparison if its writer %s', (_, create) => {
    expect(runs.some((run) => formats.some((format) => problemOf(run, format, false, create) !== null))).toBe(
      true,
    );
  });
});

/** What writes lines to a file. */
type OpenLines = (path: string) => Pick<LineFile, 'write' | 'flush' | 'assertEnd' | 'close'>;
const openLines: OpenLines = (path) => new LineFile(path);

/**
 * Writes lines with a writer that is stopped again and again, each time with a file of any length that a kill can leave. Returns what is wrong.
 */
function problemOfFile(
  folder: string,
  lines: readonly string[],
  random: () => number,
  open: OpenLines,
): string | null {
  const path = join(folder, `${Math.floor(random() * 1e9)}.jsonl`);
  const whole = Buffer.from(lines.join(''));
  writeFileSync(path, '');
  for (let kills = 0; kills < 8; kills += 1) {
    const file = open(path);
    const count = Math.floor(random() * lines.length);
    for (const line of lines.slice(0, count)) {
      file.write(line);
      if (random() < 0.7) file.flush();
    }
    file.close();
    const written = readFileSync(path);
    if (!whole.subarray(0, written.length).equals(written))
      return `after ${kills} kills: ${written.length} bytes are not the beginning`;
    // A kill in the middle of a write leaves its beginning.
    const next = whole.subarray(written.length, written.length + Math.floor(random() * 200));
    if (random() < 0.6) appendFileSync(path, next);
  }
  const file = open(path);
  for (const line of lines) file.write(line);
  file.assertEnd();
  file.close();
  return readFileSync(path).equals(whole) ? null : 'the file at the end is another one';
}

/** Files with a fault, which append what is missing. */
const fileMutants: readonly (readonly [string, (text: string) => { keep: string; skip: number }])[] = [
  [
    'doubles the lines that are there',
    (text) => ({ keep: text.slice(0, text.lastIndexOf('\n') + 1), skip: 0 }),
  ],
  ['leaves a torn line in the middle', (text) => ({ keep: text, skip: text.split('\n').length - 1 })],
  [
    'takes a torn line for a whole one',
    (text) => ({ keep: text, skip: text.split('\n').filter(Boolean).length }),
  ],
  [
    'loses a line',
    (text) => ({ keep: text.slice(0, text.lastIndexOf('\n') + 1), skip: text.split('\n').length }),
  ],
];

describe('the file of lines that is written again after a kill', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hansard-lines-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const texts = runs.slice(0, 20).map(({ events }) => sessionFormats['session-v2'].write(events).text);
  const linesOf = (text: string) => text.split(/(?<=\n)/);
  const problems = (open: OpenLines) =>
    texts.flatMap((text, at) => problemOfFile(folder, linesOf(text), randomFrom(seed + at), open) ?? []);

  it(`has each line once and whole, whatever the kills left (HANSARD_SEED=${seed})`, () => {
    expect(problems(openLines)).toEqual([]);
  });

  it.each(fileMutants)('fails this comparison if it %s', (_, begin) => {
    const open: OpenLines = (path) => {
      const { keep, skip } = begin(readFileSync(path, 'utf8'));
      writeFileSync(path, keep);
      let at = 0;
      return {
        write(line) {
          at += 1;
          if (at > skip) appendFileSync(path, line);
        },
        flush() {},
        assertEnd() {},
        close() {},
      };
    };
    expect(problems(open)).not.toEqual([]);
  });

  it.each([
    ['other lines', '{"a":1}\n'],
    ['one line without an end', 'my notes'],
    ['more lines', `${texts[0]}{"a":1}\n`],
  ])('is never changed if it has %s', (_, text) => {
    const path = join(folder, 'other.jsonl');
    writeFileSync(path, text);
    const file = new LineFile(path);
    expect(() => {
      for (const line of linesOf(texts[0] ?? '')) file.write(line);
      file.assertEnd();
    }).toThrow(expect.objectContaining({ code: 'FORMAT_FILE_DIFFERS' }));
    file.close();
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

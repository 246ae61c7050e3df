import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fidelity } from '@hansard/events';
import { formatErrors } from '@hansard/events';
import type { RecordedActivities } from '@hansard/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { type ClaudeActivity, readClaudeStream } from '../../src/index.ts';
import { readLines } from '../../src/lines/read-lines.ts';
import { splitRecords } from '../../src/lines/split-records.ts';
import { ofType, recorded, result, start, user } from '../messages/mapped.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-claude-stream-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function fileOf(content: string | Uint8Array): string {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  writeFileSync(path, content);
  return path;
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const replay = (content: string | Uint8Array, fidelity?: Fidelity) => readAll(fileOf(content), fidelity);

async function readAll(path: string, fidelity: Fidelity = 'full'): Promise<RecordedActivities> {
  const activities: ClaudeActivity[] = [];
  const signal = new AbortController().signal;
  for await (const some of readClaudeStream(path, fidelity, () => start, signal)) activities.push(...some);
  return recorded(activities);
}

async function typesOf(content: string | Uint8Array): Promise<string[]> {
  return (await replay(content)).events.map(({ type }) => type);
}

describe('damaged lines', () => {
  it('a line that is not JSON is kept with file and line, and the rest is read', async () => {
    const path = fileOf(`${line(user('a'))}# a comment\n\n${line(user('b'))}${line(result())}`);
    const { events } = await readAll(path);
    expect(events.map(({ type }) => type)).toEqual([
      'user:message',
      'system:notice',
      'user:message',
      'session:complete',
    ]);
    expect(events[1]?.data).toEqual({ problem: 'not JSON', file: path, line: 2, raw: '# a comment' });
  });

  it('a line that is not JSON keeps its place in a narrative, and loses its content', async () => {
    const { events } = await replay(`${line(user('a'))}{"stdout":"SECRET${line(result())}`, 'narrative');
    expect(events[1]?.data).toMatchObject({ line: 2, problem: expect.any(String) });
    expect(JSON.stringify(events)).not.toContain('SECRET');
  });

  it('two records on one line are two messages', async () => {
    const both = line(user('a')).trimEnd() + line(result());
    expect(await typesOf(both)).toEqual(['user:message', 'session:complete']);
  });

  it('a truncated record and the whole one after it are separated', async () => {
    const stub = '{"type":"pr-link","url":"x","prNu';
    const { events } = await replay(`${stub}${line(user('a {"b"', { uuid: 'u1' }))}${line(result())}`);
    expect(events.map(({ type }) => type)).toEqual(['system:notice', 'user:message', 'session:complete']);
    expect(events[0]?.data.raw).toBe(stub);
  });

  it('an object nested in a truncated record is not a message', async () => {
    const cut = JSON.stringify(
      user([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ).slice(0, -60);
    expect(await typesOf(`${line(user('a'))}${line(result())}${cut}`)).toEqual([
      'user:message',
      'session:complete',
      'system:notice',
    ]);
  });

  it('blocks of NUL bytes are reported and skipped', async () => {
    const nul = '\0'.repeat(700);
    const { events } = await replay(`${line(user('a'))}${nul}${line(user('b'))}${line(result())}${nul}`);
    expect(ofType(events, 'user:message').map(({ data }) => data.text)).toEqual(['a', 'b']);
    expect(ofType(events, 'system:notice').map(({ data }) => data.problem)).toEqual([
      expect.stringContaining('700 NUL bytes'),
      expect.stringContaining('700 NUL bytes'),
    ]);
  });

  it('millions of NUL bytes on one line are reported quickly', () => {
    const began = performance.now();
    expect(splitRecords('\0'.repeat(80_000_000))).toEqual([
      { kind: 'damaged', problem: '80000000 NUL bytes, as after a crash' },
    ]);
    // A machine that is busy with something else takes several times as long.
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('a byte order mark, CRLF, U+2028 in a text and a missing last line end change nothing', async () => {
    const content = `\uFEFF${JSON.stringify(user('a\u2028b'))}\r\n\r\n${JSON.stringify(result())}`;
    const { events } = await replay(content);
    expect(events.map(({ data }) => data.text ?? data.result)).toEqual(['a\u2028b', 'done']);
  });

  it('bytes that are not UTF-8 are reported', async () => {
    const bytes = Buffer.from(`${line(user('a?'))}${line(result())}`);
    bytes[bytes.indexOf('?')] = 0xff;
    const { events } = await replay(bytes);
    expect(events[0]?.data.problem).toContain('not UTF-8');
    expect(events[1]?.data.text).toBe('a\uFFFD');
  });

  it('a long damaged line is cut at 16 KB, with its length', async () => {
    const { events } = await replay(`${line(user('a'))}${'x'.repeat(100_000)}\n`);
    expect(events[1]?.data).toMatchObject({ line: 2, rawBytes: 100_000, raw: 'x'.repeat(16 * 1024) });
  });

  // Trying each object as the start of a record would take minutes.
  it('a long broken line full of objects is abandoned quickly', { timeout: 60_000 }, async () => {
    const broken = `{"a":[${'{"b":{"c":1}},'.repeat(200_000)}`;
    const began = performance.now();
    expect(await typesOf(`${broken}\n${line(result())}`)).toEqual(['system:notice', 'session:complete']);
    expect(performance.now() - began).toBeLessThan(50_000);
  });

  it('a line above the limit is skipped without being held in memory', async () => {
    const path = fileOf(`short\n${'x'.repeat(300_000)}\nlast`);
    const lines = [];
    for await (const { number, text, bytes, isTooLong } of readLines(path, 100_000)) {
      lines.push([number, text.length, bytes, isTooLong]);
    }
    expect(lines).toEqual([
      [1, 5, 5, false],
      [2, 16 * 1024, 300_000, true],
      [3, 4, 4, false],
    ]);
  });

  it('a truncated stream is reported', async () => {
    const { events } = await replay(line(user('a')));
    expect(events.at(-1)).toMatchObject({
      type: 'system:notice',
      data: { problem: 'the stream ends without a result' },
    });
  });
});

describe('files that are not streams', () => {
  it.each([
    ['FORMAT_EMPTY', ''],
    ['FORMAT_EMPTY', '\n \n'],
    ['FORMAT_NOT_JSONL', 'hello\nworld\n'],
    ['FORMAT_NOT_JSONL', JSON.stringify({ type: 'assistant', message: {} }, null, 2)],
    ['FORMAT_NOT_JSONL', '[{"type":"assistant"}]'],
    ['FORMAT_NOT_JSONL', '\0'.repeat(100)],
  ] as const)('%s: %j', async (code, content) => {
    const error = await replay(content).catch((reason: unknown) => reason);
    expect(formatErrors.is(error, code)).toBe(true);
    expect(String(error)).toContain(folder);
  });

  it.each([
    ['a missing file', () => join(folder, 'missing.jsonl')],
    ['a folder', () => folder],
  ])('FORMAT_UNREADABLE: %s', async (_, path) => {
    const error = await readAll(path()).catch((reason: unknown) => reason);
    expect(formatErrors.is(error, 'FORMAT_UNREADABLE')).toBe(true);
    expect((error as Error).cause).toBeInstanceOf(Error);
  });
});

describe('times of a replay', () => {
  const timed = (text: string, timestamp?: string) =>
    line(user(text, timestamp === undefined ? {} : { timestamp }));

  it('messages without a time have none', async () => {
    const { events } = await replay(
      timed('a') +
        timed('b', '2026-01-01T00:00:05.000Z') +
        timed('c', '2026-01-01T00:00:03.000Z') +
        timed('d') +
        line(result()),
    );
    expect(events.map(({ timestamp }) => timestamp?.slice(17, 19) ?? null)).toEqual([
      null,
      '05',
      '03',
      null,
      null,
    ]);
  });

  it('a file without times gets the time of the replay', async () => {
    const { events } = await replay(timed('a') + line(result()));
    expect(events.map(({ timestamp }) => Date.parse(timestamp ?? ''))).toEqual([start, start]);
  });
});

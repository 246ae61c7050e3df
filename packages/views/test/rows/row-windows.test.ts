import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import { type Row, RowReader, rowsOf, rowWords, wordsLine } from '../../src/index.ts';
import { rowText } from '../../src/rows/row-line.ts';
import { RandomLog } from './random-log.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 30));
const seeded = `(HANSARD_SEED=${seed})`;
const logs = Array.from({ length: 30 }, (_, at) => new RandomLog(randomFrom(seed + at), 80));
const reach = 12;

/** The rows that begin in a part of a log, read with `before` events before it and `after` events after it. */
function windowOf({ events }: RandomLog, from: number, to: number, before: number, after: number): Row[] {
  const first = Math.max(0, from - before);
  const reader = new RowReader({ events: reach, first, agents: events.slice(0, first) });
  for (const event of events.slice(first, to + after)) reader.add(event);
  return reader.end().filter(({ position }) => position >= from && position < to);
}

/** What differs between rows in windows and the same rows of the whole log; the division of noise apart. */
function differences(before: number, after: number): number {
  let count = 0;
  for (const log of logs) {
    const whole = rowsOf(log.events, { events: reach }).map((row) => JSON.stringify(row));
    const isNoise = (line: string) => line.includes('"kind":"noise"');
    const parts: string[] = [];
    for (let from = 0; from < log.events.length; from += 10)
      parts.push(...windowOf(log, from, from + 10, before, after).map((row) => JSON.stringify(row)));
    const shown = new Set(parts.filter((line) => !isNoise(line)));
    const expected = new Set(whole.filter((line) => !isNoise(line)));
    count += [...shown].filter((line) => !expected.has(line)).length;
    count += [...expected].filter((line) => !shown.has(line)).length;
  }
  return count;
}

it(`rows of a window are those of the whole log if it is read as far as rows reach ${seeded}`, () => {
  expect(differences(2 * reach, reach)).toBe(0);
  // The comparison notices a window that is too narrow.
  expect(differences(0, reach)).toBeGreaterThan(20);
  expect(differences(2 * reach, 0)).toBeGreaterThan(20);
});

it(`a row on one line has no line break and no control, and is no longer than asked ${seeded}`, () => {
  let cut = 0;
  for (const row of logs.flatMap(({ events }) => rowsOf(events))) {
    const { head, text, outcome, notes } = wordsLine(rowWords(row), 40);
    for (const piece of [head, text, outcome, notes]) {
      expect(piece).not.toMatch(/\p{Cc}/u);
      expect([...piece].length).toBeLessThanOrEqual(40);
      if (piece.endsWith('…')) cut += 1;
    }
    expect(outcome === '').toBe((row.call?.outcome ?? []).length === 0);
    const { text: whole } = wordsLine(rowWords(row), 1_000);
    if (row.kind === 'said') expect(rowText(row).replaceAll('\n', '⏎')).toContain(whole);
  }
  expect(cut).toBeGreaterThan(100);
});

it('a row on one line shows an edit by its size, who received it, and what a search finds in it', () => {
  const links = { agentId: 'a1' };
  const base = { timestamp: '2026-01-01T00:00:00.000Z', sequence: 0 };
  const input = { file_path: 'a.ts', old_string: 'one\ntwo', new_string: 'one\nthree\u202e' };
  const [edit] = rowsOf([
    {
      ...base,
      ...links,
      id: 'e1',
      type: 'agent:tool_call',
      data: { tool: 'Edit', target: 'a.ts', toolCallId: 'c1', metadata: {}, input },
    },
    {
      ...base,
      ...links,
      id: 'e2',
      type: 'agent:tool_result',
      data: { tool: 'Edit', toolCallId: 'c1', metadata: {}, status: 'completed', output: 'done\nwell' },
    },
  ] as never);
  if (edit === undefined) throw new Error('There is no row.');
  expect(wordsLine(rowWords(edit), 80)).toEqual({
    agent: 'a1',
    word: 'call',
    status: '',
    head: 'Edit a.ts',
    text: expect.stringContaining('+1 -1  + three<U+202E>'),
    outcome: 'done⏎well',
    notes: '',
  });
  for (const found of ['two', 'three', 'well', 'Edit a.ts']) expect(rowText(edit)).toContain(found);
});

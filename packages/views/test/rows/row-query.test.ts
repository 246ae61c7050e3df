import type { CapturedEvent, JsonValue } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type Row, RowQuery, RowReader, rowKinds, rowsOf } from '../../src/index.ts';
import { rowText } from '../../src/rows/row-line.ts';
import { RandomLog } from './random-log.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 30));
const seeded = `(HANSARD_SEED=${seed})`;

/** Put into the words of a log: what JSON, the neutralising of controls and lower case change. */
const odd = [
  '\n',
  '\t',
  '"',
  '\\',
  '\u0001',
  '\u202e',
  '\r\n',
  'İ',
  '\u212a',
  'Σ',
  '\ud800',
  'é',
  'n',
  'DEAD',
];

/** The same log, with odd characters in the words of its texts. */
function withOddWords(events: readonly CapturedEvent[], random: () => number): CapturedEvent[] {
  const pick = () => odd[Math.floor(random() * odd.length)] ?? '';
  const change = (value: JsonValue | undefined): JsonValue | undefined => {
    if (typeof value === 'string')
      return value.replaceAll(
        /word(?=\d)/g,
        () => `wo${pick()}rd${pick()}${random() < 0.3 ? 'FAILED' : ''}x`,
      );
    if (Array.isArray(value)) return value.map((item) => change(item) ?? null);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, change(field)]));
  };
  return events.map((event) => ({ ...event, data: change(event.data) }) as CapturedEvent);
}

const logs = Array.from({ length: 12 }, (_, at) => {
  const random = randomFrom(seed + at);
  const { events } = new RandomLog(random, 40);
  const named = events.flatMap(({ agentId }) => agentId ?? []).slice(0, 1);
  const created = named.map((agentId, number) => ({
    id: `created-${number}`,
    type: 'agent:created',
    timestamp: '2026-01-01T00:00:00.000Z',
    agentId,
    data: { name: 'Zoë Kelvin', languageModel: 'm' },
  }));
  return [...created, ...withOddWords(events, random)] as CapturedEvent[];
});

function found(events: readonly CapturedEvent[], query: RowQuery): number[] {
  const reader = new RowReader();
  const rows: Row[] = [];
  for (const event of events) {
    reader.add(event);
    rows.push(...reader.settled(query));
  }
  return [...rows, ...reader.end(query)].map(({ position }) => position);
}

/** Rows are made for these alone. */
function made(events: readonly CapturedEvent[], query: RowQuery): number {
  let count = 0;
  const counting = new Proxy(query, {
    get: (target, name) => {
      if (name !== 'matches') return name === 'couldMatch' ? target.couldMatch.bind(target) : undefined;
      return (row: Row) => {
        count += 1;
        return target.matches(row);
      };
    },
  });
  found(events, counting);
  return count;
}

const positionsOf = (rows: readonly Row[], isWanted: (row: Row) => boolean) =>
  rows.filter(isWanted).map(({ position }) => position);

describe('a query of rows', () => {
  it(`finds every row that shows a text, whatever part of it is looked for ${seeded}`, () => {
    const random = randomFrom(seed);
    let hits = 0;
    for (const events of logs) {
      const rows = rowsOf(events);
      const texts = rows.map((row) => rowText(row).toLowerCase());
      for (const whole of texts.filter(() => random() < 0.5)) {
        const from = Math.floor(random() * whole.length);
        const text = whole.slice(from, from + 1 + Math.floor(random() * 14));
        const expected = positionsOf(rows, (_) => true).filter((_, at) => texts[at]?.includes(text));
        const upper = text.toUpperCase();
        const asked = random() < 0.5 && upper.toLowerCase() === text ? upper : text;
        expect(found(events, new RowQuery({ text: asked })), JSON.stringify(asked)).toEqual(expected);
        hits += expected.length;
      }
    }
    expect(hits).toBeGreaterThan(300);
  });

  it(`finds rows by agent, kind and failure ${seeded}`, () => {
    for (const events of logs) {
      const rows = rowsOf(events);
      expect(found(events, new RowQuery({ failed: true }))).toEqual(positionsOf(rows, (row) => row.isFailed));
      for (const kind of rowKinds)
        expect(found(events, new RowQuery({ kind }))).toEqual(positionsOf(rows, (row) => row.kind === kind));
      for (const agentId of ['', 'ann', 'ben', 'none'])
        expect(found(events, new RowQuery({ agentId }))).toEqual(
          positionsOf(rows, ({ agent }) => agent.agentId === agentId),
        );
    }
  });

  it(`finds the rows that begin in a range, and makes no others ${seeded}`, () => {
    const random = randomFrom(seed + 1);
    for (const events of logs)
      for (let round = 0; round < 5; round += 1) {
        const from = Math.floor(random() * (events.length + 2));
        const to = from + Math.floor(random() * 20);
        const expected = positionsOf(rowsOf(events), ({ position }) => position >= from && position < to);
        expect(found(events, new RowQuery({ from, to }))).toEqual(expected);
        expect(made(events, new RowQuery({ from, to }))).toBe(expected.length);
      }
  });

  it(`makes few rows that do not match ${seeded}`, () => {
    const count = (query: RowQuery) => logs.reduce((sum, events) => sum + made(events, query), 0);
    const all = logs.reduce((sum, events) => sum + rowsOf(events).length, 0);
    const others = logs
      .flatMap((events) => rowsOf(events))
      .filter(
        ({ kind, decisions, folded }) => kind === 'event' || kind === 'noise' || decisions || folded,
      ).length;
    expect(count(new RowQuery({ text: 'nowhere in it' }))).toBeLessThan(others + all / 10);
    expect(count(new RowQuery({ kind: 'call' }))).toBe(
      logs.flatMap((events) => rowsOf(events)).filter(({ kind }) => kind === 'call').length,
    );
    expect(count(new RowQuery({ failed: true }))).toBeLessThan(all / 2);
    expect(count(new RowQuery({ agentId: 'none' }))).toBe(0);
  });
});

import type { CapturedEvent } from '@hansard/events';
import { anyEvent, envelope } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  renderTimeline,
  spanText,
  type TimelineRow,
  type TimelineSource,
  taskTimeline,
} from '../../src/index.ts';
import { calls, created, receives } from '../market-log.ts';

const events = [
  created('e1', 'ben', 'Ben'),
  calls('e2', 'ben', 'c1', 'look', { shelf: 2 }),
  receives('e3', 'ben', 'c1', 'Three\nloaves'),
  anyEvent('weather:rain', { drops: 3 }),
];

function sourceOf(
  log: readonly CapturedEvent[],
  changes: Parameters<typeof envelope>[0] = {},
): TimelineSource {
  return { envelope: envelope(changes), pages: () => [log.slice(0, 2), log.slice(2)] };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

describe('the timeline of one dispatch', () => {
  it('has every event in order, of any type, with the names of agents', async () => {
    const rows = await all(taskTimeline([sourceOf(events)]));
    expect(
      rows.map(({ position, words }) => [position, spanText(words, 'agent'), spanText(words, 'word')]),
    ).toEqual([
      [0, 'Ben', 'created'],
      [1, 'Ben', 'call'],
      [2, 'Ben', 'result'],
      [3, '', 'weather:rain'],
    ]);
  });

  it('has the names that events gave which do not pass', async () => {
    const passes = ({ type }: CapturedEvent) => type === 'agent:tool_result';
    const rows = await all(taskTimeline([{ ...sourceOf(events), passes }]));
    expect(rows.map(({ position, words }) => [position, spanText(words, 'agent')])).toEqual([[2, 'Ben']]);
  });

  it('is printed as a line for each event, fitted to the width, after the day', async () => {
    const lines = async (width?: number) => all(renderTimeline(taskTimeline([sourceOf(events)]), { width }));
    expect(await lines()).toEqual([
      '2026-03-01',
      '   0  09:30:00  (Ben)  created   Ben',
      '   1  09:30:00  (Ben)  call      look  {"shelf":2}',
      '   2  09:30:00  (Ben)  result    talk  completed  Three⏎loaves',
      '   3  09:30:00  weather:rain  {"drops":3}',
    ]);
    expect((await lines(30))[3]).toHaveLength(30);
  });

  it('prints each day before its first event', async () => {
    const at = (timestamp: string) => ({ ...anyEvent('weather:rain', { drops: 3 }), timestamp });
    const days = ['2026-03-01T23:59:00.000Z', '2026-03-02T00:01:00.000Z', '2026-03-02T00:02:00.000Z'];
    expect(await all(renderTimeline(taskTimeline([sourceOf(days.map(at))])))).toEqual([
      '2026-03-01',
      '   0  23:59:00  weather:rain  {"drops":3}',
      '2026-03-02',
      '   1  00:01:00  weather:rain  {"drops":3}',
      '   2  00:02:00  weather:rain  {"drops":3}',
    ]);
  });

  it('is named in each line where there are several', async () => {
    const both = [
      sourceOf(events.slice(0, 1), { role: 'tester', dispatchId: 'D1' }),
      sourceOf(events.slice(3), { role: 'coder', dispatchId: 'D2' }),
    ];
    expect(await all(renderTimeline(taskTimeline(both), { role: ({ role }) => role }))).toEqual([
      '2026-03-01',
      '   0  09:30:00  tester  (Ben)  created   Ben',
      '   0  09:30:00  coder  weather:rain  {"drops":3}',
    ]);
  });
});

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** A generator of whole numbers below a limit. */
function randomFrom(start: number): (limit: number) => number {
  let state = start;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const minutes = (count: number) => new Date(Date.UTC(2026, 2, 1) + count * 60_000).toISOString();

/** Up to 6 dispatches, with gaps between them and overlaps. `back`: minutes by which a clock goes back now and then. */
function randomLogs(random: (limit: number) => number, back: number): Map<string, CapturedEvent[]> {
  const logs = new Map<string, CapturedEvent[]>();
  for (let at = random(6); at >= 0; at -= 1) {
    let time = 100 + random(60);
    const log = Array.from({ length: random(12) }, () => {
      time += random(4) === 0 ? -random(back + 1) : random(4);
      return { ...anyEvent('agent:text', { text: '' }), timestamp: minutes(time) };
    });
    logs.set(`D${at}`, log);
  }
  return logs;
}

/** A source that counts how many dispatches are open. */
function counting(
  dispatchId: string,
  log: readonly CapturedEvent[],
  counts: { open: number; most: number },
): TimelineSource {
  const startedAt = log.map(({ timestamp }) => timestamp).sort()[0] ?? minutes(0);
  return {
    envelope: envelope({ dispatchId, startedAt }),
    async *pages() {
      counts.open += 1;
      counts.most = Math.max(counts.most, counts.open);
      try {
        for (const event of log) yield [event];
      } finally {
        counts.open -= 1;
      }
    },
  };
}

const placeOf = ({ dispatchId, position }: TimelineRow) => `${dispatchId}:${position}`;

describe(`random timelines (HANSARD_SEED=${seed})`, () => {
  it('are in the order of time, then dispatch, then position, and close what they open', async () => {
    const random = randomFrom(seed);
    for (let round = 0; round < 300; round += 1) {
      const logs = randomLogs(random, 0);
      const counts = { open: 0, most: 0 };
      const rows = await all(taskTimeline([...logs].map(([id, log]) => counting(id, log, counts))));
      const expected = [...logs]
        .flatMap(([id, log]) => log.map(({ timestamp }, position) => ({ id, timestamp, position })))
        .sort(
          (a, b) =>
            Date.parse(a.timestamp ?? '') - Date.parse(b.timestamp ?? '') ||
            (a.id < b.id ? -1 : a.id > b.id ? 1 : a.position - b.position),
        )
        .map(({ id, position }) => `${id}:${position}`);
      expect(rows.map(placeOf)).toEqual(expected);
      expect(counts.open).toBe(0);
    }
  });

  it('have every event once, those of a dispatch in its order, where clocks go back', async () => {
    const random = randomFrom(seed + 1);
    for (let round = 0; round < 300; round += 1) {
      const logs = randomLogs(random, 30);
      const rows = await all(
        taskTimeline([...logs].map(([id, log]) => counting(id, log, { open: 0, most: 0 }))),
      );
      for (const [id, log] of logs)
        expect(rows.filter(({ dispatchId }) => dispatchId === id).map(({ event }) => event)).toEqual(log);
      expect(rows).toHaveLength([...logs.values()].flat().length);
    }
  });

  it('open no dispatch before its time, and close all when the reader stops', async () => {
    const counts = { open: 0, most: 0 };
    const day = (start: number) =>
      Array.from({ length: 5 }, (_, at) => ({
        ...anyEvent('agent:text', { text: '' }),
        timestamp: minutes(start + at),
      }));
    const sources = Array.from({ length: 50 }, (_, at) => counting(`D${at}`, day(at * 10), counts));
    expect(await all(taskTimeline(sources.toReversed()))).toHaveLength(250);
    expect(counts).toEqual({ open: 0, most: 1 });
    for await (const { dispatchId } of taskTimeline(sources)) if (dispatchId === 'D7') break;
    expect(counts.open).toBe(0);
  });
});

import { utimesSync } from 'node:fs';
import { type DispatchStore, openDispatchStore, usageOf } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, JsonObject } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const task = 'lab/tasks/untimed';
const hour = 3_600_000;
const someday = Date.parse('2026-03-01T09:30:00.000Z');
const seeds =
  process.env.HANSARD_SEED === undefined ? [1, 2, 3, 4, 5, 6] : [Number(process.env.HANSARD_SEED)];

type Random = () => number;

const below = (random: Random, limit: number) => Math.floor(random() * limit);

/** A random log of a session: agents, messages, calls and their results, and lines that no dialect knows. */
function randomLog(random: Random, isNewer: boolean): JsonObject[] {
  const cause = isNewer ? 'cause' : 'caused_by';
  const records: JsonObject[] = [
    { message_id: 'm0', event_type: 'agent_created', agent_id: 'a0', language_model: 'test/small' },
  ];
  let agents = 1;
  for (let at = 1; at < 12 + below(random, 20); at += 1) {
    const agent_id = `a${below(random, agents)}`;
    const kindOfLine = isNewer ? { event_type: 'transcript_entry' } : {};
    const entry = { message_id: `m${at}`, ...kindOfLine, agent_id };
    const kind = below(random, 5);
    if (kind === 0) records.push({ ...entry, role: 'user', content: `Question ${at}.` });
    else if (kind === 1) records.push({ ...entry, role: 'assistant', content: `Answer ${at}.` });
    else if (kind === 2) {
      const call = { id: `k${at}`, type: 'function', function: { name: 'look', arguments: '{}' } };
      records.push({ ...entry, role: 'assistant', content: null, tool_calls: [call] });
      records.push({
        ...entry,
        ...{ message_id: `m${at}r`, role: 'tool', tool_call_id: `k${at}`, name: 'look', content: 'Seen.' },
      });
    } else if (kind === 3) {
      records.push({
        ...{ message_id: `m${at}`, event_type: 'agent_created', agent_id: `a${agents}` },
        [cause]: 'm0',
      });
      agents += 1;
    } else records.push({ ...entry, event_type: 'mood_swing', level: at });
  }
  return records;
}

interface Imported {
  readonly events: readonly CapturedEvent[];
  readonly envelope: DispatchEnvelope;
}

/** What a store has of the only session after an import at a time of the clock. */
async function imported(store: DispatchStore, path: string, clock: number, as: string): Promise<Imported> {
  await importAll(store, [path], { task, as, now: () => clock });
  const [envelope] = await store.getDispatchEnvelopes(task);
  if (envelope === undefined) throw new Error('Nothing was imported.');
  return { envelope, events: await store.getDispatchEvents(task, envelope.dispatchId) };
}

/** Without the facts of the file, whose time of change differs. */
const facts = ({ source: _, ...envelope }: DispatchEnvelope) => envelope;

describe.each(['session-v1', 'session-v2'])('a %s log, which has no times', (as) => {
  it.each(seeds)(
    'gives no event and no envelope a time, imported once or after each record: seed %d',
    async (seed) => {
      const records = randomLog(randomFrom(seed), as === 'session-v2');
      using folder = new LogFolder();
      await using once = openDispatchStore(createMemoryStore());
      await using grown = openDispatchStore(createMemoryStore());
      const path = folder.put('s.jsonl', lines(...records));
      const whole = await imported(once, path, someday, as);
      let last = whole;
      for (let count = 1; count <= records.length; count += 1) {
        folder.put('s.jsonl', lines(...records.slice(0, count)));
        last = await imported(grown, path, someday + count * hour, as);
        expect(last.events).toEqual(whole.events.slice(0, last.events.length));
      }
      expect(last.events).toEqual(whole.events);
      expect(facts(last.envelope)).toEqual(facts(whole.envelope));
      expect(new Set(whole.events.map(({ timestamp }) => timestamp))).toEqual(new Set([null]));
      expect(whole.envelope).toMatchObject({ startedAt: null, completedAt: null, status: 'completed' });
    },
  );
});

describe('a game log with times on some of its lines', () => {
  it.each(seeds)('gives each event the time of its own line, or none: seed %d', async (seed) => {
    const random = randomFrom(seed);
    const said = Array.from({ length: 30 }, (_, at) => ({
      ...(random() < 0.5 ? { timestamp: new Date(someday + at * 1_000).toISOString() } : {}),
      ...{ turn: 'Day 1', speaker: `P${below(random, 3)}`, message: `Saying ${at}.` },
    }));
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('chat.jsonl', lines(...said));
    const { events, envelope } = await imported(store, path, someday + 9 * hour, 'game-log');
    const times = new Map(said.map(({ timestamp = null, message }) => [message, timestamp]));
    const texts = events.filter(({ type }) => type === 'agent:text');
    expect(texts).toHaveLength(said.length);
    for (const { data, timestamp } of texts) expect(timestamp).toBe(times.get(String(data.text)));
    const known = said.flatMap(({ timestamp }) => timestamp ?? []);
    expect([envelope.startedAt, envelope.completedAt]).toEqual([known[0] ?? null, known.at(-1) ?? null]);
  });
});

describe('usage by day', () => {
  it.each(seeds)('adds up with what has no recorded time, and limits count that: seed %d', async (seed) => {
    const random = randomFrom(seed);
    const expected = new Map<string, number>();
    const records = Array.from({ length: 40 }, (_, at) => {
      const time = someday + at * 2 * hour;
      const isTimed = at === 0 || random() < 0.6;
      const tokens = 1 + below(random, 1_000);
      const day = isTimed ? new Date(time).toISOString().slice(0, 10) : '';
      expected.set(day, (expected.get(day) ?? 0) + tokens);
      return {
        ...(isTimed ? { timestamp: new Date(time).toISOString() } : {}),
        ...{ type: 'assistant', sessionId: 's', isSidechain: false, parentUuid: null },
        uuid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
        message: {
          ...{ id: `m${at}`, role: 'assistant', model: 'opus', stop_reason: 'end_turn' },
          content: [{ type: 'text', text: `Answer ${at}.` }],
          usage: { input_tokens: tokens, output_tokens: 0 },
        },
      };
    });
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(...records));
    utimesSync(path, someday / 1_000, someday / 1_000);
    await imported(store, path, someday + 1_000 * hour, 'claude-transcript');
    const { rows, total } = await usageOf(store, { by: ['day'], zone: 'utc' });
    expect(new Map(rows.map(({ values: [day = ''], inputTokens }) => [day, inputTokens]))).toEqual(expected);
    expect(total.inputTokens).toBe([...expected.values()].reduce((sum, tokens) => sum + tokens, 0));

    const middle = someday + below(random, 80) * hour;
    const after = await usageOf(store, { by: ['day'], zone: 'utc', since: middle });
    const before = await usageOf(store, { by: ['day'], zone: 'utc', until: middle });
    const untimed = expected.get('') ?? 0;
    for (const part of [after, before]) expect(part.untimed?.inputTokens ?? 0).toBe(untimed);
    const parts = [after.total, before.total].map(({ inputTokens }) => inputTokens ?? 0);
    expect((parts[0] ?? 0) + (parts[1] ?? 0) + untimed).toBe(total.inputTokens);
  });
});

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import {
  assistant,
  dataOf,
  fixtures,
  mapMessages,
  readMessages,
  toolResult,
  toolUse,
  user,
} from './mapped.ts';

const diagnostics: readonly JsonValue[] = [
  null,
  '',
  'x',
  '\u0000é\ud800',
  -1,
  1.5,
  1e300,
  true,
  [],
  [null],
  {},
  { type: 'text' },
  ['a', 1],
];

/** A small generator of numbers from 0 to below 1 that gives the same ones for the same seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The value with one of its parts gone or replaced by something odd. */
function damaged(value: JsonValue, random: () => number): JsonValue {
  if (typeof value !== 'object' || value === null || random() < 0.15) {
    return diagnostics[Math.floor(random() * diagnostics.length)] ?? null;
  }
  const entries = Object.entries(value);
  const chosen = Math.floor(random() * entries.length);
  const isGone = random() < 0.2;
  const changed = entries.flatMap(([key, item], index): [string, JsonValue][] => {
    if (index !== chosen) return [[key, item as JsonValue]];
    return isGone ? [] : [[key, damaged(item as JsonValue, random)]];
  });
  return Array.isArray(value) ? changed.map(([, item]) => item) : Object.fromEntries(changed);
}

const messages = readdirSync(fixtures).flatMap((name) => readMessages(join(fixtures, name)));

describe('messages that are not as they should be', () => {
  it.each([1, 2, 3, 4, 5, 6])('never throw and become events that can be recorded (seed %i)', (seed) => {
    const random = numbersFrom(seed);
    const odd = messages.map((message) => damaged(message, random));
    for (const fidelity of ['narrative', 'full'] as const) {
      const { events } = mapMessages(odd, fidelity);
      expect(events.length).toBeGreaterThan(0);
    }
  });

  it('a stream that comes a second time adds no agent, no inference and no message twice', () => {
    const once = mapMessages(messages).events;
    const twice = mapMessages([...messages, ...messages]).events;
    expect(twice).toHaveLength(once.length);
  });

  it('messages that share an id are each kept once, however often the stream holds them', () => {
    const pair = [user('a', { uuid: 'u1' }), user('b', { uuid: 'u1' })];
    const { events } = mapMessages([...pair, ...pair, ...pair]);
    expect(events.map(({ data }) => data.text)).toEqual(['a', 'b']);
  });

  it.each([990, 998, 999, 1_000, 1_500])('that nest %i deep become events that can be recorded', (depth) => {
    let deep: JsonValue = 'bottom';
    for (let level = 0; level < depth; level += 1) deep = [deep];
    const odd = [
      { type: 'system', subtype: 'new_kind', deep },
      { type: 'system', subtype: 'init', model: 'm', session_id: 's', deep },
      assistant([toolUse('t1', 'Any', { deep })]),
      user('hello', { deep }),
    ];
    for (const message of odd) {
      expect(mapMessages([message], 'narrative').events).not.toEqual([]);
      expect(JSON.stringify(mapMessages([message], 'full').events)).toContain('bottom');
    }
  });

  it('whose edit would make a file of gigabytes has no size for it', () => {
    const edit = { oldString: 'a', newString: 'b'.repeat(10_000), replaceAll: true };
    const output = { filePath: 'x', originalFile: 'a'.repeat(100_000), ...edit };
    const { events } = mapMessages([
      assistant([toolUse('t1', 'Edit', { file_path: 'x' })]),
      user([toolResult('t1', 'ok')], { tool_use_result: output }),
    ]);
    expect(dataOf(events, 'agent:tool_result').metadata).toEqual({ path: 'x', sizeBefore: 100_000 });
  });
});

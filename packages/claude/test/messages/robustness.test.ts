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

/** A small random generator from 0 to below 1, repeatable by seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The value with one of its parts removed or replaced by an unusual value. */
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

describe('malformed messages', () => {
  it.each([1, 2, 3, 4, 5, 6])('never throw and become events that can be recorded (seed %i)', (seed) => {
    const random = numbersFrom(seed);
    const odd = messages.map((message) => damaged(message, random));
    for (const fidelity of ['narrative', 'full'] as const) {
      const { events } = mapMessages(odd, fidelity);
      expect(events.length).toBeGreaterThan(0);
    }
  });

  it('a repeated stream adds no agent, inference or message again', () => {
    const once = mapMessages(messages).events;
    const twice = mapMessages([...messages, ...messages]).events;
    expect(twice).toHaveLength(once.length);
  });

  it('messages that share an id are each kept once, even if the stream repeats them', () => {
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

  it('an edit that would create a file of gigabytes gets no size', () => {
    const edit = { oldString: 'a', newString: 'b'.repeat(10_000), replaceAll: true };
    const output = { filePath: 'x', originalFile: 'a'.repeat(100_000), ...edit };
    const { events } = mapMessages([
      assistant([toolUse('t1', 'Edit', { file_path: 'x' })]),
      user([toolResult('t1', 'ok')], { tool_use_result: output }),
    ]);
    expect(dataOf(events, 'agent:tool_result').metadata).toEqual({ path: 'x', sizeBefore: 100_000 });
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { corpus, isCorpusThere, randomFrom, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder } from './logs.ts';
import { randomSession } from './random-session.ts';

const task = 'lab/tasks/orders';

/** The numbers of a value by their path. An entry of a list that names a model is under that name. */
function figuresOf(value: unknown, path = ''): [string, number][] {
  if (typeof value === 'number') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = (inner as { model?: unknown } | null)?.model;
    return figuresOf(inner, `${path}/${typeof name === 'string' ? name : key}`);
  });
}

/** Imports the first lines of a session, by file, and gives the totals that the store has then. */
async function importSnapshot(
  store: DispatchStore,
  lines: readonly { file: string; text: string }[],
): Promise<Map<string, number>> {
  using folder = new LogFolder();
  const files = new Map<string, string>();
  for (const { file, text } of lines) files.set(file, (files.get(file) ?? '') + text);
  for (const [file, text] of files) folder.put(file, text);
  const [item] = await importAll(store, [join(folder.path, 'session.jsonl')], { task });
  if (item?.kind === 'failed') throw item.error;
  const [envelope, ...others] = await store.getDispatchEnvelopes(task);
  expect(others).toEqual([]);
  return new Map(figuresOf({ usage: envelope?.usage, cost: envelope?.cost, models: envelope?.models }));
}

/** Imports eight snapshots and the whole session in random order. Gives how many imports were older than one before. */
async function importInAnyOrder(lines: readonly { file: string; text: string }[], seed: number) {
  const random = randomFrom(seed);
  await using fresh = openDispatchStore(createMemoryStore());
  const whole = await importSnapshot(fresh, lines);
  expect(whole.size).toBeGreaterThan(0);
  await using store = openDispatchStore(createMemoryStore());
  const counts = [lines.length, ...Array.from({ length: 8 }, () => 1 + Math.floor(random() * lines.length))]
    .map((count) => ({ count, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ count }) => count);
  let before = new Map<string, number>();
  let latest = 0;
  let older = 0;
  for (const count of counts) {
    const totals = await importSnapshot(store, lines.slice(0, count));
    const smaller = [...before].filter(([path, figure]) => (totals.get(path) ?? -1) < figure);
    expect(smaller, `seed ${seed}, ${count} of lines ${counts.join(', ')}`).toEqual([]);
    if (count < latest) older += 1;
    latest = Math.max(latest, count);
    before = totals;
  }
  expect(before, `seed ${seed}, lines ${counts.join(', ')}`).toEqual(whole);
  return older;
}

describe('snapshots of a growing session, imported in any order', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'never make a total smaller, and end with those of the whole (seed %i)',
    async (seed) => {
      expect(await importInAnyOrder(randomSession(seed, 80), seed)).toBeGreaterThan(0);
    },
  );

  it.skipIf(!isCorpusThere).each(['small-13-types', 'growing-1', 'growing-2', 'compacted'])(
    `never make a total of the recorded session %s smaller${skipped}`,
    async (name) => {
      const text = readFileSync(join(corpus, 'claude-transcripts', `${name}.jsonl`), 'utf8');
      const lines = text.split(/(?<=\n)/).map((line) => ({ file: 'session.jsonl', text: line }));
      expect(await importInAnyOrder(lines, 12)).toBeGreaterThan(0);
    },
  );
});

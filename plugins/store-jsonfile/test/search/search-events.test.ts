import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JsonFileDispatchStore, openJsonFileStore } from '../../src/index.ts';
import { makeEnvelope } from '../envelope.ts';

let root: string;
let store: JsonFileDispatchStore;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hansard-search-'));
  store = openJsonFileStore({ root });
});

afterEach(() => {
  store.close();
  rmSync(root, { recursive: true });
});

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** Spellings that a search must take for the same word. Written by hand, so that no code of the store decides. */
const spellings: readonly (readonly string[])[] = [
  ['cafe', 'Café', 'CAFÉ', 'cafe\u0301', 'CAFE'],
  ['bjørn', 'Bjørn', 'BJØRN'],
  ['bjorn', 'Björn'],
  ['kelvin', '\u212Aelvin', 'KELVIN'],
  ['istanbul', 'İstanbul', 'Istanbul'],
  ['σοφοσ', 'Σοφός', 'ΣΟΦΌΣ', 'σοφος'],
  ['пример', 'Пример', 'ПРИМЕР'],
  ['東京', '東京'],
  ['한국', '한국'.normalize('NFD'), '한국'],
  ['fox', 'fox', 'FOX', 'Fox', 'fóx'],
  ['foxes', 'foxes'],
  ['a1', 'A1', 'á1'],
  ['straße', 'Straße', 'STRAẞE'],
  ['x', 'X', 'x\u0323'],
];
const separators = [' ', '\n', '"', '\\', ', ', '—', '🦊', '_', '\t', '/'];
const words = spellings.map(([word]) => word ?? '');

interface Written {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly position: number;
  readonly event: CapturedEvent;
  /** The words in its text, by the first column of `spellings`. */
  readonly has: ReadonlySet<string>;
}

function writeRandomly(random: () => number): Written[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const written: Written[] = [];
  for (let task = 0; task < 3; task += 1)
    for (let dispatch = 0; dispatch < 3; dispatch += 1) {
      const [taskDir, dispatchId] = [`lab/tasks/t${task}`, `d${dispatch}`];
      store.createDispatch(taskDir, makeEnvelope(dispatchId));
      const events: CapturedEvent[] = [];
      for (let position = 0; position < 12; position += 1) {
        const has = new Set<string>();
        const parts = Array.from({ length: Math.floor(random() * 6) }, () => {
          const [word = '', ...spelled] = pick(spellings);
          has.add(word);
          return pick(spelled) + pick(separators);
        });
        const text = parts.join('');
        const data = random() < 0.5 ? { text } : { input: { list: [text, 'other'] }, signature: 'fox' };
        const minute = String(Math.floor(random() * 60)).padStart(2, '0');
        const timestamp = `2026-03-01T09:${minute}:00.000Z`;
        const event: CapturedEvent = {
          id: `e${task}-${dispatch}-${position}`,
          type: 'agent:text',
          timestamp,
          data,
        };
        events.push(event);
        written.push({ taskDir, dispatchId, position, event, has });
      }
      store.appendEvents(taskDir, dispatchId, events);
    }
  const keyOf = ({ taskDir, dispatchId, position, event }: Written) =>
    [event.timestamp, taskDir, dispatchId, String(position).padStart(4, '0')].join(' ');
  return written.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

const idsOf = (hits: readonly { readonly event: CapturedEvent }[]) => hits.map(({ event }) => event.id);

describe(`a search of files (HANSARD_SEED=${seed})`, () => {
  it.each([seed, seed + 1, seed + 2])(
    'finds what was written, in any spelling, newest last: seed %d',
    (from) => {
      const random = randomFrom(from);
      const written = writeRandomly(random);
      let found = 0;
      for (let query = 0; query < 60; query += 1) {
        const asked = Array.from({ length: 1 + Math.floor(random() * 2) }, () =>
          Math.floor(random() * words.length),
        );
        const spelled = asked.map((at) => {
          const list = spellings[at] ?? [];
          return list[Math.floor(random() * list.length)] ?? '';
        });
        const scope =
          [{}, { taskDir: 'lab/tasks/t1' }, { taskDir: 'lab/tasks/t2', dispatchId: 'd0' }][query % 3] ?? {};
        const limit = query % 2 === 0 ? 1_000 : 1 + Math.floor(random() * 5);
        const expected = written.filter(
          ({ taskDir, dispatchId, has }) =>
            asked.every((at) => has.has(words[at] ?? '')) &&
            (!('taskDir' in scope) || scope.taskDir === taskDir) &&
            (!('dispatchId' in scope) || scope.dispatchId === dispatchId),
        );
        const hits = store.searchEvents(spelled.join(' '), { ...scope, limit });
        expect([spelled, idsOf(hits)]).toEqual([spelled, idsOf(expected.slice(-limit))]);
        for (const [at, { event, position }] of hits.entries())
          expect([event, position]).toEqual([
            expected.slice(-limit)[at]?.event,
            expected.slice(-limit)[at]?.position,
          ]);
        found += hits.length;
      }
      // Otherwise nothing was tested.
      expect(found).toBeGreaterThan(50);
    },
  );

  it('finds nothing for text without a word, and in a task or dispatch that does not exist', () => {
    writeRandomly(randomFrom(seed));
    expect(store.searchEvents('… — "')).toEqual([]);
    expect(store.searchEvents('fox', { taskDir: 'lab/tasks/none' })).toEqual([]);
    expect(store.searchEvents('fox', { taskDir: 'lab/tasks/t1', dispatchId: 'none' })).toEqual([]);
  });
});

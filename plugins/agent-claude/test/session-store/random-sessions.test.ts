import { foldSessionSummary, type SessionKey, type SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { createSessionStore } from '../../src/session-store.ts';
import { newFolder, openFolder } from './open-stores.ts';

/** Set HANSARD_SEED to play one run again. */
const seeds =
  process.env.HANSARD_SEED === undefined ? [1, 2, 3, 4, 5, 6] : [Number(process.env.HANSARD_SEED)];

describe('whatever three stores on one log do to some sessions, each reads what a list would hold', () => {
  it.each(seeds)('seed %i', async (seed) => {
    const random = numbersFrom(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const root = newFolder();
    const shared = openFolder(root);
    const stores = [shared, shared, openFolder(root)].map((store) => createSessionStore({ store }));
    const keys: SessionKey[] = ['s', 'S'].flatMap((sessionId) =>
      [undefined, 'subagents/agent-1', 'subagents/agent-2'].map((subpath) => ({
        projectKey: 'p',
        sessionId,
        ...(subpath === undefined ? {} : { subpath }),
      })),
    );
    const expected = new Map<string, SessionStoreEntry[]>();

    for (let step = 0; step < 60; step += 1) {
      const key = pick(keys);
      const store = pick(stores);
      if (random() < 0.08) {
        await store.delete(key);
        for (const other of keys)
          if (other === key || (key.subpath === undefined && other.sessionId === key.sessionId))
            expected.delete(JSON.stringify(other));
        continue;
      }
      const batch = Array.from({ length: Math.floor(random() * 4) }, (_, n) => {
        const fields = {
          type: pick(['user', 'assistant', 'mode']),
          step,
          n,
          ...pick([{}, { customTitle: `${step}.${n}` }, { cwd: `/${step}` }]),
        };
        return random() < 0.7 ? { ...fields, uuid: `uuid-${Math.floor(random() * 30)}` } : fields;
      });
      await store.append(key, batch);
      for (const entry of batch) addTo(expected, JSON.stringify(key), entry);
    }

    for (const store of stores) {
      for (const key of keys)
        expect(await store.load(key)).toEqual(expected.get(JSON.stringify(key)) ?? null);
      const mains = keys.filter((key) => key.subpath === undefined && expected.has(JSON.stringify(key)));
      const summaries = await store.listSessionSummaries('p');
      expect(new Map(summaries.map(({ sessionId, data }) => [sessionId, data]))).toEqual(
        new Map(
          mains.map((key) => [
            key.sessionId,
            foldSessionSummary(undefined, key, expected.get(JSON.stringify(key)) ?? []).data,
          ]),
        ),
      );
      for (const sessionId of ['s', 'S']) {
        const parts = keys.filter((key) => key.sessionId === sessionId && expected.has(JSON.stringify(key)));
        const subpaths = parts.flatMap(({ subpath }) => subpath ?? []).sort();
        expect((await store.listSubkeys({ projectKey: 'p', sessionId })).sort()).toEqual(subpaths);
      }
    }
  });
});

function addTo(expected: Map<string, SessionStoreEntry[]>, name: string, entry: SessionStoreEntry): void {
  const entries = expected.get(name) ?? [];
  if (entry.uuid !== undefined && entries.some(({ uuid }) => uuid === entry.uuid)) return;
  expected.set(name, [...entries, entry]);
}

/** Mulberry32: numbers from 0 to below 1 that a seed determines. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

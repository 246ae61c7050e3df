import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import type { JsonFileDispatchStore } from '../src/index.ts';
import { EventIndex } from '../src/lines/stored-lines.ts';
import { makeEnvelope } from './envelope.ts';
import {
  codeOf,
  dispatchFile,
  makeEvent,
  makeEvents,
  makeRoot,
  openClaimed,
  openStore,
  taskDir,
} from './sample.ts';

describe('an event that is appended again', () => {
  it.each([
    ['ids that grow', makeEvents(1, 3_000)],
    ['ids in no order', makeEvents(1, 3_000).reverse()],
  ])('changes nothing among %s, also after the store was opened again', (_, events) => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvents(taskDir, 'd1', events);
    const { size } = statSync(dispatchFile(root, 'd1'));
    store.close();
    const again = openClaimed(root);
    for (const at of [0, 1, 1_499, 2_998, 2_999]) {
      const event = events[at] ?? makeEvent(0);
      again.appendEvent(taskDir, 'd1', event);
      expect(codeOf(() => again.appendEvent(taskDir, 'd1', { ...event, data: { text: 'other' } }))).toBe(
        'STORE_EVENT_CONFLICT',
      );
    }
    again.appendEvents(taskDir, 'd1', events.slice(100, 200));
    expect(statSync(dispatchFile(root, 'd1')).size).toBe(size);
    again.appendEvents(taskDir, 'd1', [...events.slice(-2), makeEvent(5_000), makeEvent(4_000)]);
    expect(again.getRecentEvents(taskDir, 'd1', 3)).toEqual([
      events[2_999],
      makeEvent(5_000),
      makeEvent(4_000),
    ]);
    again.appendEvent(taskDir, 'd1', makeEvent(4_000));
    expect(again.getDispatchEvents(taskDir, 'd1')).toHaveLength(3_002);
  });

  it('is found if this store appended it, even with an id below the others', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', makeEvent(10));
    store.appendEvents(taskDir, 'd1', [makeEvent(5), makeEvent(12), makeEvent(3)]);
    store.updateDispatch(taskDir, 'd1', { structuredResult: 'x'.repeat(10_000) });
    for (const id of [5, 12, 3, 10]) {
      store.appendEvent(taskDir, 'd1', makeEvent(id));
      expect(codeOf(() => store.appendEvent(taskDir, 'd1', makeEvent(id, 'other')))).toBe(
        'STORE_EVENT_CONFLICT',
      );
    }
    expect(store.getDispatchEvents(taskDir, 'd1').map(({ id }) => Number(id.slice(1)))).toEqual([
      10, 5, 12, 3,
    ]);
  });

  it('is found among stored requests and contents, whose ids have no order, and these are found, too', () => {
    const root = makeRoot();
    const named = (number: number): CapturedEvent => {
      const digest = number.toString(16).padStart(64, number % 3 === 0 ? 'f' : '0');
      const id = number % 2 === 0 ? digest : `sha256:${digest}`;
      return { ...makeEvent(number), id, type: 'request:stored', timestamp: null };
    };
    const all = Array.from({ length: 2_600 }, (_, at) => (at % 1_300 === 3 ? named(at) : makeEvent(at)));
    for (const isBatch of [false, true])
      for (const opensAgainAfter of [4, 1_304, 2_600]) {
        const dispatchId = `d-${isBatch}-${opensAgainAfter}`;
        const first = openStore(root);
        first.createDispatch(taskDir, makeEnvelope(dispatchId));
        const append = (store: JsonFileDispatchStore, events: readonly CapturedEvent[]) =>
          isBatch
            ? [...(store.appendEvents(taskDir, dispatchId, events) ?? [])]
            : events.map((event) => store.appendEvent(taskDir, dispatchId, event));
        append(first, all.slice(0, opensAgainAfter));
        first.close();
        const again = openClaimed(root, dispatchId);
        append(again, all.slice(opensAgainAfter));
        for (const at of [3, 1_303, 4, 2_599, 1_200])
          expect([at, append(again, [all[at] as CapturedEvent])]).toEqual([at, [at]]);
        expect(codeOf(() => append(again, [{ ...named(1_303), data: { text: 'other' } }]))).toBe(
          'STORE_EVENT_CONFLICT',
        );
        expect(again.getDispatchEvents(taskDir, dispatchId)).toEqual(all);
        again.close();
        expect(readFileSync(dispatchFile(root, dispatchId), 'utf8').endsWith('\n]}\n')).toBe(true);
      }
  });

  it('counts as the same with its keys in another order', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', { ...makeEvent(1), data: { a: 1, b: { c: 2, d: 3 } } });
    store.appendEvent(taskDir, 'd1', { ...makeEvent(1), data: { b: { d: 3, c: 2 }, a: 1 } });
    expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(1);
  });
});

/** Events of all sizes, some longer than one read, with ids in random order. */
function makeLog(count: number, random: () => number): CapturedEvent[] {
  const sizes = [10, 300, 3_000, 70_000];
  return Array.from({ length: count }, (_, at) => {
    const size = at % 40 === 7 ? 300_000 : (sizes[Math.floor(random() * sizes.length)] ?? 0);
    const id = `${Math.floor(random() * 1e9).toString(36)}-${at}`;
    return { ...makeEvent(at), id, data: { text: 'aé→😀"\n'.repeat(size / 10), at } };
  });
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a log that is appended again', () => {
  it.each([1, 2, 3])('adds only its new events, in batches of any size (seed %i)', (seed) => {
    const random = randomFrom(seed);
    const log = makeLog(120, random);
    const root = makeRoot();
    let store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    for (let round = 0; round < 6; round += 1) {
      const until = Math.floor(((round + 1) / 6) * log.length);
      for (let at = 0; at < until; ) {
        const from = random() < 0.1 ? Math.floor(random() * until) : at;
        const piece = log.slice(from, Math.min(until, from + 1 + Math.floor(random() * 9)));
        store.appendEvents(taskDir, 'd1', piece);
        if (from === at) at += piece.length;
        if (random() < 0.05)
          store.updateDispatch(taskDir, 'd1', { structuredResult: 'x'.repeat(5_000 * round) });
      }
      const known = log[Math.floor(random() * until)] ?? makeEvent(0);
      const changed = { ...known, data: { ...known.data, at: -1 } };
      expect(codeOf(() => store.appendEvent(taskDir, 'd1', changed))).toBe('STORE_EVENT_CONFLICT');
      store.close();
      store = openClaimed(root);
      const stored = store.getDispatchEvents(taskDir, 'd1');
      expect(stored).toHaveLength(until);
      expect(new Set(stored.map(encodeEvent))).toEqual(new Set(log.slice(0, until).map(encodeEvent)));
    }
  });

  it('is compared without a search if its order is the same', () => {
    const log = makeLog(60, randomFrom(9));
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvents(taskDir, 'd1', log);
    store.close();
    const file = dispatchFile(root, 'd1');
    const bytes = readFileSync(file);
    // A damaged line that only a search reads.
    bytes.write('\\', bytes.indexOf(`{"id":"${log[30]?.id}"`) + '{"id":"'.length);
    writeFileSync(file, bytes);
    const again = openClaimed(root);
    again.appendEvents(taskDir, 'd1', log.slice(0, 20));
    again.appendEvents(taskDir, 'd1', log.slice(20, 30));
    // The claim changes the head.
    const start = bytes.indexOf('"events":[');
    expect(readFileSync(file).subarray(start).equals(bytes.subarray(start))).toBe(true);
    expect(codeOf(() => again.appendEvents(taskDir, 'd1', log.slice(40, 41)))).toBe('STORE_CORRUPT');
  });
});

describe('the index of ids', () => {
  it('finds every line of many', () => {
    const index = new EventIndex();
    for (let number = 1; number <= 50_000; number += 1)
      index.add(`id-${number}`, { offset: number, position: number - 1 });
    for (let number = 1; number <= 50_000; number += 1) {
      const found = index.candidates(`id-${number}`);
      if (!found.some(({ offset, position }) => offset === number && position === number - 1))
        throw new Error(`id-${number} is not found`);
    }
    const strangers = Array.from({ length: 10_000 }, (_, at) => index.candidates(`other-${at}`).length);
    expect(strangers.filter((count) => count > 0).length).toBeLessThan(5);
  });
});

import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EventIndex } from '../src/event-index.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeEvents, makeRoot, openStore, taskDir } from './sample.ts';

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
    const again = openStore(root);
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

  it('is found where it was appended in this session, with an id below the others', () => {
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

  it('counts as the same with its keys in another order', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', { ...makeEvent(1), data: { a: 1, b: { c: 2, d: 3 } } });
    store.appendEvent(taskDir, 'd1', { ...makeEvent(1), data: { b: { d: 3, c: 2 }, a: 1 } });
    expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(1);
  });
});

describe('the index of ids', () => {
  it('finds every line, however many there are', () => {
    const index = new EventIndex();
    for (let number = 1; number <= 50_000; number += 1) index.add(`id-${number}`, number);
    for (let number = 1; number <= 50_000; number += 1) {
      if (![...index.candidates(`id-${number}`)].includes(number))
        throw new Error(`id-${number} is not found`);
    }
    const strangers = Array.from({ length: 10_000 }, (_, at) => [...index.candidates(`other-${at}`)].length);
    expect(strangers.filter((count) => count > 0).length).toBeLessThan(5);
  });
});

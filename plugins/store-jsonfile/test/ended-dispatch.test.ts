import { readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { storeErrors } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import type { JsonFileDispatchStore } from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import {
  codeOf,
  dispatchFile,
  makeEvent,
  makeEvents,
  makeRoot,
  openClaimed,
  openStore,
  readDocument,
  taskDir,
} from './sample.ts';

const events = makeEvents(1, 6);
const late = makeEvent(99);
const longResult = { structuredResult: 'x'.repeat(5_000) };

const reads = [
  (store: JsonFileDispatchStore) => store.getDispatchEvents(taskDir, 'd1'),
  (store: JsonFileDispatchStore) => store.readEvents(taskDir, 'd1').events,
  (store: JsonFileDispatchStore) => store.getRecentEvents(taskDir, 'd1', 6),
];
const writes = [
  (store: JsonFileDispatchStore) => store.appendEvent(taskDir, 'd1', late),
  (store: JsonFileDispatchStore) => store.appendEvents(taskDir, 'd1', [late]),
  (store: JsonFileDispatchStore) => store.updateDispatch(taskDir, 'd1', { cost: 1 }),
].map((write) => (store: JsonFileDispatchStore) => {
  store.claimDispatch(taskDir, 'd1');
  write(store);
});

/** A dispatch of single events and a batch. */
function makeDispatch() {
  const root = makeRoot();
  const file = dispatchFile(root, 'd1');
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  for (const event of events.slice(0, 2)) store.appendEvent(taskDir, 'd1', event);
  store.appendEvents(taskDir, 'd1', events.slice(2, 5));
  store.appendEvents(taskDir, 'd1', events.slice(5));
  return { root, file, store };
}

function reopened<T>(root: string, use: (store: JsonFileDispatchStore) => T): T {
  const store = openStore(root);
  try {
    return use(store);
  } finally {
    store.close();
  }
}

/** The offsets of the first event and of the end of the last one. */
function eventsIn(bytes: Buffer): { readonly start: number; readonly end: number } {
  return { start: bytes.indexOf('"events":[') + '"events":['.length, end: bytes.lastIndexOf('\n]') };
}

function acknowledgedIn(file: string): unknown {
  return readDocument(file).acknowledged;
}

/** Expects that the head acknowledges all events of the file. */
function expectExact(file: string, events: number): void {
  const { start, end } = eventsIn(readFileSync(file));
  expect(acknowledgedIn(file)).toEqual({
    bytes: end - start,
    events,
    crc: expect.stringMatching(/^[0-9a-f]{8}$/),
  });
}

function expectMissing(work: () => unknown, file: string, offset: number): void {
  let error: unknown = null;
  try {
    work();
  } catch (thrown) {
    error = thrown;
  }
  if (!storeErrors.is(error, 'STORE_CORRUPT'))
    throw error ?? new Error(`A file of ${offset} bytes is taken.`);
  expect(error.details).toEqual({ file, offset, wholeEvents: expect.any(Number) });
}

describe.each([
  ['whose envelope was changed in place', { status: 'completed' }],
  ['whose envelope outgrew its slot at the end', { status: 'completed', ...longResult }],
  ['that crashed', { status: 'crashed' }],
] as const)('an ended dispatch %s, cut at any byte of its events', (_, updates) => {
  it('is STORE_CORRUPT for each read and each write, and is not changed', () => {
    const { root, file, store } = makeDispatch();
    store.updateDispatch(taskDir, 'd1', updates);
    store.close();
    const bytes = readFileSync(file);
    const { start, end } = eventsIn(bytes);
    for (let size = start; size < end; size += 1) {
      const cut = bytes.subarray(0, size);
      writeFileSync(file, cut);
      reopened(root, (each) => {
        for (const work of [...reads, ...writes]) expectMissing(() => work(each), file, size);
        expect(each.getRepairs()).toEqual([]);
        expect(each.getDispatchEnvelope(taskDir, 'd1')).toEqual(makeEnvelope('d1', updates));
      });
      expect(readFileSync(file).equals(cut)).toBe(true);
    }
  });

  it('reads complete if only closing brackets are missing, which the next claim repairs', () => {
    const { root, file, store } = makeDispatch();
    store.updateDispatch(taskDir, 'd1', updates);
    store.close();
    const bytes = readFileSync(file);
    for (let size = eventsIn(bytes).end; size < bytes.length; size += 1) {
      writeFileSync(file, bytes.subarray(0, size));
      reopened(root, (each) => {
        for (const read of reads) expect(read(each), `cut at ${size}`).toEqual(events);
        each.claimDispatch(taskDir, 'd1');
        each.appendEvent(taskDir, 'd1', late);
        expect(each.getRepairs()).toMatchObject([{ place: file, removedBytes: 0 }]);
      });
      expect(readDocument(file).events).toEqual([...events, late]);
    }
  });
});

describe('the acknowledged length of an ended dispatch', () => {
  it('is in the head and not part of the envelope', () => {
    const { file, store } = makeDispatch();
    expect(acknowledgedIn(file)).toEqual({ bytes: 0, events: 0, crc: '00000000' });
    store.updateDispatch(taskDir, 'd1', { status: 'completed' });
    expectExact(file, 6);
    const envelope = makeEnvelope('d1', { status: 'completed' });
    expect(store.getDispatchEnvelope(taskDir, 'd1')).toEqual(envelope);
    expect(store.getDispatchEnvelopes(taskDir)).toEqual([envelope]);
  });

  it('allows late events after it, with a torn tail that is repaired, until the next change records them', () => {
    const { root, file, store } = makeDispatch();
    store.updateDispatch(taskDir, 'd1', { status: 'completed' });
    store.appendEvent(taskDir, 'd1', late);
    const killed = readFileSync(file);
    store.close();
    writeFileSync(file, killed.subarray(0, killed.length - 20));
    const changed = reopened(root, (each) => {
      for (const read of reads) expect(read(each)).toEqual(events);
      each.claimDispatch(taskDir, 'd1');
      each.appendEvent(taskDir, 'd1', late);
      expect(each.getRepairs()).toHaveLength(1);
      each.updateDispatch(taskDir, 'd1', { cost: 0.5 });
      return readFileSync(file);
    });
    const size = changed.length - 20;
    writeFileSync(file, changed.subarray(0, size));
    reopened(root, (each) => {
      for (const work of [...reads, ...writes]) expectMissing(() => work(each), file, size);
    });
  });

  it.each([
    ['is released', (store: JsonFileDispatchStore) => store.releaseDispatch(taskDir, 'd1')],
    ['is released by a store that closes', (store: JsonFileDispatchStore) => store.close()],
  ])('is exact after the dispatch %s, whether it runs or has ended', (_, release) => {
    for (const updates of [{}, { status: 'completed' }, { status: 'running', ...longResult }] as const) {
      const { root, file, store } = makeDispatch();
      store.updateDispatch(taskDir, 'd1', updates);
      store.appendEvents(taskDir, 'd1', [late, makeEvent(98)]);
      release(store);
      const bytes = readFileSync(file);
      const { end } = eventsIn(bytes);
      expect(readDocument(file).envelope).toMatchObject(updates);
      expectExact(file, 8);
      reopened(root, (each) => {
        for (const read of reads) expect(read(each).slice(-2)).toEqual([late, makeEvent(98)]);
      });
      writeFileSync(file, bytes.subarray(0, end - 1));
      reopened(root, (each) => {
        for (const work of [...reads, ...writes]) expectMissing(() => work(each), file, end - 1);
      });
    }
  });

  it('is exact for a dispatch that was not written to for long, among a hundred others', () => {
    const { root, file, store } = makeDispatch();
    for (let number = 0; number < 100; number += 1) {
      store.createDispatch(taskDir, makeEnvelope(`other-${number}`));
      store.appendEvent(taskDir, `other-${number}`, late);
    }
    store.close();
    expectExact(file, 6);
    for (const id of ['other-0', 'other-99']) expectExact(dispatchFile(root, id), 1);
  });

  it('stays valid for a dispatch that runs again, including in a longer slot, while later events may be torn', () => {
    const { root, file, store } = makeDispatch();
    store.updateDispatch(taskDir, 'd1', { status: 'completed' });
    store.updateDispatch(taskDir, 'd1', { status: 'running', ...longResult });
    store.appendEvent(taskDir, 'd1', late);
    const bytes = readFileSync(file);
    store.close();
    const { end } = eventsIn(bytes);
    writeFileSync(file, bytes.subarray(0, end - 20));
    reopened(root, (each) => {
      for (const read of reads) expect(read(each)).toEqual(events);
    });
    const cutInto = bytes.indexOf('e00000006') + 20;
    writeFileSync(file, bytes.subarray(0, cutInto));
    reopened(root, (each) => {
      for (const work of [...reads, ...writes]) expectMissing(() => work(each), file, cutInto);
    });
  });

  it('is checked by a reader that had the dispatch open before it ended', () => {
    const { root, file, store } = makeDispatch();
    const reader = openStore(root);
    for (const read of reads) expect(read(reader)).toEqual(events);
    store.appendEvent(taskDir, 'd1', late);
    store.updateDispatch(taskDir, 'd1', { status: 'completed' });
    const { size } = statSync(file);
    truncateSync(file, size - 10);
    for (const read of reads) {
      expectMissing(() => read(reader), file, size - 10);
      expectMissing(() => read(store), file, size - 10);
    }
    expectMissing(() => store.close(), file, size - 10);
  });

  it('is checked by a reader that finds the file as long as it was before', () => {
    const { root, file, store } = makeDispatch();
    const reader = openStore(root);
    for (const read of reads) expect(read(reader)).toEqual(events);
    const { size, ctimeMs } = statSync(file);
    store.appendEvent(taskDir, 'd1', late);
    store.updateDispatch(taskDir, 'd1', { status: 'completed' });
    truncateSync(file, size);
    while (statSync(file).ctimeMs === ctimeMs) utimesSync(file, 0, 0);
    for (const read of reads) expectMissing(() => read(reader), file, size);
    expectMissing(() => store.close(), file, size);
  });
});

describe('a dispatch that is cut off while a store writes it', () => {
  it('cannot end as if nothing were missing', () => {
    const { file, store } = makeDispatch();
    const { size } = statSync(file);
    truncateSync(file, size - 30);
    for (const updates of [{ status: 'completed' }, longResult] as const)
      expectMissing(() => store.updateDispatch(taskDir, 'd1', updates), file, size - 30);
    expect(statSync(file).size).toBe(size - 30);
    expect(codeOf(() => store.close())).toBe('none');
  });

  it.each([
    ['released', (store: JsonFileDispatchStore) => store.releaseDispatch(taskDir, 'd1')],
    ['released by a store that closes', (store: JsonFileDispatchStore) => store.close()],
  ])('is reported when it is %s, if no write has reported it, and can then be claimed', (_, release) => {
    const { root, file, store } = makeDispatch();
    const { size } = statSync(file);
    truncateSync(file, size - 30);
    expectMissing(() => release(store), file, size - 30);
    expect(codeOf(() => store.close())).toBe('none');
    expect(openClaimed(root).getRepairs()).toHaveLength(1);
  });
});

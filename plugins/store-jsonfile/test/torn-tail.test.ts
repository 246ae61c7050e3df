import { readFileSync, writeFileSync } from 'node:fs';
import { isStoreError } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import type { JsonFileStore } from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import {
  codeOf,
  dispatchFile,
  makeEvent,
  makeEvents,
  makeRoot,
  openStore,
  readDocument,
  taskDir,
} from './sample.ts';

const late = makeEvent(99);

/** A dispatch of single events and a batch, its bytes, and the number of complete events after each byte. */
function makeSample(root: string, shuffled = false) {
  const store = openStore(root);
  const file = dispatchFile(root, 'd1');
  const ids = shuffled ? [2, 1, 6, 5, 4, 3] : [1, 2, 3, 4, 5, 6];
  const events = ids.map((id) => makeEvent(id, 'ü“\u0000\ud800'));
  const complete: { readonly size: number; readonly count: number }[] = [];
  const note = (count: number) => {
    const bytes = readFileSync(file);
    complete.push({ size: bytes.lastIndexOf('\n]'), count });
  };
  store.createDispatch(taskDir, makeEnvelope('d1'));
  note(0);
  for (const [at, event] of events.slice(0, 2).entries()) {
    store.appendEvent(taskDir, 'd1', event);
    note(at + 1);
  }
  store.appendEvents(taskDir, 'd1', events.slice(2, 5));
  note(5);
  store.appendEvent(taskDir, 'd1', events[5] ?? late);
  note(6);
  // The file of a killed process: closing the store would write `eventBytes`.
  const bytes = readFileSync(file);
  store.close();
  return { file, events, complete, bytes };
}

/** Every offset of a file, but only some offsets of the padding. */
function offsetsIn(bytes: Buffer): number[] {
  const padding = bytes.indexOf('      ');
  const end = bytes.indexOf(',\n');
  return [...Array(bytes.length + 1).keys()].filter((at) => at <= padding || at >= end || at % 250 === 0);
}

function reopened<T>(root: string, use: (store: JsonFileStore) => T): T {
  const store = openStore(root);
  try {
    return use(store);
  } finally {
    store.close();
  }
}

describe.each([
  ['whose ids grow', false],
  ['whose ids are in no order', true],
])('a dispatch %s, cut at any byte', (_, shuffled) => {
  it('reads as the events that were complete, and is not changed', () => {
    const root = makeRoot();
    const { file, events, complete, bytes } = makeSample(root, shuffled);
    const [empty] = complete;
    for (const size of offsetsIn(bytes)) {
      const cut = bytes.subarray(0, size);
      writeFileSync(file, cut);
      const read = () => reopened(root, (store) => store.getDispatchEvents(taskDir, 'd1'));
      if (size < (empty?.size ?? 0)) {
        expect(codeOf(read), `cut at ${size}`).toBe('STORE_CORRUPT');
      } else {
        const count = complete.findLast((each) => each.size <= size)?.count;
        expect(read(), `cut at ${size}`).toEqual(events.slice(0, count));
        reopened(root, (store) => {
          expect(store.getRecentEvents(taskDir, 'd1', 2)).toEqual(events.slice(0, count).slice(-2));
          expect(store.readEvents(taskDir, 'd1').events).toHaveLength(count ?? -1);
          expect(store.getRepairs()).toEqual([]);
        });
      }
      expect(readFileSync(file).equals(cut)).toBe(true);
    }
  });

  it('is repaired by the next claim, which reports it, and accepts appends', () => {
    const root = makeRoot();
    const { file, events, complete, bytes } = makeSample(root, shuffled);
    const [empty] = complete;
    for (const size of offsetsIn(bytes)) {
      writeFileSync(file, bytes.subarray(0, size));
      const append = () =>
        reopened(root, (store) => {
          store.claimDispatch(taskDir, 'd1');
          store.appendEvent(taskDir, 'd1', late);
          return store.getRepairs();
        });
      if (size < (empty?.size ?? 0)) {
        expect(codeOf(append)).toBe('STORE_CORRUPT');
        continue;
      }
      const whole = complete.findLast((each) => each.size <= size) ?? { size: 0, count: 0 };
      const repairs = append();
      expect(readDocument(file).events, `cut at ${size}`).toEqual([...events.slice(0, whole.count), late]);
      if (size === bytes.length) expect(repairs).toEqual([]);
      else {
        const isBracketsOnly =
          bytes
            .subarray(0, size)
            .toString()
            .match(/\n\]? ?\}?$/) !== null;
        expect(repairs, `cut at ${size}`).toMatchObject([
          { taskDir, dispatchId: 'd1', place: file, offset: whole.size },
        ]);
        if (size === whole.size || !isBracketsOnly)
          expect(repairs[0]?.removedBytes, `cut at ${size}`).toBe(size - whole.size);
      }
      reopened(root, (store) => {
        store.claimDispatch(taskDir, 'd1');
        store.appendEvent(taskDir, 'd1', late);
        expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(whole.count + 1);
      });
    }
  });
});

describe('an append that overwrote only a part of the closing brackets', () => {
  it.each([
    ['one event', [makeEvent(7)]],
    ['a batch', makeEvents(7, 3)],
  ])('leaves the events before it, whatever part of %s was written', (_, added) => {
    const root = makeRoot();
    for (const before of [[], makeEvents(1, 2), [makeEvent(2), makeEvent(1)]]) {
      const id = `d${before.map((event) => event.id).join('-')}`;
      const file = dispatchFile(root, id);
      const [old, next] = reopened(root, (store) => {
        store.createDispatch(taskDir, makeEnvelope(id));
        for (const event of before) store.appendEvent(taskDir, id, event);
        const bytes = readFileSync(file);
        store.appendEvents(taskDir, id, added);
        return [bytes, readFileSync(file)];
      });
      const end = old.lastIndexOf('\n]');
      for (let written = 0; written < next.length - end; written += written < 8 ? 1 : 3) {
        const torn = Buffer.concat([next.subarray(0, end + written), old.subarray(end + written)]);
        writeFileSync(file, torn);
        const count = written < next.lastIndexOf('\n]') - end ? before.length : before.length + added.length;
        const expected = [...before, ...added].slice(0, count);
        const read = reopened(root, (store) => store.getDispatchEvents(taskDir, id));
        expect(read, `${written} bytes written`).toEqual(expected);
        reopened(root, (store) => {
          store.claimDispatch(taskDir, id);
          store.appendEvent(taskDir, id, late);
        });
        expect(readDocument(file).events, `${written} bytes written`).toEqual([...expected, late]);
      }
    }
  });
});

describe('a changed byte', () => {
  it('anywhere is STORE_CORRUPT with file and offset, or changes no number of events', () => {
    const root = makeRoot();
    const { file, events, bytes } = makeSample(root);
    let found = 0;
    for (const at of offsetsIn(bytes).slice(0, -1)) {
      for (const flip of [0x01, 0x80]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        writeFileSync(file, damaged);
        reopened(root, (store) => {
          for (const read of [
            () => store.getDispatchEvents(taskDir, 'd1'),
            () => store.readEvents(taskDir, 'd1').events,
            () => store.getRecentEvents(taskDir, 'd1', 10),
          ]) {
            try {
              expect(read(), `byte ${at} ^ ${flip}`).toHaveLength(events.length);
            } catch (error) {
              if (!isStoreError(error, 'STORE_CORRUPT')) throw error;
              expect(error.details).toMatchObject({ file, offset: expect.any(Number) });
              found += 1;
            }
          }
        });
      }
    }
    expect(found).toBeGreaterThan(500);
  });

  it('between events is never read as a torn tail', () => {
    const root = makeRoot();
    const { file, bytes } = makeSample(root);
    const first = bytes.indexOf('\n{"id"') + 1;
    const damaged = Buffer.from(bytes);
    damaged[first + 3] = 0x0a;
    writeFileSync(file, damaged);
    reopened(root, (store) => {
      expect(() => store.getDispatchEvents(taskDir, 'd1')).toThrow(`${file} is damaged at byte ${first}`);
      expect(codeOf(() => store.getRecentEvents(taskDir, 'd1', 1))).toBe('STORE_CORRUPT');
    });
    writeFileSync(file, damaged.subarray(0, damaged.length - 2));
    expect(codeOf(() => reopened(root, (store) => store.claimDispatch(taskDir, 'd1')))).toBe('STORE_CORRUPT');
    expect(readFileSync(file)).toHaveLength(damaged.length - 2);
  });

  it('in one copy of the envelope changes nothing, because the other one is read', () => {
    const root = makeRoot();
    const { file, bytes } = makeSample(root);
    writeFileSync(file, bytes.toString().replace('"running"', '"rubbing"'));
    reopened(root, (store) => {
      expect(store.getDispatchEnvelope(taskDir, 'd1')).toEqual(makeEnvelope('d1'));
      expect(store.verifyDispatch(taskDir, 'd1').damages).toMatchObject([{ offset: 0, lostEvents: 0 }]);
      store.claimDispatch(taskDir, 'd1');
      expect(store.verifyDispatch(taskDir, 'd1').damages).toEqual([]);
    });
  });

  it('in both copies of the envelope is STORE_CORRUPT for the envelope, too', () => {
    const root = makeRoot();
    const { file, bytes } = makeSample(root);
    writeFileSync(file, bytes.toString().replaceAll('"running"', '"rubbing"'));
    reopened(root, (store) => {
      expect(codeOf(() => store.getDispatchEnvelope(taskDir, 'd1'))).toBe('STORE_CORRUPT');
      expect(codeOf(() => store.getDispatchEnvelopes(taskDir))).toBe('STORE_CORRUPT');
    });
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { storeErrors } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { checkReadOfCut, checkRepairOfCut, late, reopened, writeCutSample } from './integrity/cut-file.ts';
import { codeOf, dispatchFile, makeEvent, makeEvents, makeRoot, readDocument, taskDir } from './sample.ts';

/** A dispatch of single events and a batch. */
function makeSample(root: string, shuffled = false) {
  const ids = shuffled ? [2, 1, 6, 5, 4, 3] : [1, 2, 3, 4, 5, 6];
  return writeCutSample(
    root,
    ids.map((id) => makeEvent(id, 'ü“\u0000\ud800')),
  );
}

/** Every offset of a file, or one of `step`, but only some offsets of the padding. */
function offsetsIn(bytes: Buffer, step = 1): number[] {
  const padding = bytes.indexOf('      ');
  const end = bytes.indexOf(',\n');
  const chosen = (at: number) => at % step === 0 || at === bytes.length;
  return [...Array(bytes.length + 1).keys()].filter(
    (at) => (at <= padding || at >= end || at % 250 === 0) && chosen(at),
  );
}

describe.each([
  ['whose ids grow', false, 2],
  ['whose ids are in no order', true, 5],
])('a dispatch %s, cut at any byte (one of %s tried)', (_, shuffled, step) => {
  it('reads as the events that were complete, and is not changed', () => {
    const sample = makeSample(makeRoot(), shuffled);
    for (const size of offsetsIn(sample.bytes, step)) checkReadOfCut(sample, size);
  });

  it('is repaired by the next claim, which reports it, and accepts appends', () => {
    const sample = makeSample(makeRoot(), shuffled);
    for (const size of offsetsIn(sample.bytes, step)) checkRepairOfCut(sample, size);
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
      for (let written = 0; written < next.length - end; written += written < 8 ? 1 : 7) {
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
      // Other bits are changed in `integrity/flipped-bits.test.ts`.
      const flip = at % 2 === 0 ? 0x01 : 0x80;
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
            if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
            expect(error.details).toMatchObject({ file, offset: expect.any(Number) });
            found += 1;
          }
        }
      });
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

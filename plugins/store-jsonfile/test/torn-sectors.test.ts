import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { late, reopened } from './integrity/cut-file.ts';
import { dispatchFile, makeEvent, makeRoot, readDocument, taskDir } from './sample.ts';

const sector = 512;
/** Every place of an append near the border of two sectors, where the old closing brackets lie in both, and some others. */
const places = [...Array(sector).keys()].filter((at) => at < 4 || at > sector - 9 || at % 37 === 0);

/** The bytes after a loss of power: the sectors of an append that were written, and the others as they were, without their end. */
function afterPowerLoss(old: Buffer, next: Buffer, from: number, written: ReadonlySet<number>): Buffer {
  const bytes = Buffer.alloc(next.length);
  old.copy(bytes);
  let size = old.length;
  for (const at of written) {
    const start = Math.max(from, at * sector);
    const end = Math.min(next.length, (at + 1) * sector);
    next.copy(bytes, start, start, end);
    size = Math.max(size, end);
  }
  return bytes.subarray(0, size);
}

const single = [makeEvent(7, 'a'.repeat(1_100))];
const batch = [makeEvent(7, 'b'.repeat(300)), makeEvent(8, 'c'.repeat(400)), makeEvent(9)];

it.each([
  ['one event', 'an event', single, false],
  ['a batch', 'an event', batch, false],
  ['one event', 'all that is acknowledged', single, true],
  ['a batch', 'all that is acknowledged', batch, true],
])(
  'any of the sectors of an append of %s after %s is the whole append or nothing',
  (_, __, added, isReleased) => {
    const root = makeRoot();
    const before = [makeEvent(1), makeEvent(2)];
    let cases = 0;
    for (const place of places) {
      const id = `d${place}`;
      const file = dispatchFile(root, id);
      const [first, old, next] = reopened(root, (store) => {
        store.createDispatch(taskDir, makeEnvelope(id));
        for (const event of before) store.appendEvent(taskDir, id, event);
        const end = readFileSync(file).lastIndexOf('\n]');
        const empty = end + Buffer.byteLength(',\n') + lineLength(file);
        const filler = makeEvent(3, 'x'.repeat((2 * sector + place - (empty % sector)) % sector));
        store.appendEvent(taskDir, id, filler);
        if (isReleased) {
          store.releaseDispatch(taskDir, id);
          store.claimDispatch(taskDir, id);
        }
        const bytes = readFileSync(file);
        store.appendEvents(taskDir, id, added);
        return [filler, bytes, readFileSync(file)];
      });
      const from = old.lastIndexOf('\n]');
      expect(from % sector).toBe(place);
      const to = next.lastIndexOf('\n]');
      const [low, high] = [Math.floor(from / sector), Math.floor((next.length - 1) / sector)];
      for (let mask = 0; mask < 2 ** (high - low + 1) - 1; mask += 1) {
        const written = new Set<number>();
        for (let at = low; at <= high; at += 1) if ((mask & (1 << (at - low))) !== 0) written.add(at);
        const torn = afterPowerLoss(old, next, from, written);
        writeFileSync(file, torn);
        const isWhole = torn.subarray(0, to).equals(next.subarray(0, to));
        const expected = [...before, first, ...(isWhole ? added : [])];
        const text = `at ${place}, sectors ${[...written].map((at) => at - low).join(' ')} of ${high - low + 1}`;
        expect(
          reopened(root, (store) => store.getDispatchEvents(taskDir, id)),
          text,
        ).toEqual(expected);
        const damages = reopened(root, (store) => store.verifyDispatch(taskDir, id).damages);
        expect(damages, text).toEqual([]);
        reopened(root, (store) => {
          store.claimDispatch(taskDir, id);
          store.appendEvent(taskDir, id, late);
        });
        expect(readDocument(file).events, text).toEqual([...expected, late]);
        cases += 1;
      }
    }
    expect(cases).toBeGreaterThan(200);
  },
);

/** The bytes of the line of an event like the filler, without its text. */
function lineLength(file: string): number {
  const text = readFileSync(file, 'utf8');
  const line = text.slice(text.lastIndexOf('\n{') + 1, text.lastIndexOf('\n]'));
  return Buffer.byteLength(line) - 'This is event 2.'.length;
}

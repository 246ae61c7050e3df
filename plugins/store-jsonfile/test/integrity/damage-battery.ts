import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import type { JsonFileDispatchStore } from '../../src/index.ts';
import { makeEnvelope } from '../envelope.ts';
import { readByOracle } from './oracle.ts';

export const taskDir = 'lab/tasks/maps';
const text = 'Grüße “\u0000\ud800 {"crc":"00000000"} ';

export type OpenStore = (root: string) => JsonFileDispatchStore;

/** A dispatch on the disk, and what reads must return. */
export interface Sample {
  readonly file: string;
  readonly bytes: Buffer;
  readonly events: readonly CapturedEvent[];
  readonly envelope: DispatchEnvelope;
}

export function sampleEvent(number: number, word = 'one'): CapturedEvent {
  const id = `e${String(number).padStart(8, '0')}`;
  return {
    id,
    type: 'agent:text',
    timestamp: '2026-03-01T09:30:00.000Z',
    data: { text: text + word + number },
  };
}

/** Writes a dispatch of single events and batches. `isReleased`: it has ended and is released; otherwise it is as after a kill. */
export function writeSample(
  open: OpenStore,
  root: string,
  count: number,
  isReleased: boolean,
  word?: string,
): Sample {
  const store = open(root);
  const events = Array.from({ length: count }, (_, index) => sampleEvent(index + 1, word));
  store.createDispatch(taskDir, makeEnvelope('d1'));
  for (let at = 0; at < count; at += 4) {
    store.appendEvent(taskDir, 'd1', events[at] as CapturedEvent);
    store.appendEvents(taskDir, 'd1', events.slice(at + 1, at + 4));
  }
  if (isReleased) store.updateDispatch(taskDir, 'd1', { status: 'completed' });
  const envelope = store.getDispatchEnvelope(taskDir, 'd1') as DispatchEnvelope;
  const file = `${root}/${taskDir}/dispatches/d1.json`;
  const killed = readFileSync(file);
  store.close();
  const bytes = isReleased ? readFileSync(file) : killed;
  return { file, bytes, events, envelope };
}

/** Puts these bytes in the place of the dispatch, in a root that no store has open, and reads them in every way. */
export function readDamaged(open: OpenStore, sample: Sample, root: string, bytes: Buffer): ReadOutcome[] {
  const file = `${root}/${taskDir}/dispatches/d1.json`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  const { events } = sample;
  const half = Math.floor(events.length / 2);
  const reads: [string, (store: JsonFileDispatchStore) => unknown, unknown][] = [
    ['all events', (store) => store.getDispatchEvents(taskDir, 'd1'), events],
    ['the last event', (store) => store.getRecentEvents(taskDir, 'd1', 1), events.slice(-1)],
    [
      'a page',
      (store) => store.readEvents(taskDir, 'd1', { after: half - 1, limit: 2 }),
      page(events, half, 2),
    ],
    ['the number of events', (store) => store.readEvents(taskDir, 'd1', { last: 0 }).first, events.length],
    [
      'the last page',
      (store) => store.readEvents(taskDir, 'd1', { after: events.length - 2 }),
      page(events, events.length - 1, 1),
    ],
    ['the envelope', (store) => store.getDispatchEnvelope(taskDir, 'd1'), sample.envelope],
  ];
  return reads.map(([name, read, expected]) => {
    const store = open(root);
    try {
      const answer = read(store);
      return { name, isEqual: isDeepStrictEqual(answer, expected), error: null, answer };
    } catch (error) {
      return { name, isEqual: false, error, answer: null };
    } finally {
      store.close();
    }
  });
}

export interface ReadOutcome {
  readonly name: string;
  readonly isEqual: boolean;
  readonly error: unknown;
  readonly answer: unknown;
}

function page(events: readonly CapturedEvent[], first: number, count: number) {
  return { events: events.slice(first, first + count), first, next: first + count - 1 };
}

/** Whether a read was refused with file and place. */
export function isRefused({ error }: ReadOutcome): boolean {
  if (!storeErrors.is(error, 'STORE_CORRUPT')) return false;
  const { file, offset } = error.details;
  return typeof file === 'string' && typeof offset === 'number';
}

/** Flips bits of one byte. @returns the number of reads that were refused and of those that were equal @throws unless each is one of them */
export function checkFlip(open: OpenStore, sample: Sample, root: string, at: number, mask: number) {
  const damaged = Buffer.from(sample.bytes);
  damaged[at] = (damaged[at] ?? 0) ^ mask;
  const outcomes = readDamaged(open, sample, root, damaged);
  const refused = outcomes.filter((outcome) => !outcome.isEqual);
  for (const outcome of refused)
    assert.ok(
      isRefused(outcome),
      `byte ${at} ^ ${mask}, ${outcome.name}: ${outcome.error ?? 'it is not equal'}`,
    );
  return { refused: refused.length, equal: outcomes.length - refused.length };
}

/** A file whose event lines another program has changed. */
export function withLines(bytes: Buffer, change: (lines: string[]) => string[]): Buffer {
  const latin = bytes.toString('latin1');
  const start = latin.indexOf('"events":[\n') + '"events":[\n'.length;
  const end = latin.search(/\n\] ?\}\n$/);
  const lines = latin
    .slice(start, end)
    .split('\n')
    .map((line) => line.replace(/,$/, ''));
  const changed = change(lines).join(',\n');
  return Buffer.from(latin.slice(0, start) + changed + latin.slice(end), 'latin1');
}

/** The changes of lines by which each line is lost, doubled and exchanged with the next one. */
export function lineChanges(count: number): [string, (lines: string[]) => string[]][] {
  return Array.from({ length: count }, (_, at): [string, (lines: string[]) => string[]][] => [
    [`line ${at} is lost`, (lines) => lines.toSpliced(at, 1)],
    [`line ${at} is doubled`, (lines) => lines.toSpliced(at, 0, lines[at] ?? '')],
    [
      `line ${at} is exchanged`,
      (lines) =>
        at + 1 < count ? lines.toSpliced(at, 2, lines[at + 1] ?? '', lines[at] ?? '') : lines.toReversed(),
    ],
  ]).flat();
}

/**
 * Damages a dispatch in many ways. @returns those after which a read returned something else without an error, and files
 * that the oracle does not accept, as they are found
 */
export function* findSilentDamage(open: OpenStore, makeRoot: () => string): Generator<string> {
  const root = makeRoot();
  const released = writeSample(open, makeRoot(), 12, true);
  const killed = writeSample(open, makeRoot(), 12, false);
  const long = writeSample(open, makeRoot(), 300, false);
  for (const { bytes } of [released, killed]) {
    const oracle = readByOracle(bytes);
    if ('wrong' in oracle) yield `the file of an undamaged dispatch: ${oracle.wrong}`;
  }
  const check = (name: string, sample: Sample, bytes: Buffer) =>
    readDamaged(open, sample, root, bytes)
      .filter((outcome) => !outcome.isEqual && !isRefused(outcome))
      .map((outcome) => `${name}: ${outcome.name}`);
  const other = writeSample(open, makeRoot(), 12, true, 'two').bytes;
  const [slot, start] = [other.indexOf('"copy"'), other.indexOf('"events":[')];
  yield* check('the events are those of another dispatch', released, joined(released.bytes, other, start));
  // The writer was killed after it wrote the first of the two slots of the last change.
  yield* check('only one head has the change', released, joined(killed.bytes, released.bytes, slot));
  for (const [name, change] of lineChanges(12))
    yield* check(name, released, withLines(released.bytes, change));
  yield* check(
    'the last line is lost after a kill',
    long,
    withLines(long.bytes, (lines) => lines.slice(0, 250)),
  );
  for (const sample of [released, killed]) {
    const start = sample.bytes.indexOf('"events":[');
    for (let at = 0; at < sample.bytes.length; at += at < 600 || at > start ? 7 : 501) {
      const damaged = Buffer.from(sample.bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x04;
      yield* check(`byte ${at}`, sample, damaged);
    }
  }
}

/** The beginning of a file, and then the bytes of another one. */
function joined(first: Buffer, second: Buffer, at: number): Buffer {
  return Buffer.concat([first.subarray(0, at), second.subarray(at)]);
}

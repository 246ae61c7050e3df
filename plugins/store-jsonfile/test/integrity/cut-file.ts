import { readFileSync, writeFileSync } from 'node:fs';
import type { CapturedEvent } from '@hansard/events';
import { expect } from 'vitest';
import { type JsonFileDispatchStore, openJsonFileStore } from '../../src/index.ts';
import { makeEnvelope } from '../envelope.ts';
import { codeOf, dispatchFile, makeEvent, readDocument, taskDir } from '../sample.ts';

export const late = makeEvent(99_999);

/** The file of a killed process, its events, and the number of complete ones up to some sizes of the file. */
export interface CutSample {
  readonly root: string;
  readonly file: string;
  readonly bytes: Buffer;
  readonly events: readonly CapturedEvent[];
  readonly complete: readonly { readonly size: number; readonly count: number }[];
  /** The number of events that the head says are acknowledged. A cut before their end is damage. */
  readonly acknowledged: number;
}

interface Head {
  readonly acknowledged: { readonly events: number };
}

/** Writes a dispatch of single events and batches of three in turn. The first two events are single ones. */
export function writeCutSample(root: string, events: readonly CapturedEvent[]): CutSample {
  const store = openJsonFileStore({ root });
  const file = dispatchFile(root, 'd1');
  const complete: { readonly size: number; readonly count: number }[] = [];
  const note = (count: number) => void complete.push({ size: readFileSync(file).lastIndexOf('\n]'), count });
  store.createDispatch(taskDir, makeEnvelope('d1'));
  note(0);
  for (let at = 0; at < events.length; ) {
    const next = at > 0 && at % 4 === 2 ? events.slice(at, at + 3) : events.slice(at, at + 1);
    if (next.length === 1) store.appendEvent(taskDir, 'd1', next[0] ?? late);
    else store.appendEvents(taskDir, 'd1', next);
    at += next.length;
    note(at);
  }
  // Closing the store would write the number of acknowledged events.
  const bytes = readFileSync(file);
  store.close();
  const head = JSON.parse(bytes.toString()) as Head & { readonly copy: Head };
  // The two copies of the head are written in turn.
  const acknowledged = Math.max(head.acknowledged.events, head.copy.acknowledged.events);
  expect(acknowledged).toBeGreaterThanOrEqual(events.length - 256);
  return { root, file, events, complete, bytes, acknowledged };
}

export function reopened<T>(root: string, use: (store: JsonFileDispatchStore) => T): T {
  const store = openJsonFileStore({ root });
  try {
    return use(store);
  } finally {
    store.close();
  }
}

/** The last state of which everything is in the first bytes of the file; null if that has fewer events than are acknowledged. */
function wholeIn({ complete, acknowledged }: CutSample, size: number) {
  const whole = complete.findLast((each) => each.size <= size);
  return whole === undefined || whole.count < acknowledged ? null : whole;
}

/** Reads the file cut at a byte: the events that were complete, or STORE_CORRUPT. The file is not changed. */
export function checkReadOfCut(sample: CutSample, size: number): 'refused' | 'whole' {
  const { root, file, events } = sample;
  const cut = sample.bytes.subarray(0, size);
  writeFileSync(file, cut);
  const whole = wholeIn(sample, size);
  const read = () => reopened(root, (store) => store.getDispatchEvents(taskDir, 'd1'));
  if (whole === null) expect(codeOf(read), `cut at ${size}`).toBe('STORE_CORRUPT');
  else {
    const expected = events.slice(0, whole.count);
    expect(read(), `cut at ${size}`).toEqual(expected);
    reopened(root, (store) => {
      expect(store.getRecentEvents(taskDir, 'd1', 2), `cut at ${size}`).toEqual(expected.slice(-2));
      expect(store.readEvents(taskDir, 'd1', { last: 0 }).first, `cut at ${size}`).toBe(whole.count);
      expect(store.getRepairs()).toEqual([]);
    });
  }
  expect(readFileSync(file).equals(cut)).toBe(true);
  return whole === null ? 'refused' : 'whole';
}

/** Claims the dispatch of the file cut at a byte, which repairs and reports it, and appends. */
export function checkRepairOfCut(sample: CutSample, size: number): void {
  const { root, file, events, bytes } = sample;
  writeFileSync(file, bytes.subarray(0, size));
  const append = () =>
    reopened(root, (store) => {
      store.claimDispatch(taskDir, 'd1');
      store.appendEvent(taskDir, 'd1', late);
      return store.getRepairs();
    });
  const whole = wholeIn(sample, size);
  if (whole === null) {
    expect(codeOf(append), `cut at ${size}`).toBe('STORE_CORRUPT');
    return;
  }
  const repairs = append();
  expect(readDocument(file).events, `cut at ${size}`).toEqual([...events.slice(0, whole.count), late]);
  if (size === bytes.length) expect(repairs).toEqual([]);
  else {
    const isBracketsOnly = /\n\]? ?\}?$/.test(bytes.subarray(0, size).toString('latin1'));
    expect(repairs, `cut at ${size}`).toMatchObject([
      { taskDir, dispatchId: 'd1', place: file, offset: whole.size },
    ]);
    if (size === whole.size || !isBracketsOnly)
      expect(repairs[0]?.removedBytes, `cut at ${size}`).toBe(size - whole.size);
  }
  reopened(root, (store) => {
    store.claimDispatch(taskDir, 'd1');
    store.appendEvent(taskDir, 'd1', late);
    expect(store.readEvents(taskDir, 'd1', { last: 0 }).first, `cut at ${size}`).toBe(whole.count + 1);
  });
}

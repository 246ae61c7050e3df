import { readdirSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { currentProcess, type Processes, systemProcesses } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../src/files.ts';
import { makeEnvelope } from './envelope.ts';
import {
  codeOf,
  dispatchFile,
  makeEvent,
  makeEvents,
  makeRoot,
  manualTime,
  openStore,
  taskDir,
} from './sample.ts';

const leaseMs = 15_000;
const heartbeat = leaseMs / 3;

/** Stores on other hosts: each takes the others for processes that it cannot check. */
function onHost(name: string): Processes {
  const owner = { ...currentProcess(), host: name };
  return {
    current: () => owner,
    isRunning: (other) => other.host !== name || systemProcesses.isRunning({ ...other, host: hostname() }),
    whyUnchecked: (other) => (other.host === name ? null : 'another host'),
  };
}

/** A writer and a taker on two hosts, each with a clock of its own, and a dispatch with one event that the writer has claimed. */
function writerAndTaker() {
  const root = makeRoot();
  const [writing, taking] = [manualTime(), manualTime()];
  const writer = openStore(root, {}, { ...writing, processes: onHost('a') });
  const taker = openStore(root, {}, { ...taking, processes: onHost('b') });
  writer.createDispatch(taskDir, makeEnvelope('d1'));
  writer.appendEvent(taskDir, 'd1', makeEvent(1));
  const claim = () => taker.claimDispatch(taskDir, 'd1');
  /** The taker takes the dispatch over, after it has seen the same heartbeat for a lease. */
  const takeOver = () => {
    expect(codeOf(claim)).toBe('STORE_LOCKED');
    taking.clock.advance(leaseMs);
    return claim();
  };
  return { root, writer, taker, writing, taking, claim, takeOver };
}

describe('a claim of a process that cannot be checked', () => {
  it('is kept while its heartbeat changes, whatever the clock of the taker says', () => {
    const { writer, writing, taking, claim, taker } = writerAndTaker();
    expect(codeOf(claim)).toBe('STORE_LOCKED');
    for (let round = 0; round < 5; round += 1) {
      writing.clock.advance(heartbeat);
      taking.clock.advance(10 * leaseMs);
      expect(codeOf(claim)).toBe('STORE_LOCKED');
      expect(taker.findClaim(taskDir, 'd1')).toMatchObject({ state: 'running', expiresInMs: null });
    }
    writer.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(taker.getDispatchEvents(taskDir, 'd1')).toEqual(makeEvents(1, 2));
  });

  it('is unknown at first, says when it expires, and is refused with that time', () => {
    const { taker, taking, claim } = writerAndTaker();
    expect(taker.findClaim(taskDir, 'd1')).toEqual({
      owner: expect.stringContaining(`process ${process.pid} on a (another host`),
      isOwn: false,
      state: 'unknown',
      expiresInMs: leaseMs,
    });
    taking.clock.advance(5_000);
    expect(claim).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ expiresInMs: 10_000 }) }),
    );
    taking.clock.advance(10_000);
    expect(taker.findClaim(taskDir, 'd1')).toMatchObject({ state: 'expired', expiresInMs: null });
  });

  it('is not judged by a time in a file, however old or new', () => {
    const { root, claim, taking } = writerAndTaker();
    const [token = ''] = readdirSync(join(root, '.writers'));
    for (const time of [0, Date.UTC(2100, 0)]) {
      utimesSync(join(root, '.writers', token), time / 1_000, time / 1_000);
      expect(codeOf(claim)).toBe('STORE_LOCKED');
      taking.clock.advance(leaseMs - 1);
      expect(codeOf(claim)).toBe('STORE_LOCKED');
    }
  });
});

describe('a writer whose dispatch was taken over while it did not run', () => {
  it.each<[string, (time: ReturnType<typeof manualTime>) => void]>([
    ['was stopped', ({ clock }) => clock.advance(0)],
    [
      'was suspended with its machine, so that only the wall clock shows it',
      ({ clock }) => clock.setBack(-60_000),
    ],
    [
      'was stopped while the wall clock was set back, so that only the monotonic clock shows it',
      ({ clock }) => {
        clock.setBack(120_000);
      },
    ],
  ])('and %s gets STORE_LOCKED for every write, and nothing of them is in the log', (reason, wake) => {
    const { root, writer, taker, writing, takeOver } = writerAndTaker();
    const { epoch } = takeOver();
    taker.appendEvent(taskDir, 'd1', makeEvent(2));
    // The timers of the writer do not act before its next write.
    if (reason !== 'was suspended with its machine, so that only the wall clock shows it')
      Object.defineProperty(writing.clock, 'monotonic', { value: () => 60_000 });
    wake(writing);
    if (reason === 'was stopped') expect(writer.getDispatchEvents(taskDir, 'd1')).toEqual(makeEvents(1, 2));
    for (const write of [
      () => writer.appendEvent(taskDir, 'd1', makeEvent(8)),
      () => writer.appendEvents(taskDir, 'd1', makeEvents(8, 3)),
      () => writer.updateDispatch(taskDir, 'd1', { cost: 1 }),
      () => writer.deleteDispatch(taskDir, 'd1'),
    ]) {
      expect(codeOf(write)).toBe('STORE_LOCKED');
      expect(write).toThrow(`on b`);
    }
    writer.releaseDispatch(taskDir, 'd1');
    taker.appendEvent(taskDir, 'd1', makeEvent(3));
    for (const store of [writer, taker]) {
      expect(store.getDispatchEvents(taskDir, 'd1')).toEqual(makeEvents(1, 3));
      expect(store.getDispatchEnvelope(taskDir, 'd1')?.cost).toBeNull();
    }
    taker.releaseDispatch(taskDir, 'd1');
    expect(writer.claimDispatch(taskDir, 'd1').epoch).toBe((epoch ?? 0) + 1);
    writer.appendEvent(taskDir, 'd1', makeEvent(4));
    for (const store of [writer, taker]) store.close();
    expect(readdirSync(join(root, taskDir, 'dispatches'))).toEqual(['d1.json']);
    expect(readdirSync(join(root, '.writers'))).toEqual([]);
  });

  it('has acknowledged an append that was in the file when the next owner copied it', () => {
    const root = makeRoot();
    const [writing, taking] = [manualTime(), manualTime()];
    let whileWriting: (() => void) | null = null;
    const files = {
      ...systemFiles,
      write: (...args: Parameters<typeof systemFiles.write>) => {
        const count = systemFiles.write(...args);
        const stopped = whileWriting;
        whileWriting = null;
        stopped?.();
        return count;
      },
    };
    const writer = openStore(root, {}, { ...writing, files, processes: onHost('a') });
    const taker = openStore(root, {}, { ...taking, processes: onHost('b') });
    writer.createDispatch(taskDir, makeEnvelope('d1'));
    writer.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(codeOf(() => taker.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
    whileWriting = () => {
      taking.clock.advance(leaseMs);
      taker.claimDispatch(taskDir, 'd1');
      writing.clock.setBack(-leaseMs);
    };
    writer.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(codeOf(() => writer.appendEvent(taskDir, 'd1', makeEvent(3)))).toBe('STORE_LOCKED');
    expect(taker.getDispatchEvents(taskDir, 'd1')).toEqual(makeEvents(1, 2));
  });

  it('does not put a copy with a longer envelope over the file of the next owner', () => {
    const { root, writer, taker, takeOver } = writerAndTaker();
    const file = dispatchFile(root, 'd1');
    const before = systemFiles.stat(file)?.ino;
    takeOver();
    expect(systemFiles.stat(file)?.ino).not.toBe(before);
    taker.appendEvent(taskDir, 'd1', makeEvent(2));
    const long = { structuredResult: 'x'.repeat(10_000) };
    expect(codeOf(() => writer.updateDispatch(taskDir, 'd1', long))).toBe('STORE_LOCKED');
    expect(taker.getDispatchEvents(taskDir, 'd1')).toEqual(makeEvents(1, 2));
  });

  it('keeps its claim although its timer cannot run, if it writes without a pause', () => {
    const { writer, writing, taking, claim, taker } = writerAndTaker();
    Object.defineProperty(writing.clock, 'monotonic', { value: () => taking.clock.monotonic() });
    expect(codeOf(claim)).toBe('STORE_LOCKED');
    for (let at = 2; at < 20; at += 1) {
      taking.clock.advance(heartbeat - 1);
      writer.appendEvent(taskDir, 'd1', makeEvent(at));
      expect(codeOf(claim)).toBe('STORE_LOCKED');
    }
    expect(taker.getDispatchEvents(taskDir, 'd1')).toHaveLength(19);
  });
});

describe('a claim that a person ends', () => {
  it('is free at once, and its owner gets STORE_LOCKED for its next write', () => {
    const root = makeRoot();
    const time = manualTime();
    const [owner, other] = [openStore(root, {}, time), openStore(root, {}, time)];
    owner.createDispatch(taskDir, makeEnvelope('d1'));
    owner.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(other.findClaim(taskDir, 'd1')).toMatchObject({ isOwn: false, state: 'running' });
    expect(owner.findClaim(taskDir, 'd1')).toMatchObject({ isOwn: true, state: 'running' });
    other.breakClaim(taskDir, 'd1');
    expect(other.findClaim(taskDir, 'd1')).toBeNull();
    const append = () => owner.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(codeOf(append)).toBe('STORE_LOCKED');
    expect(codeOf(append)).toBe('STORE_LOCKED');
    expect(other.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
    expect(owner.claimDispatch(taskDir, 'd1').epoch).toBe(3);
    append();
    expect(other.getDispatchEvents(taskDir, 'd1')).toEqual(makeEvents(1, 2));
  });

  it('changes nothing if there is none, and is an error without a dispatch', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    store.breakClaim(taskDir, 'd1');
    expect(store.findClaim(taskDir, 'd1')).toBeNull();
    for (const call of [() => store.breakClaim(taskDir, 'd2'), () => store.findClaim(taskDir, 'd2')])
      expect(codeOf(call)).toBe('STORE_DISPATCH_NOT_FOUND');
  });
});

it('a store claims more dispatches than a file may have names, and renews and releases all of them', () => {
  const root = makeRoot();
  const [writing, taking] = [manualTime(), manualTime()];
  const store = openStore(root, {}, { ...writing, mostLinks: 3, processes: onHost('a') });
  const taker = openStore(root, {}, { ...taking, processes: onHost('b') });
  const ids = Array.from({ length: 10 }, (_, at) => `d${at}`);
  for (const id of ids) store.createDispatch(taskDir, makeEnvelope(id));
  expect(readdirSync(join(root, '.writers'))).toHaveLength(4);
  for (let round = 0; round < 2; round += 1) {
    for (const id of ids) expect(codeOf(() => taker.claimDispatch(taskDir, id))).toBe('STORE_LOCKED');
    writing.clock.advance(heartbeat);
    taking.clock.advance(leaseMs);
  }
  store.close();
  expect(readdirSync(join(root, '.writers'))).toEqual([]);
  for (const id of ids) taker.claimDispatch(taskDir, id);
});

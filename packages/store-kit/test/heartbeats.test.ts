import { spawnSync } from 'node:child_process';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createLease, HeartbeatTimer, HeartbeatWatch, type Lease } from '../src/index.ts';

const leaseMs = 900;
const here = createLease(leaseMs);
const elsewhere: Lease = { ...here, token: 'far', owner: { ...here.owner, host: 'elsewhere' } };
const exited: Lease = {
  ...here,
  owner: { ...here.owner, pid: spawnSync(process.execPath, ['-e', '']).pid, startTime: '1' },
};
const running = { state: 'running', expiresInMs: null };
const expired = { state: 'expired', expiresInMs: null };

describe('a lease whose heartbeat is watched', () => {
  it('has expired at once if its process is proven to have exited', () => {
    expect(new HeartbeatWatch(new ManualClock()).observe(exited, 1)).toEqual(expired);
  });

  it('expires when an opening has seen the same heartbeat for a whole lease, and not a moment earlier', () => {
    const clock = new ManualClock();
    const watch = new HeartbeatWatch(clock);
    expect(watch.observe(elsewhere, 1)).toEqual({ state: 'unknown', expiresInMs: leaseMs });
    clock.advance(leaseMs - 1);
    expect(watch.observe(elsewhere, 1)).toEqual({ state: 'unknown', expiresInMs: 1 });
    clock.advance(1);
    expect(watch.observe(elsewhere, 1)).toEqual(expired);
  });

  it('does not expire while the process that read its heartbeat was stopped after the read', () => {
    const clock = new ManualClock();
    const watch = new HeartbeatWatch(clock);
    watch.observe(elsewhere, 1);
    clock.advance(leaseMs - 1);
    const readFrom = clock.monotonic();
    clock.advance(1_000);
    expect(watch.observe(elsewhere, 1, readFrom)).toEqual({ state: 'unknown', expiresInMs: 1 });
  });

  it('runs if its heartbeat changed, and expires a whole lease after the change was seen', () => {
    const clock = new ManualClock();
    const watch = new HeartbeatWatch(clock);
    watch.observe(elsewhere, 5);
    clock.advance(leaseMs);
    expect(watch.observe(elsewhere, 4)).toEqual(running);
    clock.advance(leaseMs - 1);
    expect(watch.observe(elsewhere, 4)).toEqual(running);
    clock.advance(1);
    expect(watch.observe(elsewhere, 4)).toEqual(expired);
  });

  it('runs while its process can be checked and is running, and expires although it is: it may be stopped', () => {
    const clock = new ManualClock();
    const watch = new HeartbeatWatch(clock);
    expect(watch.observe(here, 1)).toEqual(running);
    expect(watch.hasExited(here.owner)).toBe(false);
    clock.advance(leaseMs);
    expect(watch.observe(here, 1)).toEqual(expired);
  });

  it('expires by the monotonic clock: a corrected wall clock changes nothing', () => {
    const clock = new ManualClock();
    const watch = new HeartbeatWatch(clock);
    watch.observe(elsewhere, 1);
    clock.setBack(-10 * leaseMs);
    expect(watch.observe(elsewhere, 1)).toMatchObject({ state: 'unknown', expiresInMs: leaseMs });
  });

  it('is judged by the time that its owner promised, and by each opening for itself', () => {
    const clock = new ManualClock();
    const [first, second] = [new HeartbeatWatch(clock), new HeartbeatWatch(clock)];
    const patient = { ...elsewhere, leaseMs: 2 * leaseMs };
    first.observe(patient, 1);
    clock.advance(leaseMs);
    expect(first.observe(patient, 1)).toMatchObject({ expiresInMs: leaseMs });
    expect(second.observe(patient, 1)).toMatchObject({ expiresInMs: 2 * leaseMs });
    first.forget(patient.token);
    expect(first.observe(patient, 1)).toMatchObject({ expiresInMs: 2 * leaseMs });
  });
});

it('a timer renews in each third of a lease, from its start until it is stopped', () => {
  const clock = new ManualClock();
  let renewals = 0;
  const timer = new HeartbeatTimer(clock, leaseMs, () => {
    renewals += 1;
  });
  clock.advance(leaseMs);
  expect(renewals).toBe(0);
  timer.start();
  timer.start();
  expect(clock.timers).toBe(1);
  clock.advance(leaseMs);
  expect(renewals).toBe(3);
  timer.stop();
  clock.advance(leaseMs);
  expect([renewals, clock.timers]).toEqual([3, 0]);
});

import { openDispatchStore } from '@hansard/dispatch';
import { storeErrors } from '@hansard/provider';
import { createDispatch, ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';

const taskDir = 'lab/tasks/route-models';
const dispatch = { taskDir, dispatchId: 'far' };

/** A store whose dispatch is refused with these times until it can be claimed, and a clock that a test advances. */
async function refusedWith(...times: (number | null)[]) {
  const clock = new ManualClock();
  let claims = 0;
  const provider = changedStore((store) => ({
    claimDispatch(task, dispatchId) {
      const expiresInMs = times[claims];
      claims += 1;
      if (expiresInMs === undefined) return store.claimDispatch(task, dispatchId);
      throw storeErrors.error('STORE_LOCKED', 'process 7 on elsewhere', {
        details: { owner: '7', expiresInMs },
      });
    },
  }));
  const store = openDispatchStore(provider, { clock });
  await createDispatch(store, taskDir, { role: 'worker', dispatchId: 'far' });
  claims = 0;
  const waits: number[] = [];
  const open = (waitMs?: number, signal?: AbortSignal) =>
    store.openDispatch(dispatch, {
      write: true,
      signal,
      ...(waitMs === undefined ? {} : { waitMs }),
      onWait: ({ code }, ms) => {
        expect(code).toBe('STORE_LOCKED');
        waits.push(ms);
      },
    });
  return { clock, open, waits, claims: () => claims };
}

describe('a claim whose owner cannot be checked', () => {
  it('is refused at once without `waitMs`, or if it expires later', async () => {
    const { open, waits } = await refusedWith(15_000, 15_000);
    await expect(open()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await expect(open(14_999)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    expect(waits).toEqual([]);
  });

  it('is waited for and then taken, also when it takes a second try', async () => {
    const { clock, open, waits } = await refusedWith(15_000, 200);
    const opened = open(20_000);
    await clock.timersSet(1);
    clock.advance(15_000);
    await clock.timersSet(2);
    clock.advance(200);
    await using claimed = await opened;
    expect(claimed.dispatchId).toBe('far');
    expect(waits).toEqual([15_000, 200]);
  });

  it('is refused when its owner turns out to run', async () => {
    const { clock, open, claims } = await refusedWith(15_000, null);
    const opened = open(60_000);
    const refused = expect(opened).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await clock.timersSet(1);
    clock.advance(15_000);
    await refused;
    expect(claims()).toBe(2);
  });

  it('is not waited for longer than `waitMs` in all, however often its owner renews it', async () => {
    const { clock, open, waits } = await refusedWith(600, 600, 600);
    const opened = open(1_000);
    const refused = expect(opened).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await clock.timersSet(1);
    clock.advance(600);
    await refused;
    expect(waits).toEqual([600]);
  });

  it('is not waited for after the signal aborts, before or during a wait', async () => {
    const { clock, open, claims } = await refusedWith(15_000, 15_000);
    await expect(open(20_000, AbortSignal.abort())).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    expect([clock.timers, claims()]).toEqual([0, 1]);
    const stop = new AbortController();
    const opened = open(20_000, stop.signal);
    const refused = expect(opened).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await clock.timersSet(1);
    stop.abort();
    await refused;
    expect([clock.timers, claims()]).toEqual([0, 2]);
  });
});

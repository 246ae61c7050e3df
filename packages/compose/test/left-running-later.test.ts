import { openDispatchStore } from '@hansard/dispatch';
import type { ClaimState, DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { createDispatch, ManualClock } from '@hansard/testing';
import { expect, it } from 'vitest';
import { LeftRunning } from '../src/index.ts';

const taskDir = 'lab/tasks/one';

/** A store with a running dispatch whose owner cannot be checked until its claim expires, and a command that looks for such dispatches. */
async function started() {
  const provider = createMemoryStore();
  await createDispatch(openDispatchStore(provider), taskDir, { role: 'worker', dispatchId: 'LOST' });
  let claim: ClaimState = {
    owner: 'process 7 on another host',
    isOwn: false,
    state: 'unknown',
    expiresInMs: 700,
  };
  const findClaims = (_: string, ids: readonly string[]) => ids.map(() => claim);
  const store = openDispatchStore(
    new Proxy(provider, {
      get(target, key) {
        if (key === 'findClaims') return findClaims;
        if (key === 'capabilities') return { ...target.capabilities, writers: 'dispatch' };
        const member: unknown = Reflect.get(target, key, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    }) as DispatchStoreProvider,
  );
  const notes: string[] = [];
  const context = { cwd: '/', env: {}, onNote: (line: string) => notes.push(line) };
  const clock = new ManualClock();
  const left = await LeftRunning.close(context, store, taskDir, clock);
  const status = async () => (await store.getDispatchEnvelope(taskDir, 'LOST'))?.status;
  const expire = () => {
    claim = { ...claim, state: 'expired', expiresInMs: null };
  };
  return { left, clock, status, expire, noted: () => notes.join('\n') };
}

it('a dispatch whose owner cannot be checked is closed when its claim has expired, while the command runs', async () => {
  const { left, clock, status, expire, noted } = await started();
  clock.advance(699);
  expect(await status()).toBe('running');
  expire();
  clock.advance(1);
  await left[Symbol.asyncDispose]();
  expect(await status()).toBe('crashed');
  expect(noted()).toContain('worker LOST was left running by a process that has exited');
  expect(clock.timers).toBe(0);
});

it('it is unchanged if its owner renews the claim, and the command looks once only', async () => {
  const { left, clock, status } = await started();
  clock.advance(700);
  await left[Symbol.asyncDispose]();
  expect([await status(), clock.timers]).toEqual(['running', 0]);
});

it('it is unchanged if the command ends before the claim has expired', async () => {
  const { left, clock, status, expire } = await started();
  await left[Symbol.asyncDispose]();
  expire();
  clock.advance(700);
  expect([await status(), clock.timers]).toEqual(['running', 0]);
});

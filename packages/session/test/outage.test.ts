import { openDispatchStore } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { dispatchId, taskDir } from './prepare.ts';
import { answers, says } from './scripted.ts';

const words = ['one', 'two', 'three'];

/** A session whose store is away from the first transcript entry on, for some time. */
async function throughOutage(outageMs: number) {
  const clock = new ManualClock();
  const inner = createMemoryStore();
  const failing = failingStore(1, inner, true);
  const store = openDispatchStore(failing.provider, { clock, retryMs: 10_000 });
  const session = await openSession({
    store,
    taskDir,
    dispatchId,
    model: answers(says('Hello.')),
  });
  const { root } = session;
  clock.after(outageMs, () => failing.recover());
  for (const content of words) session.logTranscriptEntry('agent_001', { role: 'user', content });
  const flushed = session.flushed().then(
    () => null,
    (error: unknown) => error,
  );
  let error: unknown;
  let isSettled = false;
  void flushed.then((settled) => {
    error = settled;
    isSettled = true;
  });
  while (!isSettled && clock.monotonic() < 60_000) {
    await new Promise(setImmediate);
    clock.advance(25);
  }
  return { root, session, inner, error, isSettled, clock };
}

describe('a session whose store is away', () => {
  it('for less than retryMs continues, with every event in its order', async () => {
    const { root, session, inner, error, isSettled } = await throughOutage(9_000);
    expect({ error, isSettled }).toEqual({ error: null, isSettled: true });
    await root.harken('And now?');
    await root.response();
    await session.flushed();
    const said = inner.getDispatchEvents(taskDir, dispatchId).map(({ data }) => data.content ?? data.text);
    expect(said.filter((text) => text !== undefined)).toEqual([...words, 'And now?', 'Hello.']);
  });

  it('for longer ends with the error of the store, which says how long it was tried', async () => {
    const { session, error, clock } = await throughOutage(30_000);
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { triedMs: 10_000 } });
    expect(clock.monotonic()).toBeLessThan(10_100);
    const closed = expect.objectContaining({ code: 'SESSION_CLOSED', cause: error });
    expect(() => session.logPieceOfText('agent_001', 'x', 'e1')).toThrow(closed);
  });
});

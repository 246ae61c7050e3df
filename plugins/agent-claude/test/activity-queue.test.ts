import { newEvent } from '@hansard/events';
import type { AgentActivity } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { ActivityQueue } from '../src/activity-queue.ts';

const patient = 60_000;

function call(toolCallId: string): AgentActivity {
  return { kind: 'event', event: newEvent('agent:tool_call', { toolCallId, tool: 'Bash', metadata: {} }) };
}

/** Whether a promise is settled when everything that is due has been done. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  const turn = new Promise((resolve) => setImmediate(resolve, open));
  return (await Promise.race([promise, turn])) !== open;
}

describe('who waits for a call', () => {
  it('continues when the call is recorded, not when it is only taken', async () => {
    const queue = new ActivityQueue();
    const waiting = queue.whenRecorded('t1', patient);
    queue.add([call('t0'), call('t1'), call('t2')]);
    const taking = queue[Symbol.asyncIterator]();
    await taking.next();
    await taking.next();
    expect(await isSettled(waiting)).toBe(false);
    await taking.next();
    expect(await isSettled(waiting)).toBe(true);
    expect(await isSettled(queue.whenRecorded('t0', patient))).toBe(true);
  });

  it('does not wait forever for a call that the engine does not report', async () => {
    const queue = new ActivityQueue();
    await queue.whenRecorded('t1', 1);
  });

  it('continues when nobody takes activities any more', async () => {
    const queue = new ActivityQueue();
    queue.add([call('t1')]);
    const waiting = [queue.whenRecorded('t1', patient), queue.whenRecorded('t2', patient)];
    queue.leave();
    await Promise.all(waiting);
  });

  it('an error comes after earlier activities', async () => {
    const queue = new ActivityQueue();
    queue.add([call('t1')]);
    queue.end({ error: new Error('broken') });
    const taking = queue[Symbol.asyncIterator]();
    expect((await taking.next()).done).toBe(false);
    await expect(taking.next()).rejects.toThrow('broken');
  });
});

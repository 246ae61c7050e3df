import { openDispatchStore } from '@hansard/dispatch';
import { type DispatchStatus, type NewEvent, newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { expect, it } from 'vitest';
import { tellBadEnds } from '../src/run/tell-bad-ends.ts';

const taskDir = 'lab/tasks/route-models';

const hookFailed = newEvent('harness:error', { message: 'The hook guard could not decide.' });
const failed = newEvent('session:complete', { status: 'failed', errors: ['overloaded'] });
const done = newEvent('session:complete', { status: 'completed' });
const threw = newEvent('harness:error', { message: 'The engine ended without a result.' });
const aborted = newEvent('harness:abort', { reason: 'wrong branch', by: 'lead' });
const working = Array.from({ length: 100 }, () => newEvent('agent:text', { text: 'still working' }));

const ends: readonly (readonly [string, DispatchStatus, readonly NewEvent[], RegExp])[] = [
  [
    'what it said itself, not what had failed before',
    'crashed',
    [hookFailed, failed],
    /crashed: .*overloaded/,
  ],
  ['the error behind what it said itself', 'crashed', [failed, threw], /crashed: error .*engine ended/],
  [
    'who stopped it, not what failed then',
    'aborted',
    [aborted, hookFailed, failed],
    /was aborted: abort .*wrong branch/,
  ],
  [
    'who stopped it, however much it did since',
    'aborted',
    [aborted, ...working, done],
    /was aborted: abort .*wrong branch/,
  ],
];

it.each(ends)('a run that ended badly tells %s', async (_what, status, events, told) => {
  await using store = openDispatchStore(createMemoryStore());
  const { dispatchId } = await createDispatch(store, taskDir, { role: 'worker' });
  await appendEvents(store, taskDir, dispatchId, events);
  const ended = await updateDispatch(store, taskDir, dispatchId, { status });
  await expect(tellBadEnds(store, taskDir, [ended])).rejects.toThrow(told);
});

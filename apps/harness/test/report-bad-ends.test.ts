import { openDispatchStore } from '@hansard/dispatch';
import { type DispatchStatus, type NewEvent, newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { expect, it } from 'vitest';
import { reportBadEnds } from '../src/commands/run.ts';

const taskDir = 'lab/tasks/route-models';

const hookFailed = newEvent('harness:error', { message: 'The hook guard could not decide.' });
const failed = newEvent('session:complete', { status: 'failed', errors: ['overloaded'] });
const done = newEvent('session:complete', { status: 'completed' });
const threw = newEvent('harness:error', { message: 'The engine ended without a result.' });
const aborted = newEvent('harness:abort', { reason: 'wrong branch', by: 'lead' });
const working = Array.from({ length: 100 }, () => newEvent('agent:text', { text: 'still working' }));

const ends: readonly (readonly [string, DispatchStatus, readonly NewEvent[], RegExp])[] = [
  [
    'the end that it recorded itself, not an earlier failure',
    'crashed',
    [hookFailed, failed],
    /crashed: .*overloaded/,
  ],
  [
    'the error after the end that it recorded itself',
    'crashed',
    [failed, threw],
    /crashed: error .*engine ended/,
  ],
  [
    'its stop, not a failure after the stop',
    'aborted',
    [aborted, hookFailed, failed],
    /was aborted: abort .*wrong branch/,
  ],
  [
    'its stop, however much it did after it',
    'aborted',
    [aborted, ...working, done],
    /was aborted: abort .*wrong branch/,
  ],
];

it.each(ends)('the report of a run that ended badly has %s', async (_what, status, events, reported) => {
  await using store = openDispatchStore(createMemoryStore());
  const { dispatchId } = await createDispatch(store, taskDir, { role: 'worker' });
  await appendEvents(store, taskDir, dispatchId, events);
  const ended = await updateDispatch(store, taskDir, dispatchId, { status });
  await expect(reportBadEnds(store, taskDir, [ended])).rejects.toThrow(reported);
});

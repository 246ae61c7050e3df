import { expect, it, vi } from 'vitest';
import { mergeCalls } from '../src/index.ts';

it('a listener is called once for the writes of one turn, after they have returned', async () => {
  const listener = vi.fn();
  const calls = mergeCalls(listener);
  calls.notify();
  calls.notify();
  expect(listener).not.toHaveBeenCalled();
  await Promise.resolve();
  expect(listener).toHaveBeenCalledTimes(1);
  calls.notify();
  await Promise.resolve();
  expect(listener).toHaveBeenCalledTimes(2);
});

it('a stopped listener is not called, including for a write before the stop', async () => {
  const listener = vi.fn();
  const calls = mergeCalls(listener);
  calls.notify();
  calls.stop();
  calls.notify();
  await Promise.resolve();
  expect(listener).not.toHaveBeenCalled();
});

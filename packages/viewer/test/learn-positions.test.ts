import type { DispatchLog } from '@hansard/dispatch';
import { expect, it, onTestFinished, vi } from 'vitest';
import { LogRows, learnPositions } from '../src/server/log-rows.ts';

/** A log of this number of events that notes what is read of it. */
function noted(count: number) {
  const read: number[] = [];
  const event = {
    v: 1,
    id: 'e',
    timestamp: '2026-03-01T10:00:00.000Z',
    type: 'agent:text',
    data: { text: 't' },
  };
  const log = {
    envelope: { status: 'running' },
    async *pages({ after = -1 }) {
      read.push(after);
      yield { first: after + 1, events: [event], next: after + 1 };
    },
    last: async (wanted: number) => ({
      first: count - wanted,
      events: Array.from({ length: wanted }, () => event),
      next: count - 1,
    }),
  } as unknown as DispatchLog;
  return { log, read };
}

it('reads one event of each fifty thousand, and at most a thousand', async () => {
  const short = noted(0);
  await learnPositions(short.log, 50_000);
  expect(short.read).toEqual([]);
  const long = noted(0);
  await learnPositions(long.log, 175_000);
  expect(long.read).toEqual([50_000, 100_000, 150_000]);
  const longest = noted(0);
  await learnPositions(longest.log, 90_000_000);
  expect([longest.read.length, longest.read.at(-1)]).toEqual([1_000, 50_000_000]);
});

it('does so once for a log, after its last rows were shown', async () => {
  vi.useFakeTimers();
  // Other tests share this process.
  onTestFinished(() => void vi.useRealTimers());
  const { log, read } = noted(175_000);
  const rows = new LogRows(log);
  await rows.last(100);
  await rows.last(100);
  const before = read.filter((after) => after > 0);
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  await expect.poll(() => read.filter((after) => after > 0)).toEqual([50_000, 100_000, 150_000]);
  expect(before).toEqual([]);
});

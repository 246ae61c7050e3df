import { storeErrors } from '@hansard/provider';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { noteOutages } from '../src/harness.ts';

const error = storeErrors.error('STORE_UNAVAILABLE', 'The server is away.', { isTransient: true });
const outage = { error, retryMs: 30_000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function outages() {
  const lines: string[] = [];
  const report = noteOutages({ cwd: '.', env: {}, onNote: (line) => lines.push(line) });
  return { report, noted: () => lines.splice(0).join('\n') };
}

it('says nothing of an outage that ends within a second', () => {
  const { report, noted } = outages();
  for (let round = 0; round < 3; round += 1) {
    report(outage);
    vi.advanceTimersByTime(900);
    report(null);
  }
  vi.advanceTimersByTime(10_000);
  expect(noted()).toBe('');
});

it('says after a second that the store is away, and when it is back, once for each outage', () => {
  const { report, noted } = outages();
  for (let round = 0; round < 2; round += 1) {
    report(outage);
    vi.advanceTimersByTime(1_000);
    const away = 'hansard: the store does not answer: STORE_UNAVAILABLE: The server is away.\n';
    expect(noted()).toBe(`${away}  Each call is repeated for 30 s.`);
    vi.advanceTimersByTime(40_000);
    report(null);
    expect(noted()).toBe('hansard: the store answers again, after 41.0 s.');
  }
});

import { expect, it } from 'vitest';
import { formatCost, formatDuration, formatTime, formatTokens, formatUsage } from '../../src/index.ts';

it.each([
  [0, '0ms'],
  [340.4, '340ms'],
  [999.6, '1.0s'],
  [1_249, '1.2s'],
  [59_949, '59.9s'],
  [59_950, '1m 00s'],
  [65_000, '1m 05s'],
  [3_599_600, '1h 00m'],
  [7_380_000, '2h 03m'],
])('a duration of %d milliseconds reads %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

it.each([
  [0, '0'],
  [999, '999'],
  [12_345, '12.3K'],
  [999_999, '1M'],
  [1_200_000, '1.2M'],
])('%d tokens read %s', (count, text) => {
  expect(formatTokens(count)).toBe(text);
});

it.each([
  [0, '$0.00'],
  [0.00001, '<$0.0001'],
  [0.0018000000000000002, '$0.0018'],
  [0.15, '$0.15'],
  [12.3456, '$12.35'],
])('a cost of %d dollars reads %s', (usd, text) => {
  expect(formatCost(usd)).toBe(text);
});

it('costs are formatted as Intl.NumberFormat does', () => {
  const format = (most: number) =>
    new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: most });
  const [fractions, cents] = [format(4), format(2)];
  const parts = [0, 0.0001, 0.00015, 0.01, 0.1, 0.12, 0.123, 0.1234, 0.12345, 0.5, 0.99995, 1 / 3];
  for (const whole of [0, 1, 9, 999, 1_000, 12_345, 999_999, 1e21])
    for (const part of parts) {
      const usd = whole + part;
      expect([usd, formatCost(usd)]).toEqual([usd, (usd < 1 ? fractions : cents).format(usd)]);
    }
});

it('usage is formatted in words, without unknown figures', () => {
  expect(formatUsage({ inputTokens: 300, outputTokens: 60 })).toBe('300 in, 60 out');
  expect(
    formatUsage({ inputTokens: 1, outputTokens: 2, cacheReadTokens: 5_200, cacheWriteTokens: 3, turns: 2 }),
  ).toBe('1 in, 2 out, 5.2K cache read, 3 cache written, 2 turns');
});

it('a time is the time of day in UTC', () => {
  expect(formatTime('2026-03-01T23:59:58.999Z')).toBe('23:59:58');
});

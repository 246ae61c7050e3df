import { InvalidArgumentError } from 'commander';

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A duration such as `500ms`, `2s`, `1.5m` or `1h`, as an option's value; in milliseconds. */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h)$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError('Give a duration with its unit, such as 500ms, 2s, 1.5m or 1h.');
  return Number(amount) * unitMs[unit as keyof typeof unitMs];
}

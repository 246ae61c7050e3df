import { InvalidArgumentError } from 'commander';

const unitBytes = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

/** A size such as `500MB` or `1.5GB`, as an option's value; in bytes. */
export function parseBytes(text: string): number {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,9})?)(B|KB|MB|GB|TB)$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError('Give a size with its unit, such as 500MB, 1.5GB or 2TB.');
  return Number(amount) * unitBytes[unit as keyof typeof unitBytes];
}

/** A number of bytes in the largest unit in which it is at least 1, such as `5.2GB`. */
export function byteCount(bytes: number): string {
  const [unit, size] = Object.entries(unitBytes).findLast(([, least]) => bytes >= least) ?? ['B', 1];
  return `${Number((bytes / size).toFixed(1))}${unit}`;
}

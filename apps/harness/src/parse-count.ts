import { InvalidArgumentError } from 'commander';

/** A whole number from 0, as an option's value. */
export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 0.');
  return Number(text);
}

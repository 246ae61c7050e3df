import { InvalidArgumentError } from 'commander';

const most = 999_999_999;

/** Reads an option's value as a whole number; `example` is a typical value. */
export function parseCount({ from = 0, example }: { readonly from?: number; readonly example: number }) {
  return (text: string): number => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (count >= from) return count;
    throw new InvalidArgumentError(`Give a whole number from ${from} to ${most}, such as ${example}.`);
  };
}

import { randomFrom } from '@hansard/testing';

/** Choices that are the same for the same seed. */
export class Random {
  /** From 0 to below 1. */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = randomFrom(seed);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('There is nothing to pick from.');
    return item;
  }

  /** So few that texts repeat all the time. */
  words(): string {
    return this.pick(['yes', 'no', 'I will pay', 'stay', 'not yet']);
  }
}

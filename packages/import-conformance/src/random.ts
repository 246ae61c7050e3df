/** Random choices that a seed repeats. */
export interface RandomChoices {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  /** Whether something happens that does so with this probability. */
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A text that occurs nowhere else. The kit expects it in the events, unless its record is left out. */
  text(): string;
}

/** The mulberry32 generator. */
export function createChoices(seed: number): RandomChoices {
  let state = seed >>> 0;
  let texts = 0;
  const below = (end: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  };
  return {
    below,
    chance: (share) => below(1_000_000) < share * 1_000_000,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new TypeError('There is nothing to pick from.');
      return items[below(items.length)] as T;
    },
    text() {
      texts += 1;
      return `word${texts}x${seed % 100_000}${'y'.repeat(texts % 7 === 0 ? 60 : 0)}z`;
    },
  };
}

const textPattern = /word\d+x\d+y*z/g;

/** The texts of `RandomChoices.text` in some other text. */
export function textsIn(text: string): string[] {
  return [...new Set(text.match(textPattern) ?? [])];
}

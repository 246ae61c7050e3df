import { idSchema } from '@hansard/events';

/** Gives out unique names. */
export interface NamePool {
  /** Reserves the name itself if it is valid and free, otherwise the next one: `name:2`, `name:3` … */
  take(wanted: string): string;
}

/** The longest name that leaves room for `:` and a number. */
const longestBase = 112;

export function createNamePool(taken: Set<string>): NamePool {
  const nextNumbers = new Map<string, number>();

  function numbered(base: string): string {
    let number = nextNumbers.get(base) ?? 2;
    while (taken.has(`${base}:${number}`)) number += 1;
    nextNumbers.set(base, number + 1);
    return `${base}:${number}`;
  }

  return {
    take(wanted) {
      const base = isName(wanted) ? wanted : wanted.replace(/[^A-Za-z0-9._:-]/g, '_').slice(0, longestBase);
      const name = taken.has(base) ? numbered(base.slice(0, longestBase)) : base;
      taken.add(name);
      return name;
    },
  };
}

/** Whether a text is a valid id. */
export function isName(text: string): boolean {
  return idSchema.safeParse(text).success;
}

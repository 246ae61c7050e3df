import { idSchema } from '@hansard/events';

/** Names that are taken, and new ones like a given one that are not. */
export interface NamePool {
  /** Takes the name itself where it fits and is free, and otherwise the next one like it: `name:2`, `name:3` … */
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

/** Whether a text can be an id as it is. */
export function isName(text: string): boolean {
  return idSchema.safeParse(text).success;
}

/** How many places each package may have. */
export type Ceilings = Readonly<Record<string, number>>;

export interface CeilingProblem {
  readonly group: string;
  readonly message: string;
  readonly isAbove: boolean;
}

/** Where a count differs from its ceiling. A package without a ceiling may have no place; a ceiling must be the count. */
export function compareWithCeilings(ceilings: Ceilings, counted: Ceilings): CeilingProblem[] {
  const groups = [...new Set([...Object.keys(ceilings), ...Object.keys(counted)])].sort();
  return groups.flatMap((group): CeilingProblem[] => {
    const ceiling = ceilings[group] ?? 0;
    const count = counted[group] ?? 0;
    if (count > ceiling) {
      const message = `${group}: ${count} places, ${ceiling} allowed. Rewrite ${count - ceiling} or more of the places above.`;
      return [{ group, message, isAbove: true }];
    }
    if (count === ceiling) return [];
    const message = `${group}: ${count} places, ${ceiling} allowed. Lower the ceiling: pnpm check:prose --write`;
    return [{ group, message, isAbove: false }];
  });
}

/** The ceilings lowered to the counts; one that would have to rise stays. A package without places has no entry. */
export function lowered(ceilings: Ceilings, counted: Ceilings): Ceilings {
  return Object.fromEntries(
    Object.entries(ceilings)
      .map(([group, ceiling]) => [group, Math.min(ceiling, counted[group] ?? 0)] as const)
      .filter(([, ceiling]) => ceiling > 0)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}

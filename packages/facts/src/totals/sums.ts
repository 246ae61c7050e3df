/** The largest count and the largest amount that an envelope can have. A sum above it stays there. */
export const mostCount = Number.MAX_SAFE_INTEGER;
export const mostAmount = Number.MAX_VALUE;

export function addCounts(one: number, other: number): number {
  return Math.min(one + other, mostCount);
}

export function addAmounts(one: number, other: number): number {
  return Math.min(one + other, mostAmount);
}

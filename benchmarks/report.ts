/** A figure of a result, and the most that it should be. */
export interface Target {
  readonly key: string;
  readonly atMost: number;
}

/** Prints one result as a line of JSON, with its targets and whether they were met. */
export function report(
  result: Readonly<Record<string, string | number>>,
  targets: readonly Target[] = [],
): void {
  const checked = targets.map(({ key, atMost }) => ({ key, atMost, met: Number(result[key]) <= atMost }));
  console.log(JSON.stringify(checked.length === 0 ? result : { ...result, targets: checked }));
}

export function rounded(value: number): number {
  return Number(value.toFixed(2));
}

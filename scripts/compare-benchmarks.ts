/** One line that a benchmark prints. */
export type BenchmarkResult = Readonly<Record<string, unknown>>;

/** A figure of a benchmark that became slower. */
export interface Slower {
  /** What was measured: the texts and sizes of the result. */
  readonly what: string;
  readonly figure: string;
  readonly before: number;
  readonly now: number;
  /** The median of the pairs: how many times as much as before. */
  readonly ratio: number;
}

/** Sizes of what was measured. */
const sizes = ['events', 'dispatches', 'limit'];
/** Times. Ratios within one result and sizes of memory are not compared. */
const timePattern = /^(?:ms|(?:micro|milli|nano)?seconds\w*|\w*(?:Ms|Ns|Seconds))$/;
const ratePattern = /PerSecond$/;

/**
 * Compares runs of one benchmark that were made in turns, an earlier commit and this one. The median of the ratios of all pairs counts, so
 * a change of the load of the machine that lasts longer than a pair does not.
 */
export function findSlower(
  before: readonly (readonly BenchmarkResult[])[],
  now: readonly (readonly BenchmarkResult[])[],
  atMost: number,
): Slower[] {
  const [older, newer] = [before.map(figuresOf), now.map(figuresOf)];
  const slower: Slower[] = [];
  for (const [key, { what, figure, isRate }] of newer[0] ?? []) {
    const pairs = newer.flatMap((run, at) => {
      const [left, right] = [older[at]?.get(key)?.value, run.get(key)?.value];
      return left === undefined || right === undefined ? [] : [{ left, right }];
    });
    const ratio = median(pairs.map(({ left, right }) => (isRate ? left / right : right / left)));
    if (!(ratio > atMost)) continue;
    const values = {
      before: median(pairs.map(({ left }) => left)),
      now: median(pairs.map(({ right }) => right)),
    };
    slower.push({ what, figure, ratio, ...values });
  }
  return slower;
}

interface Figure {
  readonly what: string;
  readonly figure: string;
  readonly value: number;
  readonly isRate: boolean;
}

/** The times and rates of a run, by what they measure. */
function figuresOf(results: readonly BenchmarkResult[]): Map<string, Figure> {
  const figures = new Map<string, Figure>();
  for (const result of results) {
    const names = Object.entries(result).filter(
      ([key, value]) => typeof value === 'string' || (typeof value === 'number' && sizes.includes(key)),
    );
    const what = names.map(([, value]) => String(value)).join(' ');
    for (const [figure, value] of Object.entries(result)) {
      const isRate = ratePattern.test(figure);
      if (typeof value !== 'number' || value <= 0 || !(isRate || timePattern.test(figure))) continue;
      figures.set(`${what}\n${figure}`, { what, figure, value, isRate });
    }
  }
  return figures;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

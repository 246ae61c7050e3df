import * as z from 'zod/mini';
import { countSchema } from './fields.ts';

const sharesSchema = z.object({
  /** How many the source has. */
  in: countSchema,
  /** How many of them the events hold. */
  recorded: countSchema,
  /** How many are left out, by reason. */
  leftOut: z.record(z.string(), countSchema),
});

/**
 * What happened to everything in a source: `in` is `recorded` and all of `leftOut` together, for each unit. Bytes are those of the text, after
 * decompression, and count by line with its end. What fidelity leaves out of an event is not counted.
 */
export const sourceBalanceSchema = z.object({
  records: sharesSchema,
  bytes: sharesSchema,
  files: sharesSchema,
});

/** See `sourceBalanceSchema`. */
export type SourceBalance = z.infer<typeof sourceBalanceSchema>;

/** What a balance counts. */
export type BalanceUnit = keyof SourceBalance;

const units: readonly BalanceUnit[] = ['records', 'bytes', 'files'];

/** Counts a balance while a source is read. What is taken and what happens to it are counted apart, so that a gap shows. */
export class BalanceSheet {
  readonly #shares: Record<BalanceUnit, { in: number; recorded: number; leftOut: Record<string, number> }> = {
    records: { in: 0, recorded: 0, leftOut: {} },
    bytes: { in: 0, recorded: 0, leftOut: {} },
    files: { in: 0, recorded: 0, leftOut: {} },
  };

  take(unit: BalanceUnit, count = 1): void {
    this.#shares[unit].in += count;
  }

  record(unit: BalanceUnit, count = 1): void {
    this.#shares[unit].recorded += count;
  }

  leaveOut(unit: BalanceUnit, reason: string, count = 1): void {
    const { leftOut } = this.#shares[unit];
    if (count > 0) leftOut[reason] = (leftOut[reason] ?? 0) + count;
  }

  /** Adds everything of another balance. */
  add(balance: SourceBalance): void {
    for (const unit of units) {
      this.take(unit, balance[unit].in);
      this.record(unit, balance[unit].recorded);
      for (const [reason, count] of Object.entries(balance[unit].leftOut)) this.leaveOut(unit, reason, count);
    }
  }

  /** The balance so far, as a copy. */
  get balance(): SourceBalance {
    return structuredClone(this.#shares);
  }
}

/** The units of a balance that do not add up, in words; null: all do. */
export function balanceProblem(balance: SourceBalance): string | null {
  const problems = units.flatMap((unit) => {
    const { in: all, recorded, leftOut } = balance[unit];
    const others = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    return all === recorded + others
      ? []
      : [`${all} ${unit}, of which ${recorded} were recorded and ${others} left out`];
  });
  return problems.length === 0 ? null : problems.join('; ');
}

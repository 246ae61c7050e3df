import type { CapturedEvent } from '@hansard/events';
import { type EventFilter, filterRows, PassingRows } from '../filters/event-filter.ts';
import { listsOf, type RowSource, type RowsReading, readRows } from './read-rows.ts';
import type { Row } from './row.ts';
import {
  type CopiedEvents,
  canHaveFolds,
  copiesFound,
  type FoldableLog,
  type FoldedRows,
  FoldReading,
  foldsOf,
  type RowFolds,
} from './row-folds.ts';
import type { RowGroup } from './row-group.ts';
import type { RowChoice } from './row-query.ts';

/** How many more rows than asked are kept until it is known which of the last ones are folded. */
const spareRows = 1_000;

export interface ShownRowsOptions extends RowsReading {
  /** The events that are copied from another dispatch. Null: none, or the log itself says which are. */
  readonly copied: CopiedEvents;
  /** Whether the rows of a fold are shown. */
  readonly isOpen: (fold: FoldedRows, folds: RowFolds) => boolean;
  /** How many of the last rows are given. Absent: all. */
  readonly last?: number | undefined;
}

/**
 * The rows of a log that pass a filter, as they are shown: one row stands for the rows of a fold that is not open. A log that can have folds is read for
 * them first. For the last rows it is read once, unless more than 1,000 of them are folded, and only these rows are made.
 */
export async function* shownRows(
  log: FoldableLog,
  filter: EventFilter,
  { copied, isOpen, last, ...reading }: ShownRowsOptions,
): AsyncGenerator<Row, undefined> {
  if (last === 0) return;
  if (last !== undefined) {
    const found = copiesFound(log, copied);
    const canFold = found !== null || (await canHaveFolds(log));
    const rows = new LastRows(last, canFold ? { reading: new FoldReading(found), isOpen } : null, filter);
    for await (const _ of readRows(rows.noted(log), reading, rows))
      throw new Error('Rows are made at the end.');
    if (rows.made !== null) {
      yield* rows.made;
      return;
    }
  }
  const folds = await foldsOf(log, {}, copied);
  const shown: Row[] = [];
  for await (const whole of filterRows(log, filter, reading)) {
    const row = folds === null ? whole : folds.shown(whole, (fold) => isOpen(fold, folds));
    if (row === null) continue;
    if (last === undefined) yield row;
    else if (shown.push(row) > last) shown.shift();
  }
  yield* shown;
}

/** Keeps the events of the last rows, and makes the rows when it is known which of them are shown. */
class LastRows implements RowChoice {
  /** Null: more of the last rows are folded than were kept. */
  made: readonly Row[] | null = null;
  readonly #count: number;
  readonly #folding: { readonly reading: FoldReading; readonly isOpen: ShownRowsOptions['isOpen'] } | null;
  readonly #most: number;
  readonly #passing: PassingRows | null;
  #kept: RowGroup[] = [];
  #hasDropped = false;

  constructor(
    count: number,
    folding: { readonly reading: FoldReading; readonly isOpen: ShownRowsOptions['isOpen'] } | null,
    filter: EventFilter,
  ) {
    this.#count = count;
    this.#folding = folding;
    this.#most = count + (folding === null ? 0 : spareRows);
    this.#passing = filter.isOpen ? null : new PassingRows(filter);
  }

  async *noted(source: RowSource): AsyncGenerator<Iterable<CapturedEvent>> {
    for await (const events of this.#passing?.noted(source) ?? listsOf(source)) {
      if (this.#folding !== null) for (const event of events) this.#folding.reading.add(event);
      yield events;
    }
  }

  couldMatch(group: RowGroup): boolean {
    this.#folding?.reading.group(group);
    if (this.#passing !== null && !this.#passing.passes(group)) return false;
    // Twice as many: one by one, each row would move all others.
    if (this.#kept.push(group) >= 2 * this.#most) {
      this.#kept = this.#kept.slice(-this.#most);
      this.#hasDropped = true;
    }
    return false;
  }

  matches(): boolean {
    return false;
  }

  atEnd(make: (group: RowGroup) => Row): void {
    const { reading, isOpen } = this.#folding ?? {};
    const folds = reading?.end() ?? null;
    const shown = this.#kept.filter(
      ({ position }) => folds?.hides(position, (fold) => isOpen?.(fold, folds) ?? true) !== true,
    );
    if (shown.length < this.#count && this.#hasDropped) return;
    this.made = shown.slice(-this.#count).flatMap((group) => {
      const row = make(group);
      return folds === null ? row : (folds.shown(row, (fold) => isOpen?.(fold, folds) ?? true) ?? []);
    });
  }
}

import type { DispatchEnvelope } from '@hansard/events';
import { addFigure, spendingOf, unpricedOf } from '../spending/spending.ts';
import { modelInWords } from '../totals/call-terms.ts';
import { PeriodFold, periodCounts, type UsagePeriod } from '../totals/period-fold.ts';
import { type Tokens, tokensOf } from '../totals/tokens-of.ts';
import { openCallEvents, withOpenCalls } from '../totals/with-open-calls.ts';
import type { UsageFigures, UsageSums } from './usage-sums.ts';

/** A part of what a dispatch used, small enough for every key. */
export interface UsagePart {
  /** Milliseconds since 1970: the beginning of a quarter of an hour. Null: the time is not recorded. */
  readonly at: number | null;
  /** '': not known. */
  readonly model: string;
  readonly figures: Partial<UsageFigures>;
}

/** What an envelope says of its dispatch, without child dispatches. */
export function figuresOfDispatch(recorded: DispatchEnvelope): Partial<UsageFigures> {
  const envelope = withOpenCalls(recorded);
  const { costUsd, estimatedUsd, unpriced } = spendingOf(envelope);
  const { usage, models } = envelope;
  return {
    dispatches: 1,
    modelCalls: models === null ? null : models.reduce((sum, { calls }) => sum + calls, 0),
    ...(usage === null ? {} : tokenFigures(usage)),
    costUsd,
    estimatedUsd,
    unpriced,
    durationMs: usage?.durationMs ?? null,
  };
}

/**
 * The parts of a dispatch according to its envelope, without child dispatches: at least one. Their sums are `usage`, `cost` and
 * `models` of the envelope. Figures that no period has are at the end of the dispatch; those of no model are of the only model
 * of the dispatch, if it has one.
 */
export function usageParts(envelope: DispatchEnvelope): UsagePart[] {
  const counted = withOpenCalls(envelope);
  const { startedAt, completedAt, models, model } = counted;
  const fold = periodsOf(envelope);
  // What happened is counted from events. Without any, only what is stated is known.
  const isCounted = fold.rows.length > 0;
  fold.settle(completedAt ?? startedAt, counted);
  const [first, ...others] = new Set(models?.map(modelInWords));
  const unnamed = others.length > 0 ? '' : (first ?? model ?? '');
  const { rows } = fold;
  const unpriced = unpricedIn(counted);
  if (rows.length === 0) return [{ at: momentOf(startedAt), model: unnamed, figures: {} }];
  return rows.map((row) => ({
    at: momentOf(row.start),
    model: row.model ?? unnamed,
    figures: figuresOfPeriod(row, counted, isCounted, unpriced(row)),
  }));
}

/** Milliseconds since 1970. Null: the time is not recorded. */
export function momentOf(timestamp: string | null): number | null {
  return timestamp === null ? null : Date.parse(timestamp);
}

/** Adds a dispatch up by keys. A key counts it once, however many of its parts have that key. */
export function addParts<Part extends UsagePart>(
  sums: UsageSums,
  parts: readonly Part[],
  keyOf: (part: Part) => string,
): void {
  const counted = new Set<string>();
  for (const part of parts) {
    const key = keyOf(part);
    sums.add(key, counted.has(key) ? part.figures : { ...part.figures, dispatches: 1 });
    counted.add(key);
  }
}

/** The periods of an envelope with its open calls, as if each were its `agent:inference` event already. */
function periodsOf(envelope: DispatchEnvelope): PeriodFold {
  const fold = new PeriodFold(envelope.periods);
  for (const { timestamp, usage } of envelope.openCalls ?? []) {
    const { model, costUsd, estimatedUsd = null, calls } = usage;
    const call = { model, usage, ...(costUsd === undefined ? {} : { costUsd }) };
    fold.count(call, timestamp, estimatedUsd, calls);
  }
  // They name the model of their calls of tools.
  for (const event of openCallEvents(envelope, () => false)) fold.nameTools(event);
  return fold;
}

/** What of a period the price table has no price for. */
function unpricedIn({ cost, prices, models }: DispatchEnvelope): (row: Readonly<UsagePeriod>) => string[] {
  if (cost !== null || prices === null || models === null || unpricedOf(models).length === 0) return () => [];
  return ({ model, inputTokens }) =>
    inputTokens === undefined ? [] : unpricedOf(models.filter((used) => modelInWords(used) === model));
}

/** As in `spendingOf`: estimates are of dispatches without a stated cost, and then include what is stated for some calls. */
function figuresOfPeriod(
  row: Readonly<UsagePeriod>,
  { cost, prices }: DispatchEnvelope,
  isCounted: boolean,
  unpriced: readonly string[],
): Partial<UsageFigures> {
  const isStated = cost !== null || prices === null;
  const { costUsd = null, estimatedUsd = null } = row;
  const figures: { -readonly [Name in keyof UsageFigures]?: UsageFigures[Name] } = isCounted
    ? { modelCalls: 0, failedModelCalls: 0, toolCalls: 0, failedToolCalls: 0 }
    : {};
  // Spreads of rows cost most of a sum over many dispatches.
  for (const name of periodCounts) {
    const count = row[name];
    if (count !== undefined) figures[name] = count;
  }
  figures.costUsd = isStated ? costUsd : null;
  figures.estimatedUsd = isStated ? null : addFigure(costUsd, estimatedUsd);
  figures.unpriced = unpriced;
  return figures;
}

export function tokenFigures(usage: Partial<Tokens>): Partial<UsageFigures> {
  // A count that is not known stays undefined, which no sum adds.
  return tokensOf(usage as Tokens) as Partial<UsageFigures>;
}

/**
 * The project of a dispatch. Of an import: the folder that the session worked in, if its source names it, because
 * folders of sources do not distinguish all projects. Otherwise what is before the slug of the task: `lab` of
 * `lab/tasks/route-models` (D10).
 */
export function projectOf(
  taskDir: string,
  { cwd, source }: Pick<DispatchEnvelope, 'cwd' | 'source'>,
): string {
  if (source !== null && cwd !== null) return cwd;
  const parts = taskDir.split('/');
  const isShort = parts.length === 3 && parts[1] === 'tasks';
  return parts.slice(0, isShort ? -2 : -1).join('/');
}

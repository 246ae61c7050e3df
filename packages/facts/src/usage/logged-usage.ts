import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { AgentRoster } from '../agents/agent-roster.ts';
import { addFigure, spendingOf, unpricedOf } from '../spending/spending.ts';
import { modelInWords, specialTerms } from '../totals/call-terms.ts';
import { failedModelCall } from '../totals/failed-model-call.ts';
import { PeriodFold, periodCounts, quarterOf, type UsagePeriod } from '../totals/period-fold.ts';
import { type Tokens, tokensOf } from '../totals/tokens-of.ts';
import { openCallEvents, withOpenCalls } from '../totals/with-open-calls.ts';
import { type UsageFigures, UsageSums } from './usage-sums.ts';

const dayMs = 86_400_000;

const hourMs = 3_600_000;

/** The length of a block of a Claude subscription. */
export const blockMs = 5 * hourMs;

/** A part of what the log of a dispatch records. */
export interface LoggedPart extends UsagePart {
  /** The name of the agent, or its id; for the dispatched agent its name or the role of the dispatch. */
  readonly agent: string;
  /** Null: calls of models. */
  readonly tool: string | null;
}

/** What makes parts different. `message`: the message of a call of a tool, which names the model. */
interface Place {
  /** Null: the time is not recorded. */
  readonly start: string | null;
  readonly agentId: string;
  readonly tool: string | null;
  readonly model: string;
  readonly message?: string | undefined;
}

/** The recorded and the open calls of models, and the calls of tools, of a dispatch: what an envelope does not have by agent and by tool. */
export class LoggedUsage {
  readonly #envelope: Pick<DispatchEnvelope, 'role' | 'openCalls'>;
  readonly #roster = new AgentRoster();
  readonly #sums = new UsageSums();
  /** A call that is recorded again has the same id. */
  readonly #counted = new Set<string>();
  /** By id of the call. */
  readonly #calls = new Map<string, Place>();
  /** By id of the message. */
  readonly #models = new Map<string, string>();

  constructor(envelope: Pick<DispatchEnvelope, 'role' | 'openCalls'>) {
    this.#envelope = envelope;
  }

  /** `calls`: how many calls an `agent:inference` is; 0 for what a call has used more. */
  observe(event: CapturedEvent, calls = 1): void {
    this.#roster.learn(event);
    const { agentId = '', messageId } = event;
    const at: Place = { start: quarterOf(event.timestamp), agentId, tool: null, model: '' };
    if (isReadableAs(event, 'agent:inference')) {
      if (this.#counted.has(event.id)) return;
      this.#counted.add(event.id);
      const { model, usage, costUsd = null, durationMs = null } = event.data;
      const named = modelInWords({ model, ...specialTerms(usage) });
      if (messageId !== undefined) this.#models.set(messageId, named);
      this.#add({ ...at, model: named }, { modelCalls: calls, ...tokenFigures(usage), costUsd, durationMs });
    } else if (isReadableAs(event, 'agent:tool_call')) {
      const { tool, toolCallId } = event.data;
      const call = { ...at, tool, message: messageId };
      this.#calls.set(toolCallId, call);
      this.#add(call, { toolCalls: 1, failedToolCalls: 0 });
    } else if (isReadableAs(event, 'agent:tool_result')) {
      const { tool, toolCallId, status, durationMs = null } = event.data;
      const call = this.#calls.get(toolCallId) ?? { ...at, tool };
      this.#add(call, { failedToolCalls: status === 'error' ? 1 : 0, durationMs });
    } else if (failedModelCall(event)) this.#add(at, { failedModelCalls: 1 });
  }

  /** After the last event. */
  get parts(): LoggedPart[] {
    const calls = new Map(this.#envelope.openCalls?.map(({ id, usage }) => [id, usage.calls]));
    for (const event of openCallEvents(this.#envelope, (id) => this.#counted.has(id)))
      this.observe(event, calls.get(event.id));
    const names = new Map(this.#roster.agents.map(({ agentId, name }) => [agentId, name]));
    return this.#sums.rows('key').map(({ key, ...figures }) => {
      const { start, agentId, tool, model, message = '' } = JSON.parse(key) as Place;
      return {
        at: momentOf(start),
        agent: names.get(agentId) ?? (agentId === '' ? this.#envelope.role : agentId),
        tool,
        model: tool === null ? model : (this.#models.get(message) ?? ''),
        figures: { ...figures, dispatches: null },
      };
    });
  }

  #add({ start, agentId, tool, model, message }: Place, figures: Partial<UsageFigures>): void {
    const none = {
      ...(tool === null ? { modelCalls: 0, failedModelCalls: 0 } : {}),
      toolCalls: 0,
      failedToolCalls: 0,
    };
    this.#sums.add(JSON.stringify({ start, agentId, tool, model, message }), { ...none, ...figures });
  }
}

/** Keys of the days, weeks and months of a time zone: `2026-03-01`, the Monday of the week, and `2026-03`. */
export interface DateKeys {
  readonly day: (at: number) => string;
  readonly week: (at: number) => string;
  readonly month: (at: number) => string;
}

export function dateKeys(zone: 'utc' | 'local'): DateKeys {
  /** By the number of the day. Many parts are of one day. */
  const days = new Map<number, string>();
  let lastAt = Number.NaN;
  let lastKey = '';
  const day = (at: number) => {
    // A quarter of an hour has a part for each model.
    if (at === lastAt) return lastKey;
    // The local time, as if it were UTC.
    const shown = zone === 'utc' ? at : at - new Date(at).getTimezoneOffset() * 60_000;
    const number = Math.floor(shown / dayMs);
    let key = days.get(number);
    if (key === undefined) {
      key = new Date(number * dayMs).toISOString().slice(0, -'T00:00:00.000Z'.length);
      days.set(number, key);
    }
    lastAt = at;
    lastKey = key;
    return key;
  };
  return {
    day,
    week: (at) => mondayOf(day(at)),
    month: (at) => day(at).slice(0, -'-01'.length),
  };
}

function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00.000Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, -'T00:00:00.000Z'.length);
}

/**
 * The beginnings of five-hour blocks, by the times that they contain. A block begins at the full hour (UTC) of the first use
 * after the block before.
 */
export function usageBlocks(times: Iterable<number>): ReadonlyMap<number, number> {
  const blocks = new Map<number, number>();
  let start = -Infinity;
  for (const time of [...new Set(times)].sort((one, other) => one - other)) {
    if (time >= start + blockMs) start = Math.floor(time / hourMs) * hourMs;
    blocks.set(time, start);
  }
  return blocks;
}

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
function momentOf(timestamp: string | null): number | null {
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

function tokenFigures(usage: Partial<Tokens>): Partial<UsageFigures> {
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

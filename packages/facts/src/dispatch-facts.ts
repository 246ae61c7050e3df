import type {
  CapturedEvent,
  DispatchEnvelope,
  EnvelopeUpdates,
  EventData,
  FoldedLog,
  ModelUsage,
  PriceSource,
  Usage,
  UsagePeriods,
} from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { AgentRoster } from './agents/agent-roster.ts';
import { type LoggedEnd, LoggedEnding, stops } from './logged-ending.ts';
import type { PriceTable } from './prices/price-table.ts';
import { type FoundTitle, TitleFinder } from './title-finder.ts';
import { DispatchTotals, type TotalsBefore } from './totals/dispatch-totals.ts';

type Kind =
  | 'fork'
  | 'rewind'
  | 'call'
  | 'end'
  | 'tool'
  | 'text'
  | 'prompt'
  | 'failure'
  | 'status'
  | 'agent'
  | 'work';

/** The types that say something about a dispatch beside their time, agent and message. An event of any other type costs one look here. */
const kinds: ReadonlyMap<string, Kind> = new Map([
  ['agent:inference', 'call'],
  ['session:complete', 'end'],
  ['agent:tool_call', 'tool'],
  ['agent:tool_result', 'tool'],
  ['agent:text', 'text'],
  ['user:message', 'prompt'],
  ['harness:error', 'failure'],
  ['system:api_error', 'failure'],
  ['system:api_retry', 'failure'],
  ['session:status', 'status'],
  ['agent:created', 'agent'],
  ['session:fork', 'fork'],
  ['session:rewind', 'rewind'],
  ['system:task_started', 'work'],
  ['system:task_notification', 'work'],
  ...[...stops].map((type) => [type, 'work'] as const),
]);

/** The most open messages that an envelope keeps. With more, the log is folded from its beginning when it is opened again. */
const mostKept = 64;

export interface FactsOptions {
  /** With it, calls without a stated cost are estimated. */
  readonly prices?: PriceTable | null | undefined;
  /**
   * The envelope of the events before these: usage, cost, models, periods and prices continue. Title, agents, ending and
   * last activity are those of the events that are observed.
   */
  readonly before?: TotalsBefore | undefined;
}

/**
 * What the log of a dispatch says so far: the one fold over its events, for writers and readers. The order of events is that of the log. It
 * is made by `createDispatchFacts`.
 *
 * Invariant: every event through the position `through` is counted once, and none after it.
 */
export class DispatchFacts {
  readonly #totals: DispatchTotals;
  readonly #titles = new TitleFinder();
  readonly #ending = new LoggedEnding();
  readonly #agents = new AgentRoster();
  #through: number;
  #eventId: string | null;
  #forkedFrom: EventData<'session:fork'> | null = null;
  #isBranched = false;
  #lastActivity = '';
  /** The agent of the last event. Null: there was none. */
  #agentId: string | null = null;

  constructor({ prices = null, before }: FactsOptions = {}) {
    this.#totals = new DispatchTotals(prices, before);
    this.#through = before?.folded?.through ?? -1;
    this.#eventId = before?.folded?.eventId ?? null;
  }

  /**
   * Counts an event. One at another position than the next is left out: it is counted already, or events between are not. `isChecked`: the
   * data of the event is known to have the shape of its type, which is then not checked again.
   */
  observe(event: CapturedEvent, position = this.#through + 1, isChecked = false): void {
    if (position !== this.#through + 1) return;
    this.#through = position;
    this.#eventId = event.id;
    const { type, timestamp, messageId, agentId = '' } = event;
    // Times of one form are in the order of their texts.
    if (timestamp !== null && timestamp > this.#lastActivity) this.#lastActivity = timestamp;
    if (agentId !== this.#agentId) this.#turnTo(event, agentId);
    if (event.follows !== undefined || event.retracts !== undefined) this.#isBranched = true;
    if (this.#ending.isOver) this.#ending.observe(event);
    const kind = kinds.get(type);
    if (kind === 'call' && isReadableAs(event, 'agent:inference', isChecked)) {
      this.#totals.addCall(event);
      return;
    }
    if (kind === 'end' && isReadableAs(event, 'session:complete', isChecked)) {
      this.#totals.addStatement(event);
      this.#ending.observe(event);
      return;
    }
    if (messageId !== undefined) this.#totals.openMessage = messageId;
    if (kind !== undefined) this.#observeKind(kind, event, isChecked);
  }

  #observeKind(kind: Kind, event: CapturedEvent, isChecked: boolean): void {
    if (kind === 'text') this.#noteFailure(event);
    else if (kind === 'tool') this.#totals.byTime.addTool(event, isChecked);
    else if (kind === 'prompt') {
      this.#noteFailure(event);
      if (this.#titles.needsPrompt && isReadableAs(event, 'user:message', isChecked))
        this.#titles.addMessage(event.data, this.#through);
    } else if (kind === 'failure') this.#totals.byTime.addIfFailure(event);
    else if (kind === 'status') this.#titles.addStatus(event, this.#through);
    else if (kind === 'agent') {
      this.#agents.learn(event);
      if (event.data.inherits !== undefined) this.#isBranched = true;
    } else if (kind === 'rewind') this.#isBranched = true;
    else if (kind === 'fork' && isReadableAs(event, 'session:fork', isChecked))
      this.#forkedFrom ??= event.data;
    else if (kind === 'work' && !this.#ending.isOver) this.#ending.observe(event);
  }

  /** An engine marks the message that it puts in place of an answer in its details. */
  #noteFailure(event: CapturedEvent): void {
    if (event.data.details !== undefined) this.#totals.byTime.addIfFailure(event);
  }

  #turnTo(event: CapturedEvent, agentId: string): void {
    this.#agentId = agentId;
    this.#totals.turnTo(agentId);
    this.#agents.learn(event);
  }

  /** The position of the last event that is counted; -1: none. */
  get through(): number {
    return this.#through;
  }

  /** Null: no event has one. */
  get title(): FoundTitle | null {
    return this.#titles.title;
  }

  /** How the log says that the dispatch ended. Null: it does not, or the work of its agent continues. */
  get ending(): LoggedEnd | null {
    return this.#ending.end;
  }

  /** The last `session:complete`, whatever followed. */
  get completion(): EventData<'session:complete'> | null {
    return this.#ending.completion;
  }

  get agents(): AgentRoster {
    return this.#agents;
  }

  /** The latest time of an event. Null: no event has one. */
  get lastActivity(): string | null {
    return this.#lastActivity === '' ? null : this.#lastActivity;
  }

  get tokens(): Usage | null {
    return this.#totals.tokens;
  }

  /** The tokens, with turns and duration (in milliseconds) if they are known. */
  get usage(): Usage | null {
    return this.#totals.usage;
  }

  get durationMs(): number | null {
    return this.#totals.durationMs;
  }

  /** US dollars that the log states. Null: none are stated. */
  get costUsd(): number | null {
    return this.#totals.costUsd;
  }

  get models(): ModelUsage[] | null {
    return this.#totals.models;
  }

  get periods(): UsagePeriods | null {
    return this.#totals.periods;
  }

  get prices(): PriceSource | null {
    return this.#totals.prices;
  }

  /** The figures that are too large for an envelope, which has the largest number instead. */
  get atLimit(): string[] {
    return this.#totals.atLimit;
  }

  /** The number of `agent:inference` events. */
  get calls(): number {
    return this.#totals.calls;
  }

  /** For an envelope. A figure that the log does not record is absent. */
  get figures(): EnvelopeUpdates {
    const { usage, costUsd, models, periods, prices } = this;
    return {
      ...(this.#forkedFrom === null ? {} : { forkedFrom: this.#forkedFrom }),
      ...(this.#isBranched && { branched: true }),
      ...(usage === null ? {} : { usage }),
      ...(costUsd === null ? {} : { cost: costUsd }),
      ...(models === null ? {} : { models, prices }),
      ...(periods === null ? {} : { periods }),
      folded: this.#folded,
    };
  }

  get #folded(): FoldedLog | null {
    const { open, ...rest } = this.#totals.unfinished;
    if (this.#eventId === null || (open?.length ?? 0) > mostKept) return null;
    return {
      through: this.#through,
      eventId: this.#eventId,
      ...(open === undefined ? {} : { open: [...open] }),
      ...rest,
    };
  }
}

/** The facts of a log whose events are observed next. Nobody else folds them: a test finds every other `new DispatchFacts`. */
export function createDispatchFacts(options?: FactsOptions): DispatchFacts {
  return new DispatchFacts(options);
}

/** The facts of these events. */
export function factsOf(events: Iterable<CapturedEvent>, options?: FactsOptions): DispatchFacts {
  const facts = createDispatchFacts(options);
  for (const event of events) facts.observe(event);
  return facts;
}

/** Whether an envelope was estimated with this table, so that its figures can be continued with it. */
export function isPricedBy(
  { models, prices }: Pick<DispatchEnvelope, 'models' | 'prices'>,
  table: PriceTable | null | undefined,
): boolean {
  if (table === undefined || models === null) return true;
  return prices?.name === table?.name && prices?.version === table?.version;
}

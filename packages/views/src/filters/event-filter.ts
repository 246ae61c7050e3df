import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import type { Speaker } from '../log/saying.ts';
import { isFailedRecord } from '../rows/noise.ts';
import { listsOf, type RowSource, type RowsReading, readRows } from '../rows/read-rows.ts';
import type { Row } from '../rows/row.ts';
import type { RowGroup } from '../rows/row-group.ts';
import type { TextPattern } from './text-pattern.ts';

/** A signature of reasoning, which nobody reads. */
const signature = /^[\w+/=-]{40,}$/;

const failures: ReadonlySet<string> = new Set([
  'harness:loop_kill',
  'harness:stall',
  'harness:timeout',
  'harness:abort',
  'harness:error',
]);

/** What an event must have to pass. An absent criterion is met by every event. */
export interface EventCriteria {
  /** The ids of agents; '' is the dispatched agent. The event is in the transcript of one of them. */
  readonly agentIds?: readonly string[];
  /** Types such as `agent:text`, or patterns such as `agent:*`. `hook`: what hooks decided, sent and created, and where they failed. */
  readonly types?: readonly string[];
  /** Names of tools, or patterns such as `mcp__*`, ignoring case. The event is a call of one of them, its result, or about it. */
  readonly tools?: readonly string[];
  /** The event is a message from one of these, such as `external`. */
  readonly sources?: readonly Speaker['kind'][];
  /** The event reports a failure. */
  readonly failed?: boolean;
  /** One of its texts contains this. */
  readonly text?: TextPattern;
  /** Milliseconds since 1970. */
  readonly since?: number;
  /** Milliseconds since 1970; an event of exactly that time passes. */
  readonly until?: number;
}

type Criterion = (event: CapturedEvent) => boolean;

/** Selects events. It keeps nothing of the events that it was given. */
export class EventFilter {
  readonly #criteria: readonly Criterion[];
  /** The last criteria are about time: their bits, and one bit for an event without a time. */
  readonly #ofTime: number;
  readonly #noTime: number;
  #untimed = 0;

  constructor(criteria: EventCriteria = {}) {
    const limits = limitsOf(criteria);
    const others = checksOf(criteria);
    this.#criteria = [...others, ...limits];
    this.#noTime = 1 << this.#criteria.length;
    this.#ofTime = this.#noTime - (1 << others.length);
  }

  /**
   * How many events or rows met all criteria except those of time. They were left out because their time is not recorded.
   */
  get untimed(): number {
    return this.#untimed;
  }

  /** Whether every event passes. */
  get isOpen(): boolean {
    return this.#criteria.length === 0;
  }

  /** Whether an event meets every criterion. */
  passes(event: CapturedEvent): boolean {
    if (event.timestamp === null && this.#ofTime > 0) return this.passTogether([this.metBy(event)]);
    return this.#criteria.every((meets) => meets(event));
  }

  /** The events that pass, from a stream in any order. */
  async *of<Item extends { readonly event: CapturedEvent }>(
    items: AsyncIterable<Item>,
  ): AsyncGenerator<Item> {
    for await (const item of items) if (this.passes(item.event)) yield item;
  }

  /** The criteria that an event meets, one bit each. */
  metBy(event: CapturedEvent): number {
    let met = 0;
    for (const [index, meets] of this.#criteria.entries()) if (meets(event)) met |= 1 << index;
    return event.timestamp === null ? met | this.#noTime : met;
  }

  /** Whether every criterion is met by one event or another of several. `met`: what each of them meets. */
  passTogether(met: Iterable<number>): boolean {
    let together = 0;
    for (const one of met) together |= one;
    const all = this.#noTime - 1;
    if ((together & all) === all) return true;
    if ((together & this.#noTime) > 0 && ((together | this.#ofTime) & all) === all) this.#untimed += 1;
    return false;
  }
}

function checksOf({ agentIds, types, tools, sources, failed, text }: EventCriteria): Criterion[] {
  // The cheapest first: the first that is not met decides.
  const checks: Criterion[] = [];
  if (types !== undefined)
    checks.push((event) =>
      types.some((pattern) => (pattern === 'hook' ? isOfHook(event) : matchesEventType(pattern, event.type))),
    );
  if (agentIds !== undefined) {
    const wanted = new Set(agentIds);
    checks.push(({ agentId = '' }) => wanted.has(agentId));
  }
  if (tools !== undefined) {
    const patterns = tools.map((tool) => tool.toLowerCase());
    checks.push(
      ({ data: { tool } }) =>
        typeof tool === 'string' && patterns.some((pattern) => matchesEventType(pattern, tool.toLowerCase())),
    );
  }
  if (sources !== undefined) {
    const wanted = new Set<unknown>(sources);
    checks.push(
      ({ type, data }) =>
        type === 'user:message' && wanted.has((data.source as JsonObject | null | undefined)?.kind),
    );
  }
  if (failed === true) checks.push(isFailedEvent);
  if (text !== undefined) checks.push(({ data }) => hasText(data, (one) => text.matches(one)));
  return checks;
}

function limitsOf({ since, until }: EventCriteria): Criterion[] {
  const timeOf = ({ timestamp }: CapturedEvent) => (timestamp === null ? Number.NaN : Date.parse(timestamp));
  return [
    ...(since === undefined ? [] : [(event: CapturedEvent) => timeOf(event) >= since]),
    ...(until === undefined ? [] : [(event: CapturedEvent) => timeOf(event) <= until]),
  ];
}

/** Whether a hook did this: a decision, a message, an agent of its own, a failure. */
function isOfHook({ type, data }: CapturedEvent): boolean {
  switch (type) {
    case 'harness:hook_decision':
    case 'harness:error':
    case 'agent:created':
      return data.hook !== undefined;
    case 'user:message':
      return (data.source as JsonObject | null | undefined)?.hook !== undefined;
    default:
      return false;
  }
}

/** Whether an event reports a failure: of a call, of the harness, of the dispatch, or a denial by a hook. */
function isFailedEvent({ type, data }: CapturedEvent): boolean {
  if (type === 'agent:tool_result') return data.status === 'error';
  if (type === 'harness:hook_decision') return data.decision === 'deny';
  if (type === 'session:complete') return data.status !== 'completed';
  if (type.startsWith('system:')) return type !== 'system:notice' && isFailedRecord(type, data);
  return failures.has(type);
}

/**
 * Whether a text in a value fits, at any depth. The names of fields and the bytes of images and files are not among its
 * texts.
 */
function hasText(value: JsonValue, fits: (text: string) => boolean): boolean {
  // A stack of its own: a log can be nested deeper than calls can.
  const open: JsonValue[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') {
      if (fits(next)) return true;
    } else if (Array.isArray(next)) for (const inner of next) open.push(inner);
    else if (typeof next === 'object' && next !== null)
      for (const [key, inner] of Object.entries(next))
        if (inner !== undefined && !isBytes(next, key, inner)) open.push(inner);
  }
  return false;
}

/**
 * Stored content has its bytes as `base64`, a content block of Claude as `data`. Signed reasoning has a `signature`, and the
 * provider of a model gets `replay` back.
 */
function isBytes(owner: JsonObject, key: string, value: JsonValue): boolean {
  if (key === 'replay') return true;
  if (key === 'signature') return typeof value === 'string' && signature.test(value);
  return (
    (key === 'base64' && (owner.kind === 'image' || typeof owner.sha256 === 'string')) ||
    (owner.type === 'base64' && key === 'data')
  );
}

/**
 * The rows of a dispatch that pass a filter, while its events are read. A row passes if each criterion is met by one of its
 * events: of a call that failed, the input can contain the text, and the result be the failure. Only rows that pass are made.
 */
export function filterRows(
  source: RowSource,
  filter: EventFilter,
  reach: RowsReading = {},
): AsyncGenerator<Row, undefined> {
  if (filter.isOpen) return readRows(source, reach);
  const passing = new PassingRows(filter, reach.first);
  return readRows(passing.noted(source), reach, {
    couldMatch: (group) => passing.passes(group),
    matches: () => true,
  });
}

/** Decides which rows pass a filter, by the criteria that their events meet. */
export class PassingRows {
  readonly #filter: EventFilter;
  /** Of the events that are not in a complete row. */
  readonly #met = new Map<number, number>();
  #position: number;

  constructor(filter: EventFilter, first = 0) {
    this.#filter = filter;
    this.#position = first;
  }

  async *noted(source: RowSource): AsyncGenerator<readonly CapturedEvent[]> {
    for await (const events of listsOf(source)) {
      const page = [...events];
      for (const event of page) {
        this.#met.set(this.#position, this.#filter.metBy(event));
        this.#position += 1;
      }
      yield page;
    }
  }

  /** Called once for each row. */
  passes({ events }: RowGroup): boolean {
    const passes = this.#filter.passTogether(events.map((position) => this.#met.get(position) ?? 0));
    for (const position of events) this.#met.delete(position);
    return passes;
  }
}

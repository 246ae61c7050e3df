import { createInterface } from 'node:readline';
import { eventNamed, type PagedLog, pagedLog } from '@hansard/compose/reading';
import { type DispatchLog, type PositionedEvent, replayDispatch } from '@hansard/dispatch';
import { type CapturedEvent, definedOnly, inLineOrder } from '@hansard/events';
import {
  AgentNames,
  type EventFilter,
  eventWords,
  renderLine,
  renderTimeline,
  type TimelineRow,
  type TimelineSource,
  taskTimeline,
} from '@hansard/views';
import type { Answer } from '../../terminal/answer.ts';
import { type CliContext, note, terminalWidth } from '../../terminal/context.ts';
import { createPainter } from '../../terminal/painter.ts';
import { atShownTime } from '../../terminal/shown-time.ts';
import { askedBranch, damagedAccess, isLive, lastOf, type Shown } from './shown.ts';

/** How many events are printed before new ones are followed, unless asked. */
const usualTail = 10;
/** The width of a column of positions, as in the rows. */
const positionColumns = 4;
/** How many of the last characters of an id are printed. */
const shortId = 6;

/** The events of one session: all, the last ones, those from an event on, new ones as they come, or again at their pace. */
export async function rawAnswer(
  context: CliContext,
  shown: Shown,
  log: DispatchLog,
  address: string | undefined,
): Promise<Answer> {
  const raw = new RawEvents(context, shown, log);
  return {
    rows: lineOrdered(raw.selected(address)),
    text: raw.lines(raw.selected(address)),
    isPainted: true,
    notesAfter: () => shown.request.notes('events'),
  };
}

async function* lineOrdered(events: AsyncIterable<PositionedEvent>): AsyncGenerator<CapturedEvent> {
  for await (const { event } of events) yield inLineOrder(event);
}

/** The events of one session that pass, and the names that its agents have. */
class RawEvents {
  readonly #context: CliContext;
  readonly #shown: Shown;
  readonly #log: DispatchLog;
  /** Its events, of which each page is learned. */
  readonly #paged: PagedLog;
  readonly #names = new AgentNames();
  readonly #types = new Set<string>();

  constructor(context: CliContext, shown: Shown, log: DispatchLog) {
    this.#context = context;
    this.#shown = shown;
    this.#log = log;
    this.#paged = pagedLog(log, context.readSignal, (events) => {
      for (const event of events) this.#learn(event);
    });
  }

  async *selected(address: string | undefined): AsyncGenerator<PositionedEvent> {
    const { options, request } = this.#shown;
    const filter = await request.forOnly(pagedLog(this.#log, this.#context.readSignal));
    const from = address === undefined ? 0 : await this.#positionOf(address);
    const { follow = false, lines, branch } = options;
    const log = pagedLog(this.#log, this.#context.readSignal);
    const only = branch === undefined ? undefined : await askedBranch(this.#context, log, branch);
    if (!follow && isLive(options)) {
      yield* this.#replayed(filter, from);
      return;
    }
    let count = 0;
    let end = from - 1;
    const tail = address === undefined ? (lines ?? (follow ? usualTail : undefined)) : undefined;
    const passes = (event: CapturedEvent, position: number) =>
      (only === undefined || only.has(position)) && filter.passes(event);
    const isOpen = filter.isOpen && only === undefined;
    const events = tail === undefined ? this.#from(from, passes) : this.#last(tail, isOpen ? null : passes);
    for await (const item of events) {
      end = Math.max(end, item.position);
      if (item.event === null) continue;
      if (address !== undefined && !follow && count === lines) break;
      yield { position: item.position, event: item.event };
      count += 1;
    }
    if (follow) yield* this.#followed(filter, end);
    else if (count === 0 && !request.isOpen && lines !== 0)
      note(this.#context, `hansard: ${this.#nothing()}`);
  }

  /** One line for an event, with its position, which commands take as an address. */
  async *lines(events: AsyncIterable<PositionedEvent>): AsyncGenerator<string> {
    const paint = createPainter(this.#context);
    for await (const { position, event } of events) {
      const address = `${String(position).padStart(positionColumns)}  `;
      const width = terminalWidth(this.#context);
      const room = width === undefined ? undefined : Math.max(1, width - address.length);
      const words = eventWords(atShownTime(this.#context, event), this.#names);
      yield paint('position', address) + renderLine(words, { width: room, paint });
    }
  }

  async #positionOf(address: string): Promise<number> {
    return (await eventNamed(this.#paged, address, this.#context)).position;
  }

  /** Each event from a position on; null for one that does not pass. */
  async *#from(from: number, passes: Passes): AsyncGenerator<MaybeEvent> {
    for await (const { first, events } of this.#paged.pages({ after: from - 1 }))
      for (const [at, event] of events.entries())
        yield { position: first + at, event: passes(event, first + at) ? event : null };
  }

  /** The last events that pass, and the position of the last one. `passes` is null if all do: only these are read. */
  async *#last(count: number, passes: Passes | null): AsyncGenerator<MaybeEvent> {
    if (passes === null) {
      const { first, events } = await this.#log.last(count);
      for (const [at, event] of events.entries()) yield { position: first + at, event };
      if (events.length === 0) yield { position: first - 1, event: null };
      return;
    }
    const last: MaybeEvent[] = [];
    let end = -1;
    for await (const item of this.#from(0, passes)) {
      end = item.position;
      if (item.event === null) continue;
      last.push(item);
      if (last.length > count) last.shift();
    }
    yield* last;
    yield { position: end, event: null };
  }

  async *#followed(filter: EventFilter, after: number): AsyncGenerator<PositionedEvent> {
    for await (const item of this.#log.follow({ after, signal: this.#context.readSignal })) {
      if (item.kind === 'caught_up') continue;
      this.#learn(item.event);
      if (filter.passes(item.event)) yield item;
    }
  }

  async *#replayed(filter: EventFilter, from: number): AsyncGenerator<PositionedEvent> {
    const { speed = 1, maxGap, step = false } = this.#shown.options;
    const replay = replayDispatch(this.#log, {
      pace: step ? 'fast' : speed,
      ...definedOnly({ maxGapMs: maxGap }),
      after: from - 1,
      signal: this.#context.readSignal,
    });
    const selected = filter.of(this.#learning(replay));
    for await (const { position, event } of step ? byLine(this.#context, selected) : selected)
      yield { position, event };
  }

  async *#learning<Item extends { readonly event: CapturedEvent }>(
    items: AsyncIterable<Item>,
  ): AsyncGenerator<Item> {
    for await (const item of items) {
      this.#learn(item.event);
      yield item;
    }
  }

  #learn(event: CapturedEvent): void {
    this.#names.learn(event);
    this.#types.add(event.type);
  }

  /** An empty output can be correct, or the result of a mistyped type: lists the types of the session. */
  #nothing(): string {
    const { request, options } = this.#shown;
    const { dispatchId } = this.#log;
    if (!request.isOfTypes) return `${dispatchId} has no event that passes ${request.inWords}.`;
    const there =
      this.#types.size === 0 ? 'It has no events.' : `Its types: ${[...this.#types].sort().join(', ')}.`;
    return `${dispatchId} has no event of type ${options.type}. ${there}`;
  }
}

type Passes = (event: CapturedEvent, position: number) => boolean;

interface MaybeEvent {
  readonly position: number;
  readonly event: CapturedEvent | null;
}

/** Yields an item for each line of the input (Enter), until the input ends. */
async function* byLine<T>(context: CliContext, items: AsyncIterator<T>): AsyncIterable<T> {
  let next = await items.next();
  if (context.stdin.isTTY === true) note(context, 'Press Enter for the next event, Ctrl-C to stop.');
  const lines = createInterface({ input: context.stdin, signal: context.readSignal });
  try {
    if (next.done === true) return;
    for await (const _ of lines) {
      yield next.value;
      next = await items.next();
      if (next.done === true) return;
    }
  } finally {
    lines.close();
    await items.return?.();
  }
}

/** The events of several sessions in order of time. */
export async function rawAnswerOfSeveral(context: CliContext, shown: Shown): Promise<Answer> {
  const sources = await sourcesOf(context, shown);
  const { lines } = shown.options;
  const timeline = () => (lines === undefined ? taskTimeline(sources) : lastOf(taskTimeline(sources), lines));
  return {
    rows: documents(timeline()),
    text: renderTimeline(inZone(context, timeline()), {
      width: terminalWidth(context),
      paint: createPainter(context),
      role: ({ role, dispatchId }) => `${role} ${dispatchId.slice(-shortId)}`,
    }),
    isPainted: true,
    notesAfter: () => shown.request.notes('events'),
  };
}

/** The event, and before its own fields its session and its position there. */
async function* documents(rows: AsyncIterable<TimelineRow>): AsyncGenerator<unknown> {
  for await (const { dispatchId, position, event } of rows)
    yield { dispatchId, position, ...inLineOrder(event) };
}

async function* inZone(context: CliContext, rows: AsyncIterable<TimelineRow>): AsyncGenerator<TimelineRow> {
  for await (const row of rows) {
    const event = atShownTime(context, row.event);
    yield event === row.event ? row : { ...row, event, words: { ...row.words, timestamp: event.timestamp } };
  }
}

/** Agents are found in each session on its own. */
async function sourcesOf(context: CliContext, shown: Shown): Promise<TimelineSource[]> {
  const { store, taskDir, envelopes, request } = shown;
  const sources: TimelineSource[] = [];
  for (const envelope of envelopes) {
    const paged = async () => {
      const log = await store.openDispatch(taskDir, envelope.dispatchId, damagedAccess(shown.options));
      return pagedLog(log, context.readSignal);
    };
    const pages = async function* () {
      for await (const { events } of (await paged()).pages()) yield events;
    };
    if (request.isOpen) sources.push({ envelope, pages });
    else {
      const filter = await request.forOneOf(await paged());
      sources.push({ envelope, pages, passes: (event) => filter.passes(event) });
    }
  }
  return sources;
}

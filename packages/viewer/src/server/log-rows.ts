import { setImmediate } from 'node:timers/promises';
import { copiedEvents, type DispatchLog, type DispatchStore, HeapRestraint } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { isReadableAs, isRemovedContent } from '@hansard/events/plain';
import { isStraightEvent } from '@hansard/prompt';
import { storeErrors } from '@hansard/provider';
import {
  AgentNames,
  type FoldedRows,
  foldsOf,
  isNoise,
  type Row,
  type RowFolds,
  RowQuery,
  RowReader,
} from '@hansard/views';
import { type NamedAgent, rowReach } from '../answers.ts';

/** Events between two positions. A JSON file reads some 10 MB from one to the next. */
const step = 50_000;

/** Reads that fewer than 50 million events need. */
const mostReads = 1_000;

/** Events that are in memory at a time. */
const mostAtOnce = 1_000;

/** Agents are known from this many first events, and from every window that was read. */
const firstEvents = 2_000;

/** Milliseconds in which the page asks for what it shows first. */
const afterFirstRowsMs = 300;

/** The rows that begin in a part of a log. */
export interface RowPage {
  readonly first: number;
  /** How many positions it has. Those without a row belong to earlier ones. */
  readonly size: number;
  /** The position of the last event that the rows are made from. */
  readonly end: number;
  readonly rows: readonly Row[];
}

export interface EventsAround {
  readonly first: number;
  readonly events: readonly CapturedEvent[];
  readonly rows: readonly Row[];
}

/** Which rows one row stands for. */
export interface Folding {
  readonly folds: RowFolds;
  isOpen(fold: FoldedRows): boolean;
}

export interface LogRowsOptions {
  /**
   * The store with the sessions that this one can be copied from: the head that it repeats is folded. Absent: no head
   * is folded.
   */
  readonly among?: Pick<DispatchStore, 'dispatches'>;
  /** As of a `RowReader`, in events. Absent: 300. */
  readonly reach?: number;
  /** Makes of each row of a `page` what is kept of it, such as one with shorter texts. Absent: the row itself. */
  readonly keep?: (row: Row) => Row;
}

/** The rows of one dispatch, read in windows. No window begins at the start of a long log. */
export class LogRows {
  readonly #log: DispatchLog;
  readonly #among: LogRowsOptions['among'];
  readonly #reach: number;
  readonly #keep: (row: Row) => Row;
  /** The events that create and end agents, by position. */
  readonly #agents = new Map<number, CapturedEvent>();
  /** The first events by position, as far as they are read, that say what the log records of deliveries. */
  readonly #recording = new Map<string, { readonly position: number; readonly event: CapturedEvent }>();
  /** The contents whose bytes were removed, by position, as far as they are read. */
  readonly #removed = new Map<number, CapturedEvent>();
  #firstEvents: Promise<void> | null = null;
  #folds: Promise<RowFolds | null> | null = null;
  /** The sessions that an import had compared this one with when the folds were made, as the envelope names them. */
  #compared: string | undefined;
  /** How many events the folds were made from, if there are some. */
  #foldedTo = 0;
  #knowsPositions = false;

  constructor(log: DispatchLog, { among, reach = rowReach, keep = (row) => row }: LogRowsOptions = {}) {
    this.#log = log;
    this.#among = among;
    this.#reach = reach;
    this.#keep = keep;
  }

  /**
   * What is folded in the log. A log that can have branches, or repeats another one, is read for it once, and again after an event that changes a
   * branch, or an import that compares the log with others.
   */
  folds(): Promise<RowFolds | null> {
    const log = this.#log;
    const compared = log.envelope.source?.copies?.among;
    if (this.#folds !== null && compared === this.#compared) return this.#folds;
    this.#compared = compared;
    const source = {
      envelope: log.envelope,
      async *pages(options?: { readonly after?: number }) {
        using heap = new HeapRestraint();
        for await (const page of log.pages(options)) {
          heap.hold();
          yield page;
        }
      },
    };
    const find = async () => {
      const copied = this.#among === undefined ? null : await copiedEvents(this.#among, log, log.envelope);
      const found = await foldsOf(source, { events: this.#reach }, copied);
      this.#foldedTo = found?.count ?? 0;
      return found;
    };
    const folds = find();
    this.#folds = folds;
    // A log that cannot be read says so to the next who asks.
    folds.catch(() => {
      this.#folds = null;
    });
    return folds;
  }

  /** The rows that begin at `size` positions. Of the events around them, only the rows that can still change are in memory. */
  async page(from: number, size: number, folding: Folding | null = null): Promise<RowPage> {
    if (folding !== null && isHidden(from, from + size, folding)) {
      const end = Math.min(from + size, folding.folds.count);
      return { first: from, size: end - from, end: end - 1, rows: [] };
    }
    const page = await this.#page(from, size);
    return { ...page, rows: page.rows.flatMap((row) => this.#shown(row, folding)) };
  }

  #shown(row: Row, folding: Folding | null): Row[] {
    const shown = folding === null ? row : folding.folds.shown(row, folding.isOpen);
    return shown === null ? [] : [this.#keep(shown)];
  }

  async #page(from: number, size: number): Promise<RowPage> {
    for (let before = 2 * this.#reach; ; before *= 2) {
      const page = await this.#pageFrom(Math.max(0, from - before), from, size);
      if (page !== null) return page;
    }
  }

  /**
   * Null: the rows cannot be known from there. A run of harness records is divided by its length, so a reader must have seen where the run began,
   * or a row that is none after the events whose earlier ones it lacks.
   */
  async #pageFrom(start: number, from: number, size: number): Promise<RowPage | null> {
    const to = from + size + this.#reach;
    const reader = await this.reader(start, this.#log.envelope.status !== 'running');
    const query = new RowQuery({ from, to: from + size });
    const rows: Row[] = [];
    let isKnown = start === 0;
    let position = start;
    for await (const event of this.#events(start, to)) {
      if (position === from && !isKnown) return null;
      const [began] = reader.add(event);
      isKnown ||= began === position && position >= start + this.#reach && !isNoise(event);
      rows.push(...reader.settled(query));
      position += 1;
    }
    rows.push(...reader.end(query, { isEndOfLog: position < to }));
    const end = Math.min(from + size, position);
    return { first: from, size: Math.max(0, end - from), end: position - 1, rows };
  }

  async last(size: number, folding: Folding | null = null): Promise<RowPage> {
    const { first, events } = await this.#log.last(size + 2 * this.#reach);
    this.#learn(events, first);
    const end = first + events.length;
    this.#learnPositionsOf(end);
    const page = await this.#rowsOf(events, first, Math.max(first, end - size), end, true);
    if (folding === null) return page;
    return {
      ...page,
      rows: page.rows.flatMap((row) => folding.folds.shown(row, folding.isOpen) ?? []),
    };
  }

  /** Once, when the first rows are shown: the next thing can be a jump anywhere. */
  #learnPositionsOf(count: number): void {
    if (this.#knowsPositions) return;
    this.#knowsPositions = true;
    // A log that cannot be read says so to the one who jumps.
    setTimeout(() => learnPositions(this.#log, count).catch(() => undefined), afterFirstRowsMs).unref();
  }

  /** The rows that begin at the last `size` positions up to one, as they were then. Null: there is no such position. */
  async upTo(position: number, size: number): Promise<RowPage | null> {
    const first = Math.max(0, position + 1 - size);
    const start = this.startFor(first);
    const events = await this.#read(start, position + 1);
    return start + events.length <= position ? null : this.#rowsOf(events, start, first, position + 1, null);
  }

  /** One event; null: there is no such position. */
  async event(position: number): Promise<CapturedEvent | null> {
    return (await this.#read(position, position + 1))[0] ?? null;
  }

  /** The events around one, and their rows. */
  async around(position: number): Promise<EventsAround> {
    const first = Math.max(0, position - 3 * this.#reach);
    const to = position + 2 * this.#reach + 1;
    const events = await this.#read(first, to);
    const end = first + events.length;
    const { rows } = await this.#rowsOf(events, first, first, end, end < to);
    return { first, events, rows };
  }

  /** A reader for the events from a position, with the agents that are known before it. */
  async reader(first: number, hasEnded = false): Promise<RowReader> {
    const agents = await this.agentEventsBefore(first);
    const recording = [...this.#recording.values()].filter(({ position }) => position < first);
    const removed = [...this.#removed].flatMap(([position, event]) => (position < first ? [event] : []));
    return new RowReader({
      events: this.#reach,
      first,
      agents: [...agents, ...recording.map(({ event }) => event), ...removed],
      hasEnded,
    });
  }

  /** The events that create and end agents before a position, as far as they are known. */
  async agentEventsBefore(first: number): Promise<CapturedEvent[]> {
    await this.#learnFirst();
    const known = [...this.#agents].filter(([position]) => position < first);
    return known.sort(([one], [other]) => one - other).map(([, event]) => event);
  }

  /** The place where a reader must begin, if the rows from a position are to be right. */
  startFor(position: number): number {
    return Math.max(0, position - 2 * this.#reach);
  }

  learn(event: CapturedEvent, position: number): void {
    if (!isStraightEvent(event) && position >= this.#foldedTo) this.#folds = null;
    if (/^agent:(?:created|terminated|revived)$/.test(event.type)) this.#agents.set(position, event);
    const saysWhatIsRecorded =
      event.type === 'agent:inference' ? event.data.context !== undefined : event.substance !== undefined;
    if (isReadableAs(event, 'content:stored') && isRemovedContent(event.data))
      this.#removed.set(position, event);
    if (saysWhatIsRecorded && position < (this.#recording.get(event.type)?.position ?? Infinity))
      this.#recording.set(event.type, { position, event });
  }

  /** The agents that are known, in the order of their creation. */
  async agents(): Promise<NamedAgent[]> {
    await this.#learnFirst();
    const names = new AgentNames();
    const agents = new Map<string, Omit<NamedAgent, 'id' | 'name'>>();
    for (const [at, event] of [...this.#agents].sort(([one], [other]) => one - other)) {
      names.learn(event);
      const { agentId = '' } = event;
      const { position = at } = agents.get(agentId) ?? {};
      agents.set(agentId, { hasEnded: event.type === 'agent:terminated', position });
    }
    return [...agents].map(([id, agent]) => ({ id, name: names.of(id), ...agent }));
  }

  /** `isEndOfLog`: whether the events reach to the end of the log. Null: the rows are as they were at the last event. */
  async #rowsOf(
    events: readonly CapturedEvent[],
    start: number,
    first: number,
    end: number,
    isEndOfLog: boolean | null,
  ) {
    const hasEnded = isEndOfLog !== null && this.#log.envelope.status !== 'running';
    const reader = await this.reader(start, hasEnded);
    for (const event of events) reader.add(event);
    // The events around are only there to be joined: their rows are not made.
    const rows = reader.end(new RowQuery({ from: first, to: end }), {
      isEndOfLog: isEndOfLog === true,
    });
    return { first, size: Math.max(0, end - first), end: start + events.length - 1, rows };
  }

  /** The events from `start` up to `end`, one by one. */
  async *#events(start: number, end: number): AsyncGenerator<CapturedEvent> {
    let at = start;
    try {
      const limit = Math.min(end - start, mostAtOnce);
      for await (const { events } of this.#log.pages({ after: start - 1, limit })) {
        this.#learn(events, at);
        for (const event of events) {
          if (at >= end) return;
          at += 1;
          yield event;
        }
        if (at >= end) return;
      }
    } catch (error) {
      // A position after the end.
      if (!storeErrors.is(error, 'STORE_INVALID_CURSOR')) throw error;
    }
  }

  #learnFirst(): Promise<void> {
    this.#firstEvents ??= this.#read(0, firstEvents).then(
      () => undefined,
      () => {
        // The reading of rows fails with the reason; the next one tries again.
        this.#firstEvents = null;
      },
    );
    return this.#firstEvents;
  }

  /** The events from `start` up to `end`, fewer where the log ends. */
  async #read(start: number, end: number): Promise<CapturedEvent[]> {
    const read: CapturedEvent[] = [];
    try {
      for await (const { events } of this.#log.pages({ after: start - 1, limit: end - start })) {
        read.push(...events.slice(0, end - start - read.length));
        if (read.length >= end - start) break;
      }
    } catch (error) {
      // A position after the end.
      if (!storeErrors.is(error, 'STORE_INVALID_CURSOR')) throw error;
    }
    this.#learn(read, start);
    return read;
  }

  #learn(events: readonly CapturedEvent[], first: number): void {
    for (const [at, event] of events.entries()) this.learn(event, first + at);
  }
}

/** Whether all rows that begin in a range of positions are folded, and no fold begins there. */
function isHidden(from: number, to: number, { folds, isOpen }: Folding): boolean {
  const end = Math.min(to, folds.count);
  for (let position = from; position < end; position += 1) {
    const fold = folds.at(position);
    if (fold === null || fold.position === position || isOpen(fold)) return false;
  }
  return end > from;
}

/**
 * Reads events at regular positions, in pauses of other work. A store that finds a position by reading what is before it, such as that
 * of JSON files, then knows where they are before somebody jumps there.
 */
export async function learnPositions(log: DispatchLog, count: number): Promise<void> {
  for (let reads = 1; reads <= mostReads && reads * step < count; reads += 1) {
    for await (const _ of log.pages({ after: reads * step, limit: 1 })) break;
    await setImmediate();
  }
}

import { pagedLog } from '@hansard/compose/reading';
import { type DispatchLog, type DispatchRef, type DispatchStore, toDispatchRef } from '@hansard/dispatch';
import { type CapturedEvent, messageOf } from '@hansard/events';
import { isStraightEvent } from '@hansard/prompt';
import { storeErrors } from '@hansard/provider';
import {
  cutTexts,
  type EventAround,
  eventAround,
  type Folding,
  LogRows,
  pageSize,
  RowOrder,
} from '@hansard/viewer/rows';
import { EventFilter, filterRows, type Row, type RowFolds } from '@hansard/views';

/** The reach of the rows of `show`: both print the same rows. */
const reach = 2_000;
/** Characters of the texts of a row in the list. The event in detail has more. */
const mostCharacters = 20_000;
const mostPages = 24;
/** Pages of a read. The events around them are read with each. */
const pagesAtOnce = 3;
/** Events. A longer log is shown before its branches are known. */
const mostAtOpening = 20_000;
/** Milliseconds between two reads of what is new, and before a change of the store is checked. */
const refreshMs = 200;
const checkMs = 500;
/** Milliseconds. How often a store that cannot be watched is taken as changed. */
const pollMs = 5_000;

/**
 * The log of one session, of which only the rows near those that are shown are in memory. What is appended meanwhile comes by itself. What cannot
 * be read is a `problem`, and a row that says it.
 */
export class ReadLog {
  readonly ref: DispatchRef;
  readonly order = new RowOrder<Row>(mostPages);
  /** What a reader must know of the log: that it is damaged, was rewritten, was deleted. */
  problem: string | null = null;
  /** The rows that pass, of which alone the order consists; null: all do. */
  filtered: RowScan | null = null;
  searched: RowScan | null = null;
  /** What is folded in the log; null: nothing, or that is not known yet. */
  folds: RowFolds | null = null;
  /** The positions of the folds that are open. */
  readonly #opened = new Set<number>();
  #hasNewBranch = false;
  /** Reads the whole log for its agents; null: nobody asked for them all yet. */
  agents: RowScan | null = null;
  /** Whether a row was read of the dispatched agent, which needs no event that creates it. */
  hasDispatchedAgent = false;
  log: DispatchLog;
  rows: LogRows;
  readonly #store: DispatchStore;
  readonly #onChange: () => void;
  readonly #closed = new AbortController();
  /** The last event that was read of the end, by which a log that became another one is noticed. */
  #last: { readonly position: number; readonly id: string } | null = null;
  #following = new AbortController();
  #refresh: NodeJS.Timeout | null = null;
  #check: NodeJS.Timeout | null = null;
  /** The first position whose row can be another one since the last refresh. */
  #changedFrom = Number.POSITIVE_INFINITY;
  #reading: Promise<void> = Promise.resolve();
  #stopWatching = () => {};

  private constructor(store: DispatchStore, log: DispatchLog, onChange: () => void) {
    this.ref = toDispatchRef(log);
    this.#store = store;
    this.log = log;
    this.rows = rowsOf(log, store);
    this.#onChange = onChange;
  }

  /** @throws as `openDispatch`, and if the end of the log cannot be read in any way */
  static async open(
    store: DispatchStore,
    ref: DispatchRef,
    { isDamaged, onChange }: { readonly isDamaged: boolean; readonly onChange: () => void },
  ): Promise<ReadLog> {
    const log = await store.openDispatch(ref, { skipDamaged: isDamaged });
    const read = new ReadLog(store, log, onChange);
    if (isDamaged) read.problem = damagedNote;
    await read.#count();
    const { branched, source } = log.envelope;
    const hasFolds = branched === true || (source?.copies?.events ?? 0) > 0;
    if (hasFolds && read.count <= mostAtOpening) await read.#findFolds();
    return read;
  }

  get count(): number {
    return this.order.count ?? 0;
  }

  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Begins to follow the log and the store. */
  async follow(): Promise<void> {
    if (this.folds === null) void this.#findFolds();
    void this.#follow();
    const changed = () => {
      this.#check ??= setTimeout(() => {
        this.#check = null;
        void this.#checkEnd();
      }, checkMs);
    };
    if (this.#store.capabilities.watch)
      this.#stopWatching = await this.#store.watch(this.ref, changed).catch(() => () => {});
    else {
      const polling = setInterval(changed, pollMs);
      this.#stopWatching = () => clearInterval(polling);
    }
    if (this.signal.aborted) this.#stopWatching();
  }

  close(): void {
    this.#closed.abort();
    this.#following.abort();
    this.#stopWatching();
    for (const timer of [this.#refresh, this.#check]) if (timer !== null) clearTimeout(timer);
    for (const scan of this.#scans()) scan.close();
  }

  /** The row of a place of the order; null: its event belongs to an earlier row. */
  async rowAt(place: number): Promise<Row | null> {
    const position = this.order.positionAt(place);
    const known = this.order.rows.get(position);
    if (known !== undefined) return known;
    await this.#read(Math.floor(position / pageSize));
    return this.order.rows.get(position) ?? null;
  }

  /** The row of the next place in a direction that has one; null: there is none. */
  async step(
    place: number,
    direction: 1 | -1,
  ): Promise<{ readonly place: number; readonly row: Row } | null> {
    for (let at = place + direction; at >= 0 && at < this.order.size; at += direction) {
      const row = await this.rowAt(at);
      if (row !== null) return { place: at, row };
    }
    return null;
  }

  /** The first place at or before one that has a row, otherwise the first one after it. */
  async placeNear(position: number): Promise<number> {
    const place = Math.max(0, Math.min(this.order.size - 1, this.order.placeOf(position)));
    if ((await this.rowAt(place)) !== null) return place;
    return (await this.step(place, -1))?.place ?? (await this.step(place, 1))?.place ?? 0;
  }

  /** Opens the fold that has an event, so that its row is shown. */
  openAt(position: number): void {
    const fold = this.order.hits === null ? this.folds?.at(position) : null;
    if (fold == null || this.#opened.has(fold.position)) return;
    this.#opened.add(fold.position);
    this.forget();
  }

  /** Closes the fold that has an event. Returns its position; null: there is none. */
  closeAt(position: number): number | null {
    const fold = this.folds?.at(position);
    if (fold == null || !this.#opened.delete(fold.position)) return null;
    this.forget();
    return fold.position;
  }

  async #findFolds(): Promise<void> {
    try {
      this.#hasNewBranch = false;
      const found = await this.rows.folds();
      if (found === this.folds || this.signal.aborted) return;
      this.folds = found;
      this.forget();
      this.#onChange();
    } catch {
      // The rows say what cannot be read.
    }
  }

  /** With a filter, every row that passes is shown. */
  get #folding(): Folding | null {
    const { folds } = this;
    if (folds === null) return null;
    return { folds, isOpen: ({ position }) => this.order.hits !== null || this.#opened.has(position) };
  }

  detail(position: number): Promise<EventAround | null> {
    return eventAround(this.rows, position);
  }

  /** Forgets the rows that were read. */
  forget(from = 0): void {
    this.order.rows.dropFrom(from);
  }

  /** Scans the log for the rows that pass. */
  scan(filter: EventFilter): RowScan {
    return new RowScan(this, filter, this.#onChange);
  }

  /** Learns the agents that are created in parts of the log that were not read. */
  async findAgents(): Promise<void> {
    if (this.agents !== null || this.#scans().some(({ isDone }) => isDone)) return;
    this.agents = this.scan(new EventFilter({ types: ['agent:created'] }));
    while (!this.agents.isDone && !this.signal.aborted) await this.agents.more(this.signal);
    // Their rows have names now.
    this.forget();
    this.#onChange();
  }

  #scans(): RowScan[] {
    return [this.filtered, this.searched, this.agents].filter((scan) => scan !== null);
  }

  #read(page: number): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readNow(page, 2));
    return this.#reading;
  }

  /** Reads pages, of which the wanted one is in the middle. */
  async #readNow(page: number, attempts: number): Promise<void> {
    const isMissing = (one: number) => one >= 0 && !this.order.rows.isComplete(one, this.count);
    if (!isMissing(page)) return;
    let first = page;
    if (isMissing(page - 1)) first -= 1;
    let end = page + 1;
    while (end - first < pagesAtOnce && isMissing(end) && end * pageSize < this.count) end += 1;
    try {
      const read = await this.rows.page(first * pageSize, (end - first) * pageSize, this.#folding);
      this.order.rows.add(read);
      this.hasDispatchedAgent ||= read.rows.some(({ agent }) => agent.agentId === '');
      // Without the events that were counted the log is another one.
      if (isMissing(page) && attempts > 0) {
        await this.#begin(rewrittenNote);
        await this.#readNow(page, attempts - 1);
      }
    } catch (error) {
      if (attempts > 0 && (await this.#skipsDamage(error))) await this.#readNow(page, attempts - 1);
      else this.#fillWith(error, first, end);
    }
  }

  /** Rows that say why the others cannot be read. */
  #fillWith(error: unknown, first: number, end: number): void {
    this.problem = messageOf(error);
    for (let page = first; page < end; page += 1) {
      const position = page * pageSize;
      const size = Math.min(pageSize, this.count - position);
      if (size > 0)
        this.order.rows.add({
          first: position,
          size,
          end: position,
          rows: [unreadable(position, size, messageOf(error))],
        });
    }
  }

  /** Reads only the whole events of a damaged log from now on. False: the error is another one, or the store cannot. */
  async #skipsDamage(error: unknown): Promise<boolean> {
    if (!storeErrors.is(error, 'STORE_CORRUPT') || this.#store.capabilities.integrity !== 'checksum')
      return false;
    this.log = await this.#store.openDispatch(this.ref, { skipDamaged: true });
    await this.#begin(damagedNote);
    return true;
  }

  async #count(): Promise<void> {
    const { first, events } = await this.log.last(1).catch(async (error: unknown) => {
      if (!(await this.#skipsDamage(error))) throw error;
      return this.log.last(1);
    });
    const position = first + events.length - 1;
    const id = events.at(-1)?.id;
    this.#last = id === undefined ? null : { position, id };
    this.order.count = position + 1;
  }

  /** Reads everything again, because positions mean other events now. */
  async #begin(note: string): Promise<void> {
    this.problem = note;
    this.rows = rowsOf(this.log, this.#store);
    this.folds = null;
    this.forget();
    void this.#findFolds();
    await this.log.refresh().catch(() => undefined);
    await this.#count().catch((error: unknown) => {
      this.problem = messageOf(error);
    });
    for (const scan of this.#scans()) scan.begin();
    this.#following.abort();
    this.#onChange();
  }

  async #follow(): Promise<void> {
    while (!this.signal.aborted) {
      this.#following = new AbortController();
      const { signal } = this.#following;
      try {
        // From the last event that is known: a store finds it from the end of the log.
        const known = this.#last?.position ?? -1;
        for await (const item of this.log.follow({ after: Math.max(-1, known - 1), signal }))
          if (item.kind === 'event' && item.position > known) this.#came(item.event, item.position);
      } catch (error) {
        if (this.signal.aborted) return;
        if (storeErrors.is(error, 'STORE_INVALID_CURSOR')) await this.#begin(rewrittenNote);
        else if (!(await this.#skipsDamage(error).catch(() => false))) {
          this.problem = messageOf(error);
          this.#onChange();
          return;
        }
      }
    }
  }

  #came(event: CapturedEvent, position: number): void {
    this.#last = { position, id: event.id };
    this.rows.learn(event, position);
    this.#hasNewBranch ||= !isStraightEvent(event);
    // A rewrite keeps positions, and adds a notice.
    const isRewrite = event.type === 'system:notice';
    if (isRewrite && this.problem === damagedNote) this.problem = rewrittenNote;
    this.#changedFrom = isRewrite ? 0 : Math.min(this.#changedFrom, Math.max(0, position - reach));
    this.#refresh ??= setTimeout(() => {
      this.#refresh = null;
      void this.#showNew();
    }, refreshMs);
  }

  async #showNew(): Promise<void> {
    this.forget(this.#changedFrom);
    this.#changedFrom = Number.POSITIVE_INFINITY;
    this.order.count = (this.#last?.position ?? -1) + 1;
    await this.#refreshEnvelope();
    if (this.#hasNewBranch) await this.#findFolds();
    for (const scan of this.#scans()) scan.continue();
    this.#onChange();
  }

  /** The end of a dispatch changes its open calls. */
  async #refreshEnvelope(): Promise<void> {
    const { status } = this.log.envelope;
    try {
      const now = await this.log.refresh();
      if (now.status === status) return;
      this.forget(Math.max(0, this.count - reach));
      this.#onChange();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Whether the last event is still the one that was read: a log that is repaired or replaced has others. */
  async #checkEnd(): Promise<void> {
    if (this.signal.aborted) return;
    await this.#refreshEnvelope();
    const last = this.#last;
    if (last === null) return;
    try {
      const event = await this.rows.event(last.position);
      if (this.#last === last && event?.id !== last.id && !this.signal.aborted)
        await this.#begin(rewrittenNote);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.signal.aborted) return;
    this.problem = storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')
      ? 'This session was deleted. What was read of it is still shown.'
      : messageOf(error);
    this.#onChange();
  }
}

const damagedNote =
  'The log is damaged: its whole events are shown, and positions count only these. `hansard store verify` names the damage.';
const rewrittenNote = 'The log was rewritten while it was open, and is read again.';

function rowsOf(log: DispatchLog, among: DispatchStore): LogRows {
  return new LogRows(log, { among, reach, keep: (row) => cutTexts(row, mostCharacters) });
}

function unreadable(position: number, size: number, message: string): Row {
  const last = position + size - 1;
  return {
    position,
    id: '',
    timestamp: null,
    kind: 'event',
    word: 'unreadable',
    agent: { agentId: '', name: '', depth: 0 },
    head: `events ${position} to ${last}`,
    content: [{ kind: 'text', text: message, style: 'plain' }],
    tone: 'bad',
    isFailed: true,
    events: Array.from({ length: size }, (_, at) => position + at),
  };
}

/** The positions of the rows that pass a filter, as they are found, in order. They are the rows that `show` prints with it. */
export class RowScan {
  readonly filter: EventFilter;
  readonly positions: number[] = [];
  /** How many events were read. */
  scanned = 0;
  isDone = false;
  problem: string | null = null;
  readonly #read: ReadLog;
  readonly #onChange: () => void;
  #running = new AbortController();
  #waiting: (() => void)[] = [];
  #isBehind = false;

  constructor(read: ReadLog, filter: EventFilter, onChange: () => void) {
    this.filter = filter;
    this.#read = read;
    this.#onChange = onChange;
    void this.#scan(0);
  }

  /** Scans the whole log again. */
  begin(): void {
    this.positions.length = 0;
    void this.#scan(0);
  }

  /** After more events: scans from where rows can have changed. */
  continue(): void {
    if (this.isDone) void this.#scan(Math.max(0, this.scanned - reach));
    else this.#isBehind = true;
  }

  close(): void {
    this.#running.abort();
    this.#wake();
  }

  /** The first position after one, or the last one before it; null: there is none yet. */
  next(position: number, direction: 1 | -1): number | null {
    const found =
      direction === 1
        ? this.positions.find((one) => one > position)
        : this.positions.findLast((one) => one < position);
    return found ?? null;
  }

  has(position: number): boolean {
    let [low, high] = [0, this.positions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.positions[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return this.positions[low] === position;
  }

  /** Resolves when more was scanned. */
  more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  async #scan(from: number): Promise<void> {
    this.#running.abort();
    const running = new AbortController();
    this.#running = running;
    this.isDone = false;
    this.#isBehind = false;
    this.problem = null;
    const { log, rows } = this.#read;
    const start = Math.max(0, from - 2 * reach);
    const found: number[] = [];
    // Of a scan that continues, the list stays until the end.
    const into = from === 0 ? this.positions : found;
    try {
      const agents = await rows.agentEventsBefore(start);
      const paged = pagedLog(log, running.signal);
      const pages = this.#pages(paged.pages({ after: start - 1 }), running.signal);
      const hasEnded = log.envelope.status !== 'running';
      for await (const { position } of filterRows(pages, this.filter, { first: start, agents, hasEnded }))
        if (position >= from && !running.signal.aborted) into.push(position);
    } catch (error) {
      if (running.signal.aborted) return;
      if (!storeErrors.is(error, 'STORE_INVALID_CURSOR')) this.problem = messageOf(error);
    }
    if (running.signal.aborted) return;
    if (into === found) {
      const kept = this.positions.findIndex((position) => position >= from);
      if (kept !== -1) this.positions.length = kept;
      for (const position of found) this.positions.push(position);
    }
    this.isDone = true;
    this.#wake();
    if (this.#isBehind) this.continue();
  }

  async *#pages(
    pages: AsyncIterable<{ readonly first: number; readonly events: readonly CapturedEvent[] }>,
    signal: AbortSignal,
  ): AsyncGenerator<readonly CapturedEvent[]> {
    let shownAt = 0;
    for await (const { first, events } of pages) {
      for (const [at, event] of events.entries()) this.#read.rows.learn(event, first + at);
      yield events;
      if (signal.aborted) return;
      this.scanned = first + events.length;
      if (performance.now() - shownAt < refreshMs) continue;
      shownAt = performance.now();
      this.#wake();
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#onChange();
  }
}

import type { DispatchEnvelope } from '@hansard/events';
import type { LiveRows, NamedAgent, ReaderRow, TreeEntry } from '../answers.ts';
import { pageSize } from '../page-cache.ts';
import { RowOrder, type ShownRow } from '../row-order.ts';
import { type DispatchName, LatestAnswer, PageReader, readAgents, readLast } from './api.ts';
import { everything, isEverything, isSameQuery, type Query, Search } from './find/search.ts';
import { followRows, RunState } from './live.ts';
import { type Place, rowsInView, ScrollPlace } from './scroll-place.ts';

/** Milliseconds. A dispatch that cannot be read is tried again. */
const openMs = 2_000;
/** How many places are read first. */
const lastPositions = 200;

/** Folds that stay open. */
const mostOpened = 50;

function isFold({ kind }: ReaderRow): boolean {
  return kind === 'branch' || kind === 'copies';
}

/** What the reader of one dispatch shows. The number of the topmost row decides; the scroll bar follows. */
export class ReaderState {
  readonly name: DispatchName;
  isFollowing = true;
  /** The position of the row that has the focus. */
  current: number | null = null;
  /** Rows that came while the reader was not at the end. */
  unseen = 0;
  problem: string | null = null;
  envelope: DispatchEnvelope | null = null;
  agents: readonly NamedAgent[] = [];
  tree: readonly TreeEntry[] = [];
  /** The rows that are looked for. */
  search: Search | null = null;
  readonly run = new RunState();
  readonly #onChange: () => void;
  readonly #order = new RowOrder<ReaderRow>();
  readonly #pages: PageReader;
  readonly #agentAnswers = new LatestAnswer<Awaited<ReturnType<typeof readAgents>>>();
  #wanted: number | null;
  #stop = () => {};
  #isClosed = false;
  #opening: ReturnType<typeof setTimeout> | undefined;
  /** Positions in the folds that are open. */
  #opened: readonly number[] = [];
  #hasFolds = false;
  readonly scroll = new ScrollPlace(this.#order, () => this.#changed());

  constructor(name: DispatchName, at: number | null, onChange: () => void) {
    this.name = name;
    this.#wanted = at;
    this.isFollowing = at === null;
    this.#onChange = onChange;
    this.#pages = new PageReader(name, {
      open: () => this.#open,
      onRows: (page) => {
        this.#order.rows.add(page);
        this.#learnFolds(page.rows);
        // Rows can take less room than their places: then more are in the window.
        this.#changed();
      },
      onError: (error) => this.#fail(error),
    });
  }

  /** How many events there are; null: not known yet. */
  get count(): number | null {
    return this.#order.count;
  }

  get topPosition(): number {
    return this.#order.positionAt(this.scroll.place.top);
  }

  /** Reads the last rows first, then what comes. */
  async open(): Promise<void> {
    try {
      const last = await readLast(this.name, lastPositions, this.#open);
      if (this.#isClosed) return;
      this.problem = null;
      this.#order.rows.add(last);
      this.#learnFolds(last.rows);
      this.run.rowsTo(last.first + last.size - 1);
      this.#counted(last.first + last.size);
      this.#follow(last.first + last.size - 1);
      await this.#learnAgents();
    } catch (error) {
      this.#fail(error);
      if (this.count === null) this.#opening = setTimeout(() => void this.open(), openMs);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#opening);
    this.scroll.close();
    this.#stop();
    this.search?.close();
    this.#pages.close();
  }

  resize(height: number): void {
    if (height === this.scroll.height) return;
    this.scroll.height = height;
    this.#changed();
  }

  scrolled(scrollTop: number): void {
    if (this.scroll.isMovement(scrollTop)) this.#moveTo(this.scroll.moved(scrollTop));
  }

  /** Shows the row with an event at the top; null: the end. */
  show(position: number | null): void {
    this.jump(position === null ? Number.MAX_SAFE_INTEGER : this.#order.placeOf(position));
  }

  /** Shows a place at the top. */
  jump(place: number): void {
    this.#moveTo(this.scroll.jumped(place));
  }

  /** Moves the focus by rows, from the row that has it, otherwise from the first one or, at the end, from the last. */
  move(rows: number): void {
    const { top } = this.scroll.place;
    const start =
      this.current === null ? (this.isFollowing ? this.#order.size : top) : this.#order.placeOf(this.current);
    this.#focusPlace(this.#order.step(start, rows));
  }

  /** Gives the row with an event the focus, and shows it. */
  focus(position: number): void {
    this.#focusPlace(this.#order.placeOf(position));
  }

  /** Gives the row of an event the focus, also where it is folded. */
  reveal(position: number): void {
    const row = this.#order.rows.get(position);
    if (this.#hasFolds && this.#order.hits === null && (row == null || isFold(row))) this.#openWith(position);
    this.focus(position);
  }

  /** Opens the fold that a row stands for. False: it is another row. */
  openFold(position: number): boolean {
    const row = this.#order.rows.get(position);
    if (row == null || !isFold(row)) return false;
    this.#openWith(position);
    return true;
  }

  /** Closes all folds. */
  fold(): void {
    this.#opened = [];
    this.#readAgain();
  }

  #openWith(position: number): void {
    if (this.#opened.includes(position)) return;
    this.#opened = [...this.#opened, position].slice(-mostOpened);
    this.#readAgain();
  }

  get #open(): string {
    return this.#order.hits === null ? this.#opened.join(',') : 'all';
  }

  #learnFolds(rows: readonly ReaderRow[]): void {
    this.#hasFolds ||= rows.some(isFold);
  }

  #readAgain(): void {
    if (!this.#hasFolds) return;
    this.#pages.close();
    this.#order.rows.dropFrom(0);
    this.#changed();
  }

  /** Gives the row with an event the focus, wherever it is. */
  mark(position: number): void {
    const current = this.#order.rowWith(position);
    if (current === this.current) return;
    this.current = current;
    this.#onChange();
  }

  #focusPlace(place: number): void {
    if (this.#order.size === 0) return;
    this.current = this.#order.positionAt(place);
    const shown = rowsInView(this.scroll.view);
    const end = this.rows().slice(0, shown).at(-1)?.place ?? -1;
    if (place < this.scroll.place.top) this.jump(place);
    else if (place > end) this.jump(this.#order.step(place, 1 - shown));
    else this.#onChange();
  }

  /** Looks for rows, from the beginning of the log, and shows those alone, or all. */
  find(query: Query, isOnly: boolean): void {
    if (!isSameQuery(query, this.search?.query ?? everything)) {
      this.search?.close();
      this.search = isEverything(query) ? null : new Search(this.name, query, () => this.#changed());
    }
    const hits = isOnly ? (this.search?.positions ?? null) : null;
    if (hits !== this.#order.hits) {
      // The row with the focus, or the topmost one, stays in the window.
      const kept = this.current ?? this.topPosition;
      this.#order.hits = hits;
      this.#readAgain();
      this.show(this.isFollowing ? null : kept);
    }
    this.#onChange();
  }

  /** Gives the next or the previous row that was found the focus. */
  next(direction: 1 | -1): void {
    const hit = this.search?.from(this.current ?? this.topPosition - direction, direction);
    if (hit !== undefined) this.reveal(hit);
  }

  /** The rows in the window. */
  rows(): readonly ShownRow<ReaderRow>[] {
    // One more than fit.
    return this.#order.window(this.scroll.place.top, rowsInView(this.scroll.view) + 1);
  }

  /** Changes when the row that has an event does. */
  versionOf(position: number): string {
    return JSON.stringify(this.#order.rows.get(position) ?? null);
  }

  #counted(count: number): void {
    this.#order.count = count;
    if (this.#wanted !== null) {
      this.scroll.place = this.scroll.jumped(this.#order.placeOf(this.#wanted));
      this.isFollowing = false;
    }
    this.#wanted = null;
    this.#changed();
  }

  #follow(after: number): void {
    if (this.#isClosed) return;
    this.#stop = followRows(this.name, after, {
      onRows: (rows, first) => this.#came(rows, first),
      onEnvelope: (envelope) => {
        this.envelope = envelope;
        this.#onChange();
      },
      onFolds: () => {
        this.#hasFolds = true;
        this.#readAgain();
      },
      onTree: (tree) => {
        this.tree = tree;
        this.#onChange();
      },
      onWriting: (message) => {
        this.run.received(message);
        this.#onChange();
      },
      onConnection: (problem) => {
        this.problem = problem;
        // What could not be read meanwhile is read again.
        if (problem === null) this.#changed();
        else this.#onChange();
      },
      onEnd: (message) => {
        this.search?.close();
        this.#fail(message);
      },
    });
  }

  #came({ rows, end }: LiveRows, first: number): void {
    this.#order.rows.add({ first, size: end + 1 - first, end, rows });
    this.#order.count = Math.max(this.count ?? 0, end + 1);
    this.run.rowsTo(end);
    this.search?.continue();
    if (!this.isFollowing) this.unseen += rows.filter(({ position }) => position >= first).length;
    if (rows.some(({ word }) => /^(?:created|ended|revived)$/.test(word))) void this.#learnAgents();
    this.#changed();
  }

  /** After more rows or another height: the end stays at the end, and any other row where it is. */
  #changed(): void {
    this.scroll.keep(this.isFollowing);
    this.#read();
    this.#onChange();
  }

  async #learnAgents(): Promise<void> {
    const agents = await this.#agentAnswers.of(readAgents(this.name));
    if (agents === null) return;
    this.agents = agents.agents;
    this.#onChange();
  }

  #moveTo(place: Place): void {
    this.scroll.place = place;
    this.isFollowing = place.top >= this.scroll.view.last;
    if (this.isFollowing) this.unseen = 0;
    this.#read();
    this.#onChange();
  }

  #read(): void {
    const { count } = this;
    if (count === null || count === 0) return;
    const wanted = this.rows().map(({ position }) => Math.floor(position / pageSize));
    const pages = new Set([Math.floor(this.topPosition / pageSize), ...wanted]);
    this.#pages.read(
      [...pages].filter((page) => !this.#order.rows.isComplete(page, count)),
      wanted,
    );
  }

  #fail(error: unknown): void {
    this.problem = error instanceof Error ? error.message : String(error);
    this.#onChange();
  }
}

import type { DispatchEnvelope } from '@hansard/events';
import type { LiveRows, NamedAgent, ReaderRow, TreeEntry } from '../answers.ts';
import { type DispatchName, readAgents, readLast, readRows } from './api.ts';
import { followRows } from './live.ts';
import { PageCache, pageSize } from './page-cache.ts';
import { movedTo, type Place, placeOf, rowsInView, type View } from './scroll-map.ts';

/** Pages that are further away are no longer waited for. */
const nearPages = 2;
/** Milliseconds without a movement of the scroll bar. */
const restMs = 200;
/** How many places are read first. */
const lastPositions = 200;

/** What the reader of one dispatch shows. The number of the topmost row decides; the scroll bar follows. */
export class ReaderState {
  readonly name: DispatchName;
  count: number | null = null;
  place: Place = { top: 0, scrollTop: 0, rest: 0 };
  isFollowing = true;
  /** The row that has the focus. */
  current: number | null = null;
  /** Rows that came while the reader was not at the end. */
  unseen = 0;
  problem: string | null = null;
  envelope: DispatchEnvelope | null = null;
  agents: readonly NamedAgent[] = [];
  tree: readonly TreeEntry[] = [];
  readonly #onChange: () => void;
  readonly #rows = new PageCache<ReaderRow>();
  readonly #reading = new Map<number, AbortController>();
  #height = 0;
  #wanted: number | null;
  #stop = () => {};
  #isClosed = false;
  #isScrolling = false;
  #resting: number | undefined;

  constructor(name: DispatchName, at: number | null, onChange: () => void) {
    this.name = name;
    this.#wanted = at;
    this.isFollowing = at === null;
    this.#onChange = onChange;
  }

  get view(): View {
    return { count: this.count ?? 0, height: this.#height, last: this.#lastTop() };
  }

  /** Reads the last rows first, then what comes. */
  async open(): Promise<void> {
    try {
      const last = await readLast(this.name, lastPositions);
      this.#rows.add(last.first, last.size, last.rows);
      this.#counted(last.first + last.size);
      this.#follow(last.first + last.size - 1);
      await this.#learnAgents();
    } catch (error) {
      this.#fail(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#resting);
    this.#stop();
    for (const reading of this.#reading.values()) reading.abort();
  }

  resize(height: number): void {
    if (height === this.#height) return;
    this.#height = height;
    this.#keepPlace();
    this.#onChange();
  }

  scrolled(scrollTop: number): void {
    if (scrollTop === this.place.scrollTop) return;
    clearTimeout(this.#resting);
    this.#isScrolling = true;
    const move = movedTo(scrollTop, this.place, this.view);
    const top = 'top' in move ? move.top : this.#step(this.place.top, move.rows);
    const rest = 'top' in move ? 0 : move.rest;
    this.#moveTo({ top: Math.min(top, this.view.last), scrollTop, rest });
  }

  /** The wheel turns: the scroll bar will move. */
  turned(): void {
    clearTimeout(this.#resting);
    if (this.#isScrolling) this.rested();
  }

  /** After the scroll bar came to rest, it shows where the topmost row is. Before, a change of it would end the movement. */
  rested(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#isScrolling = false;
      this.#keepPlace();
      this.#onChange();
    }, restMs);
  }

  /** Shows a row at the top. */
  jump(position: number): void {
    this.#isScrolling = false;
    this.#moveTo(placeOf(position, this.view));
  }

  /** Moves the focus by rows, from the row that has it, otherwise from the first one or, at the end, from the last. */
  move(rows: number): void {
    const { count } = this.view;
    const start = this.current ?? (this.isFollowing ? count : this.place.top);
    this.focus(this.#step(start, rows));
  }

  /** Gives a row the focus, and shows it. */
  focus(position: number): void {
    const { count } = this.view;
    if (count === 0) return;
    let kept = Math.max(0, Math.min(count - 1, position));
    // An event of an earlier row.
    while (kept > 0 && this.#rows.get(kept) === null) kept -= 1;
    this.current = kept;
    const shown = rowsInView(this.view);
    const end = this.rows().slice(0, shown).at(-1)?.[0] ?? -1;
    if (kept < this.place.top) this.jump(kept);
    else if (kept > end) this.jump(this.#step(kept, 1 - shown));
    else this.#onChange();
  }

  /** The rows in the window: those that are not read yet are undefined. */
  rows(): readonly (readonly [position: number, row: ReaderRow | undefined])[] {
    const count = this.count ?? 0;
    const most = rowsInView({ height: this.#height }) + 1;
    const shown: (readonly [number, ReaderRow | undefined])[] = [];
    for (let at = this.place.top; at < count && shown.length < most; at += 1) {
      const row = this.#rows.get(at);
      if (row !== null) shown.push([at, row]);
    }
    return shown;
  }

  /** Changes when the row that has an event does. */
  versionOf(position: number): string {
    return JSON.stringify(this.#rows.get(position) ?? null);
  }

  nameOf({ agentId, agent }: ReaderRow): string {
    return this.agents.find(({ id }) => id === agentId)?.name ?? agent;
  }

  /** The place that is so many rows further. A place that is not read counts as a row. */
  #step(from: number, rows: number): number {
    const count = this.count ?? 0;
    const step = Math.sign(rows);
    let at = from;
    for (let left = Math.abs(rows); left > 0; ) {
      const next = at + step;
      if (next < 0 || next >= count) break;
      at = next;
      if (this.#rows.get(at) !== null) left -= 1;
    }
    // The last places can belong to an earlier row.
    while (at > 0 && this.#rows.get(at) === null) at -= 1;
    return at;
  }

  /** The topmost row of the window at the end. */
  #lastTop(): number {
    return Math.max(0, this.#step(this.count ?? 0, -rowsInView({ height: this.#height })));
  }

  #counted(count: number): void {
    this.count = count;
    if (this.#wanted !== null) {
      this.place = placeOf(this.#wanted, this.view);
      this.isFollowing = false;
    }
    this.#wanted = null;
    this.#keepPlace();
    this.#read();
    this.#onChange();
  }

  #follow(after: number): void {
    if (this.#isClosed) return;
    this.#stop = followRows(this.name, after, {
      onRows: (rows, first) => this.#came(rows, first),
      onEnvelope: (envelope) => {
        this.envelope = envelope;
        this.#onChange();
      },
      onTree: (tree) => {
        this.tree = tree;
        this.#onChange();
      },
      onEnd: (message) => {
        this.problem = message;
        this.#onChange();
      },
    });
  }

  #came({ rows, end }: LiveRows, first: number): void {
    this.#rows.add(first, end + 1 - first, rows);
    this.count = Math.max(this.count ?? 0, end + 1);
    if (!this.isFollowing) this.unseen += rows.filter(({ position }) => position >= first).length;
    if (rows.some(({ word }) => word === 'created' || word === 'ended')) void this.#learnAgents();
    this.#keepPlace();
    this.#read();
    this.#onChange();
  }

  async #learnAgents(): Promise<void> {
    this.agents = (await readAgents(this.name)).agents;
    this.#onChange();
  }

  #moveTo(place: Place): void {
    this.place = place;
    this.isFollowing = place.top >= this.view.last;
    if (this.isFollowing) this.unseen = 0;
    this.#read();
    this.#onChange();
  }

  /** After more rows or another height: the end stays at the end, and any other row where it is. */
  #keepPlace(): void {
    const { view } = this;
    const top = this.isFollowing ? view.last : Math.min(this.place.top, view.last);
    this.place = this.#isScrolling ? { ...this.place, top } : placeOf(top, view);
  }

  #read(): void {
    const { count } = this;
    if (count === null || count === 0) return;
    const from = Math.floor(this.place.top / pageSize);
    const last = Math.max(this.place.top, this.rows().at(-1)?.[0] ?? 0);
    const to = Math.floor(last / pageSize);
    for (const [page, reading] of this.#reading)
      if (page < from - nearPages || page > to + nearPages) reading.abort();
    for (let page = from; page <= to; page += 1)
      if (!this.#rows.isComplete(page, count)) void this.#readPage(page);
  }

  async #readPage(page: number): Promise<void> {
    if (this.#reading.has(page)) return;
    const reading = new AbortController();
    this.#reading.set(page, reading);
    try {
      const { first, size, rows } = await readRows(this.name, page * pageSize, pageSize, reading.signal);
      this.#rows.add(first, size, rows);
    } catch (error) {
      if (!reading.signal.aborted) this.#fail(error);
    } finally {
      this.#reading.delete(page);
    }
    // Rows can take less room than their places: then more are in the window.
    this.#keepPlace();
    if (this.problem === null) this.#read();
    this.#onChange();
  }

  #fail(error: unknown): void {
    this.problem = error instanceof Error ? error.message : String(error);
    this.#onChange();
  }
}

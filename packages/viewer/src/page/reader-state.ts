import type { DispatchEnvelope } from '@hansard/events';
import type { EventRow } from '../server/event-row.ts';
import { type DispatchName, readAgents, readCount, readLast, readRows } from './api.ts';
import { followRows } from './live.ts';
import { PageCache, pageSize } from './page-cache.ts';
import { lastTop, type Place, placeOf, rowsInView, scrolledTo, type View } from './scroll-map.ts';

/** Pages that are further away are no longer waited for. */
const nearPages = 2;

/** What the reader of one dispatch shows. The number of the topmost row decides; the scroll bar follows. */
export class ReaderState {
  readonly name: DispatchName;
  count: number | null = null;
  place: Place = { top: 0, scrollTop: 0 };
  isFollowing = true;
  /** The row that has the focus. */
  current: number | null = null;
  /** Rows that came while the reader was not at the end. */
  unseen = 0;
  problem: string | null = null;
  envelope: DispatchEnvelope | null = null;
  names: Readonly<Record<string, string>> = {};
  readonly #onChange: () => void;
  readonly #rows = new PageCache<EventRow>();
  readonly #reading = new Map<number, AbortController>();
  #tail: readonly EventRow[] = [];
  #height = 0;
  #wanted: number | null;
  #stop = () => {};
  #isClosed = false;

  constructor(name: DispatchName, at: number | null, onChange: () => void) {
    this.name = name;
    this.#wanted = at;
    this.isFollowing = at === null;
    this.#onChange = onChange;
  }

  get view(): View {
    return { count: this.count ?? this.#tail.length, height: this.#height };
  }

  /** Reads the last rows first, then how many there are, then what comes. */
  async open(): Promise<void> {
    try {
      const [last, count] = await Promise.all([readLast(this.name, pageSize), this.#count()]);
      this.#tail = last.rows;
      this.#rows.add(last.first, last.rows);
      this.#counted(Math.max(count, last.first + last.rows.length));
      this.#follow(last.first + last.rows.length - 1);
      await this.#learnNames();
    } catch (error) {
      this.#fail(error);
    }
  }

  close(): void {
    this.#isClosed = true;
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
    this.#moveTo(scrolledTo(scrollTop, this.place, this.view));
  }

  /** Shows a row at the top. */
  jump(position: number): void {
    this.#moveTo(placeOf(position, this.view));
  }

  /** Gives a row the focus, and shows it. */
  focus(position: number): void {
    const { count } = this.view;
    if (count === 0) return;
    const kept = Math.max(0, Math.min(count - 1, position));
    this.current = kept;
    const { top } = this.place;
    const shown = rowsInView(this.view);
    if (kept < top) this.jump(kept);
    else if (kept >= top + shown) this.jump(kept - shown + 1);
    else this.#onChange();
  }

  /** The rows in the window: those that are not read yet are undefined. */
  rows(): readonly (readonly [position: number, row: EventRow | undefined])[] {
    const { count, height } = this.view;
    const end = Math.min(count, this.place.top + rowsInView({ count, height }) + 1);
    const shown: (readonly [number, EventRow | undefined])[] = [];
    for (let at = this.place.top; at < end; at += 1) shown.push([at, this.#rows.get(at)]);
    return shown;
  }

  nameOf(agentId: string): string {
    return this.names[agentId] ?? agentId;
  }

  async #count(): Promise<number> {
    return (await readCount(this.name)).count;
  }

  #counted(count: number): void {
    this.count = count;
    if (this.#wanted !== null) this.place = placeOf(this.#wanted, this.view);
    this.#wanted = null;
    this.#keepPlace();
    this.#read();
    this.#onChange();
  }

  #follow(after: number): void {
    if (this.#isClosed) return;
    this.#stop = followRows(this.name, after, {
      onRows: (rows) => this.#came(rows),
      onEnvelope: (envelope) => {
        this.envelope = envelope;
        this.#onChange();
      },
      onEnd: (message) => {
        this.problem = message;
        this.#onChange();
      },
    });
  }

  #came(rows: readonly EventRow[]): void {
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined) return;
    this.#rows.add(first[0], rows);
    this.count = Math.max(this.count ?? 0, last[0] + 1);
    if (!this.isFollowing) this.unseen += rows.length;
    if (rows.some(([, kind]) => kind === 'created')) void this.#learnNames();
    this.#keepPlace();
    this.#read();
    this.#onChange();
  }

  async #learnNames(): Promise<void> {
    this.names = (await readAgents(this.name)).names;
    this.#onChange();
  }

  #moveTo(place: Place): void {
    this.place = place;
    this.isFollowing = place.top >= lastTop(this.view);
    if (this.isFollowing) this.unseen = 0;
    this.#read();
    this.#onChange();
  }

  /** After more rows or another height: the end stays at the end, and any other row where it is. */
  #keepPlace(): void {
    const top = this.isFollowing ? lastTop(this.view) : this.place.top;
    this.place = placeOf(top, this.view);
  }

  #read(): void {
    const { count } = this.view;
    if (this.count === null) return;
    const from = Math.floor(this.place.top / pageSize);
    const to = Math.floor(Math.min(count - 1, this.place.top + rowsInView(this.view)) / pageSize);
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
      const { first, rows } = await readRows(this.name, page * pageSize, pageSize, reading.signal);
      this.#rows.add(first, rows);
    } catch (error) {
      if (!reading.signal.aborted) this.#fail(error);
    } finally {
      this.#reading.delete(page);
    }
    this.#onChange();
  }

  #fail(error: unknown): void {
    this.problem = error instanceof Error ? error.message : String(error);
    this.#onChange();
  }
}

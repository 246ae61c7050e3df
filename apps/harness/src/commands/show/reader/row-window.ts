import type { Row } from '@hansard/views';
import type { ReadLog } from './read-log.ts';

/** A row of the window. */
export interface PlacedRow {
  readonly place: number;
  readonly row: Row;
  /** The line of the window where it begins; below 0, its first lines are above. */
  readonly start: number;
  readonly lines: readonly string[];
}

/** The list of rows in a window of lines: its topmost line and the current row, which the keys move. */
export class RowWindow {
  /** The position of the current row. */
  current = 0;
  /** Whether the end stays in the window. */
  isFollowing = false;
  height = 1;
  readonly #log: ReadLog;
  readonly #linesOf: (row: Row) => readonly string[];
  /** The position of the topmost row, and how many of its lines are above the window. */
  #top = { position: 0, line: 0 };

  constructor(log: ReadLog, linesOf: (row: Row) => readonly string[]) {
    this.#log = log;
    this.#linesOf = linesOf;
  }

  /** The rows of the window. */
  async rows(): Promise<PlacedRow[]> {
    if (this.isFollowing) await this.toEnd();
    const placed = await this.#placed();
    const end = placed.at(-1);
    const empty = end === undefined ? 0 : this.height - (end.start + end.lines.length);
    // After a change of the size or of the filter.
    if (empty <= 0 || (placed[0]?.place === 0 && placed[0].start === 0)) return placed;
    await this.#back(empty);
    return this.#placed();
  }

  async #placed(): Promise<PlacedRow[]> {
    if (this.#log.order.size === 0) return [];
    const placed: PlacedRow[] = [];
    let place: number | null = await this.#log.placeNear(this.#top.position);
    let start = Number.NaN;
    while (place !== null && !(start >= this.height)) {
      const row = await this.#log.rowAt(place);
      if (row !== null) {
        const lines = this.#linesOf(row);
        if (Number.isNaN(start)) start = -Math.min(this.#top.line, lines.length - 1);
        placed.push({ place, row, start, lines });
        start += lines.length;
      }
      place = (await this.#log.step(place, 1))?.place ?? null;
    }
    return placed;
  }

  /** The current row, or the one nearest to it; null: there is none. */
  async currentRow(): Promise<Row | null> {
    if (this.#log.order.size === 0) return null;
    const place = await this.#log.placeNear(this.current);
    const row = await this.#log.rowAt(place);
    if (row !== null) this.current = row.position;
    return row;
  }

  /** Moves to the next row, or first through the lines of a row that is longer than the window. */
  async move(direction: 1 | -1): Promise<void> {
    this.isFollowing = false;
    const rows = await this.rows();
    const shown = rows.find(({ row }) => row.position === this.current);
    if (shown !== undefined && direction === 1 && shown.start + shown.lines.length > this.height)
      return this.#scroll(1);
    if (shown !== undefined && direction === -1 && shown.start < 0) return this.#scroll(-1);
    const next = await this.#log.step(await this.#log.placeNear(this.current), direction);
    if (next !== null) await this.show(next.row.position, direction === -1 ? 'end' : 'start');
  }

  /** Moves by lines of the window. The current row stays in it. */
  async page(lines: number): Promise<void> {
    this.isFollowing = false;
    await this.#scroll(lines);
    const rows = await this.rows();
    const whole = rows.filter(({ start, lines: own }) => start >= 0 && start + own.length <= this.height);
    if (whole.some(({ row }) => row.position === this.current)) return;
    const isDown = lines > 0;
    this.current = ((isDown ? whole[0] : whole.at(-1)) ?? rows[0])?.row.position ?? this.current;
  }

  async toStart(): Promise<void> {
    this.isFollowing = false;
    this.#top = { position: 0, line: 0 };
    const row = this.#log.order.size === 0 ? null : await this.#log.rowAt(await this.#log.placeNear(0));
    this.current = row?.position ?? 0;
    if (row !== null) this.#top = { position: row.position, line: 0 };
  }

  async toEnd(): Promise<void> {
    const last = await this.#log.step(this.#log.order.size, -1);
    if (last === null) return;
    this.current = last.row.position;
    this.#top = { position: last.row.position, line: 0 };
    const length = this.#linesOf(last.row).length;
    if (length < this.height) await this.#back(this.height - length);
    else this.#top = { position: last.row.position, line: length - this.height };
  }

  /** Makes the row with an event the current one. Of a row that is longer than the window, its start or its end is shown. */
  async show(position: number, part: 'start' | 'end' = 'start'): Promise<void> {
    if (this.#log.order.size === 0) return;
    this.isFollowing = false;
    const place = await this.#log.placeNear(position);
    const row = await this.#log.rowAt(place);
    if (row === null) return;
    this.current = row.position;
    const length = this.#linesOf(row).length;
    const shown = (await this.rows()).find(({ row: one }) => one.position === row.position);
    if (shown !== undefined && shown.start >= 0 && shown.start + length <= this.height) return;
    const isBelow = shown === undefined ? row.position > this.#top.position : shown.start >= 0;
    const isLong = length > this.height;
    this.#top = { position: row.position, line: isLong && part === 'end' ? length - this.height : 0 };
    if (isBelow && !isLong) await this.#back(this.height - length);
  }

  /** Moves the window by lines, down to the last one. */
  async #scroll(lines: number): Promise<void> {
    if (this.#log.order.size === 0) return;
    if (lines < 0) return this.#back(-lines);
    let place = await this.#log.placeNear(this.#top.position);
    let row = await this.#log.rowAt(place);
    let line = this.#top.line + lines;
    while (row !== null && line >= this.#linesOf(row).length) {
      const next = await this.#log.step(place, 1);
      if (next === null) break;
      line -= this.#linesOf(row).length;
      place = next.place;
      row = next.row;
    }
    if (row === null) return;
    this.#top = { position: row.position, line: Math.min(line, this.#linesOf(row).length - 1) };
  }

  /** Moves the window up by lines. */
  async #back(lines: number): Promise<void> {
    let { position, line } = this.#top;
    let place = await this.#log.placeNear(position);
    let left = lines;
    while (left > line) {
      const before = await this.#log.step(place, -1);
      if (before === null) break;
      left -= line;
      place = before.place;
      position = before.row.position;
      line = this.#linesOf(before.row).length;
    }
    this.#top = { position, line: Math.max(0, line - left) };
  }
}

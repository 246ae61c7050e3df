const spacing = 512;

export interface LinePlace {
  readonly position: number;
  /** The offset of the line, counted from the opening bracket. */
  readonly offset: number;
}

/**
 * The offsets of some lines, by position: every 512th line that a scan has passed, the first line after the last page, and
 * the place after the last event when the events were last counted. Offsets count from the bracket that opens the events, so
 * they stay valid when the head grows.
 */
export class PositionIndex {
  readonly #offsets: number[] = [];
  #cursor: LinePlace = { position: 0, offset: 1 };
  #end: LinePlace = { position: 0, offset: 1 };

  /** The known line that is nearest to a position, at or before it. */
  nearest(position: number): LinePlace {
    const step = Math.min(Math.floor(position / spacing), this.#offsets.length - 1);
    const known = this.#offsets[step];
    const place =
      known === undefined ? { position: 0, offset: 1 } : { position: step * spacing, offset: known };
    return this.#cursor.position <= position && this.#cursor.position > place.position ? this.#cursor : place;
  }

  /** The last known line. */
  get furthest(): LinePlace {
    const nearest = this.nearest(Number.MAX_SAFE_INTEGER);
    return this.#end.position > nearest.position ? this.#end : nearest;
  }

  /** Records a line that a scan has reached. */
  note(position: number, offset: number): void {
    if (position === this.#offsets.length * spacing) this.#offsets.push(offset);
  }

  /** Records the place where the next page is likely to begin. The line need not exist yet. */
  moveCursor(place: LinePlace): void {
    this.#cursor = place;
  }

  /** Records the place of the next event. */
  moveEnd(place: LinePlace): void {
    this.#end = place;
  }
}

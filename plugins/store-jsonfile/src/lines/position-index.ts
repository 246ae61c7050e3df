const spacing = 512;

export interface LinePlace {
  readonly position: number;
  /** The offset of the line, counted from the opening bracket. */
  readonly offset: number;
}

/**
 * Where lines begin, by position: every 512th that a scan has passed, the one that the last page ended at, and the one
 * after the last event when the events were last counted. Offsets count from the bracket that opens the events, so that
 * they hold when the head grows.
 */
export class PositionIndex {
  readonly #offsets: number[] = [];
  #cursor: LinePlace = { position: 0, offset: 1 };
  #end: LinePlace = { position: 0, offset: 1 };

  /** The known line nearest to a position, at or before it. */
  nearest(position: number): LinePlace {
    const step = Math.min(Math.floor(position / spacing), this.#offsets.length - 1);
    const known = this.#offsets[step];
    const place =
      known === undefined ? { position: 0, offset: 1 } : { position: step * spacing, offset: known };
    return this.#cursor.position <= position && this.#cursor.position > place.position ? this.#cursor : place;
  }

  /** The known line that is furthest from the beginning. */
  get furthest(): LinePlace {
    const nearest = this.nearest(Number.MAX_SAFE_INTEGER);
    return this.#end.position > nearest.position ? this.#end : nearest;
  }

  /** Takes a line that a scan has reached. */
  note(position: number, offset: number): void {
    if (position === this.#offsets.length * spacing) this.#offsets.push(offset);
  }

  /** Takes the line at which the next page is likely to begin, be it there yet or not. */
  moveCursor(place: LinePlace): void {
    this.#cursor = place;
  }

  /** Takes the line at which the next event will begin. */
  moveEnd(place: LinePlace): void {
    this.#end = place;
  }
}

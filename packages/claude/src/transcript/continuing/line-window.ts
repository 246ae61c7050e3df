/** A line that was read; of a record that is broken over lines, the first. */
export interface ReadLine {
  /** The number of the file. */
  readonly file: number;
  /** Bytes and lines before it. */
  readonly offset: number;
  readonly line: number;
  /** Counts lines in the order in which they were read, over all files. */
  order: number;
  /** The latest time of its records, in milliseconds since 1970. */
  time: number;
}

const mostOfSession = 32;
const mostOfAgent = 8;

/** The latest lines of a file. */
export class LineWindow {
  readonly lines: ReadLine[] = [];
  /** The latest time of the lines before. */
  horizon = Number.NEGATIVE_INFINITY;
  readonly #most: number;
  #isClosed = false;

  constructor(isSession: boolean) {
    this.#most = isSession ? mostOfSession : mostOfAgent;
  }

  add(line: ReadLine): void {
    if (this.#isClosed || this.lines.at(-1) === line) return;
    this.lines.push(line);
    if (this.lines.length > this.#most)
      this.horizon = Math.max(this.horizon, this.lines.shift()?.time ?? this.horizon);
  }

  /** Drops all lines, because no later record is expected. */
  close(): void {
    this.#isClosed = true;
    this.lines.length = 0;
    this.horizon = Number.MAX_VALUE;
  }
}

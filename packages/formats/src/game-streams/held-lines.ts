import type { GameStream, StreamLine } from './stream-lines.ts';

/** A line whose stream the end of the log decides. */
export type LateLine = () => StreamLine;

/** The streams of what agents say, think and do. Their lines stay in order among each other. */
const ordered: ReadonlySet<GameStream> = new Set(['chat', 'whispers', 'agent_actions', 'agent_reasoning']);

/** Holds lines back after one that is not decided before the end of the log. */
export class HeldLines {
  #held: (StreamLine | LateLine)[] = [];

  /** The lines that can be written now. */
  pass(lines: readonly (StreamLine | LateLine)[]): StreamLine[] {
    const passed: StreamLine[] = [];
    for (const line of lines) {
      const isHeld = typeof line === 'function' || (this.#held.length > 0 && ordered.has(line.stream));
      if (isHeld) this.#held.push(line);
      else passed.push(line);
    }
    return passed;
  }

  /** After the last event: the lines that were held back. */
  release(): StreamLine[] {
    const held = this.#held;
    this.#held = [];
    return held.map((line) => (typeof line === 'function' ? line() : line));
  }
}

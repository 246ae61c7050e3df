import type { WritingMessage, WritingPiece } from '../../answers.ts';

/** Characters of a text that are shown; the beginning of a longer one is left out. */
const mostShown = 20_000;

export interface GrowingText extends Pick<WritingPiece, 'key' | 'agentId' | 'kind' | 'end'> {
  readonly text: string;
  /** Whether its beginning is left out. */
  readonly isCut: boolean;
}

/** A dispatch that runs in the process of the viewer: what its agents are writing, until the rows have it. */
export class RunState {
  isRunning = false;
  /** Whether it ran while the page was open. */
  wasRunning = false;
  readonly #texts = new Map<number, GrowingText>();
  /** The texts that a row will have, with the position of its event. */
  readonly #ended = new Map<number, number>();
  #rowsTo = -1;

  get texts(): readonly GrowingText[] {
    return [...this.#texts.values()];
  }

  received({ isFirst, isRunning, texts, ended }: WritingMessage): void {
    if (isFirst) {
      this.#texts.clear();
      this.#ended.clear();
    }
    this.isRunning = isRunning;
    this.wasRunning ||= isRunning;
    for (const piece of texts) this.#texts.set(piece.key, this.#grown(piece));
    for (const { key, position } of ended) {
      if (position === null) this.#texts.delete(key);
      else this.#ended.set(key, position);
    }
    this.#forget();
  }

  /** The page has the rows up to a position. */
  rowsTo(position: number): void {
    this.#rowsTo = Math.max(this.#rowsTo, position);
    this.#forget();
  }

  #grown({ key, agentId, kind, from, end, text: piece }: WritingPiece): GrowingText {
    const before = this.#texts.get(key);
    const text = before?.end === from ? before.text + piece : piece;
    const isCut = text.length > mostShown || (before?.end === from ? before.isCut : from > 0);
    return { key, agentId, kind, end, text: text.slice(-mostShown), isCut };
  }

  #forget(): void {
    for (const [key, position] of this.#ended) {
      if (position > this.#rowsTo) continue;
      this.#ended.delete(key);
      this.#texts.delete(key);
    }
  }
}

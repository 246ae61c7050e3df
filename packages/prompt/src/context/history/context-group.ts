import type { ContextItem } from './context-item.ts';
import type { Detail } from './detail.ts';

export type GroupKind = 'systemPrompt' | 'message' | 'answer' | 'output';

/** Messages that are only shown together: an answer and the results of its calls, or a single message. */
export class ContextGroup {
  readonly kind: GroupKind;
  /** The result of each call directly follows the answer, in the order of the calls. */
  readonly items: ContextItem[] = [];
  /** The message that the last event added to. */
  newest: ContextItem;
  readonly #tokens = new Map<Detail, number>();

  constructor(kind: GroupKind, item: ContextItem) {
    this.kind = kind;
    this.newest = item;
    this.add(item);
  }

  /** Adds a message. It becomes the newest when `grow` adds to it. */
  add(item: ContextItem): void {
    this.items.push(item);
    for (const [detail, tokens] of this.#tokens) this.#tokens.set(detail, tokens + item.tokensAt(detail));
  }

  /** Adds to a message of the group. */
  grow(item: ContextItem, addTo: () => void): void {
    const before = [...this.#tokens.keys()].map((detail) => [detail, item.tokensAt(detail)] as const);
    addTo();
    for (const [detail, tokens] of before)
      this.#tokens.set(detail, this.tokensAt(detail) + item.tokensAt(detail) - tokens);
    this.newest = item;
  }

  /** Drops the content of its messages: the group is never shown again. */
  release(): void {
    for (const item of this.items) item.release();
    this.#tokens.clear();
  }

  tokensAt(detail: Detail): number {
    const known = this.#tokens.get(detail);
    if (known !== undefined) return known;
    let tokens = 0;
    for (const item of this.items) tokens += item.tokensAt(detail);
    this.#tokens.set(detail, tokens);
    return tokens;
  }

  /** The tokens with the newest message in full and the others at the lowest detail. */
  get squeezedTokens(): number {
    return this.tokensAt('low') - this.newest.tokensAt('low') + this.newest.tokensAt('high');
  }
}

/** Texts of which one occurs wherever a format occurs. They are ASCII, and have at least three characters. */
export interface Anchored {
  readonly anchors: readonly string[];
}

interface Anchor {
  readonly text: string;
  /** The place of its owner in the list. */
  readonly owner: number;
}

const ascii = 128;
const beginnings = 2 ** 16;

/**
 * Finds the formats that a text can have, in one pass: nearly all texts have none. The search of Wu and Manber for the first
 * three characters of each anchor. 1. `#steps` says for each pair of characters how far the search may move: 2, 1 for the first
 * pair of an anchor, 0 for its second. 2. After a step of 0 the three characters are compared by `#isBeginning`, a set of hashes.
 * 3. What remains is compared in full.
 */
export class AnchorScan {
  readonly #steps = new Uint8Array(ascii * ascii).fill(2);
  readonly #isBeginning = new Uint8Array(beginnings);
  readonly #anchors = new Map<number, Anchor[]>();

  constructor(owners: readonly Anchored[]) {
    for (const [owner, { anchors }] of owners.entries())
      for (const text of anchors) this.#add({ text, owner });
  }

  /** The places of the owners whose anchors occur in the text, in ascending order. Null: none. */
  find(text: string): number[] | null {
    const steps = this.#steps;
    const isBeginning = this.#isBeginning;
    let found: Set<number> | null = null;
    for (let at = 2; at < text.length; ) {
      const last = text.charCodeAt(at);
      const middle = text.charCodeAt(at - 1);
      const step = last < ascii && middle < ascii ? (steps[(middle << 7) | last] as number) : 2;
      if (step > 0) {
        at += step;
        continue;
      }
      const hash = hashOf(text.charCodeAt(at - 2), middle, last);
      if (isBeginning[hash] === 1)
        for (const anchor of this.#anchors.get(hash) ?? [])
          if (text.startsWith(anchor.text, at - 2)) found = (found ?? new Set()).add(anchor.owner);
      at += 1;
    }
    return found === null ? null : [...found].sort((a, b) => a - b);
  }

  #add(anchor: Anchor): void {
    const { text } = anchor;
    const [first, middle, last] = [text.charCodeAt(0), text.charCodeAt(1), text.charCodeAt(2)];
    if (!(first < ascii && middle < ascii && last < ascii))
      throw new TypeError(`not an anchor: ${JSON.stringify(text)}`);
    const before = (first << 7) | middle;
    this.#steps[before] = Math.min(this.#steps[before] as number, 1);
    this.#steps[(middle << 7) | last] = 0;
    const hash = hashOf(first, middle, last);
    this.#isBeginning[hash] = 1;
    this.#anchors.set(hash, [...(this.#anchors.get(hash) ?? []), anchor]);
  }
}

function hashOf(first: number, middle: number, last: number): number {
  return ((first << 9) ^ (middle << 5) ^ last) & (beginnings - 1);
}

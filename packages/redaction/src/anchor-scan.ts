/** Texts of which one occurs wherever a format occurs. */
export interface Anchored {
  /**
   * ASCII. A `|` stands before the three characters that are searched, and is not a part of the text; absent: the first three. The
   * rarer their two pairs are in all texts, the faster is the search.
   */
  readonly anchors: readonly string[];
}

interface Anchor {
  readonly text: string;
  /** The place in the text of the characters that are searched. */
  readonly offset: number;
  /** The place of its owner in the list. */
  readonly owner: number;
}

const bytesAtOnce = 32_768;
/** Free bytes before the text. */
const start = 2;
const numberOfPairs = 2 ** 16;
const numberOfHashes = 2 ** 14;
/** The low bytes of the characters that are searched: reading them from a string takes several times as long. */
const bytes = new Uint8Array(start + bytesAtOnce + 8);
/** The same, two at a time, in the byte order of the machine. */
const pairs = new Uint16Array(bytes.buffer);
const target = Buffer.from(bytes.buffer, start, bytesAtOnce);

/**
 * Finds the formats that a text can have, in one pass: nearly all texts have none. 1. The low bytes of a text are copied, piece by
 * piece; a piece begins with the last two characters of the one before. 2. Every second pair of bytes is looked up in `#isPair`. Three
 * characters have two pairs, and one of them is at an even place. 3. Around a pair that is found, three bytes are
 * looked up in `#isBeginning`, a set of hashes. 4. What remains is compared with the text.
 */
export class AnchorScan {
  readonly #isPair = new Uint8Array(numberOfPairs);
  readonly #isBeginning = new Uint8Array(numberOfHashes);
  readonly #anchors = new Map<number, Anchor[]>();

  constructor(owners: readonly Anchored[]) {
    for (const [owner, { anchors }] of owners.entries())
      for (const anchor of anchors) {
        const offset = Math.max(0, anchor.indexOf('|'));
        this.#add({ text: anchor.replace('|', ''), offset, owner });
      }
  }

  /** The places of the owners whose anchors occur in the text, in ascending order. Null: none. */
  find(text: string): number[] | null {
    const isPair = this.#isPair;
    let found: Set<number> | null = null;
    for (let from = 0; from + 2 < text.length; from += bytesAtOnce - 2) {
      const end = start + copyBytes(text, from);
      for (let at = start; at < end; at += 8) {
        const pair = at >> 1;
        const one = isPair[pairs[pair] as number] as number;
        const two = isPair[pairs[pair + 1] as number] as number;
        const three = isPair[pairs[pair + 2] as number] as number;
        const four = isPair[pairs[pair + 3] as number] as number;
        if ((one | two | three | four) === 0 || !this.#isAround(at)) continue;
        for (let near = at - 1; near < at + 7; near += 1)
          found = this.#compared(text, near, from - start, found);
      }
    }
    return found === null ? null : [...found].sort((a, b) => a - b);
  }

  /** Whether the characters of an anchor can begin at one of the first seven bytes of four pairs, or at the byte before. */
  #isAround(at: number): boolean {
    const isBeginning = this.#isBeginning;
    let found = 0;
    // Takes less time than to end at the first one.
    for (let near = at - 1; near < at + 7; near += 1) found |= isBeginning[hashAt(near)] as number;
    return found !== 0;
  }

  /** What was found, and the owners of the anchors whose searched characters are at a byte. */
  #compared(text: string, at: number, shift: number, found: Set<number> | null): Set<number> | null {
    let all = found;
    for (const anchor of this.#anchors.get(hashAt(at)) ?? [])
      if (text.startsWith(anchor.text, at + shift - anchor.offset))
        all = (all ?? new Set()).add(anchor.owner);
    return all;
  }

  #add(anchor: Anchor): void {
    const searched = anchor.text.slice(anchor.offset, anchor.offset + 3);
    if (searched.length < 3 || /[^\0-\x7f]/.test(anchor.text))
      throw new TypeError(`not an anchor: ${JSON.stringify(anchor.text)}`);
    copyBytes(searched, 0);
    this.#isPair[pairs[start / 2] as number] = 1;
    const hash = hashAt(start);
    this.#isBeginning[hash] = 1;
    this.#anchors.set(hash, [...(this.#anchors.get(hash) ?? []), anchor]);
    copyBytes(searched, 1);
    this.#isPair[pairs[start / 2] as number] = 1;
  }
}

/** Copies what fits of a text, and gives the number of its bytes. The eight after them are not of the text. */
function copyBytes(text: string, from: number): number {
  return target.write(from === 0 ? text : text.slice(from, from + bytesAtOnce), 'latin1');
}

function hashAt(at: number): number {
  const [first, middle, last] = [bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number];
  return ((first << 7) ^ (middle << 4) ^ last) & (numberOfHashes - 1);
}

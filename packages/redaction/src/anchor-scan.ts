/** Texts of which one occurs wherever a format occurs. They are ASCII, and have at least three characters. */
export interface Anchored {
  readonly anchors: readonly string[];
}

interface Anchor {
  readonly text: string;
  /** The place of its owner in the list. */
  readonly owner: number;
}

const bytesAtOnce = 32_768;
/** Copying a shorter text takes longer than reading it. */
const shortestCopied = 100;
const tableSize = 2 ** 16;
/** The low bytes of the characters that are searched: reading them from a string takes several times as long. */
const bytes = new Uint8Array(bytesAtOnce + 8);
/** The same, two at a time, in the byte order of the machine. */
const pairs = new Uint16Array(bytes.buffer);
const target = Buffer.from(bytes.buffer, 0, bytesAtOnce);

/**
 * Finds the formats that a text can have, in one pass: nearly all texts have none. 1. The low bytes of a text are copied, piece by
 * piece; a piece begins with the last two characters of the one before. 2. Every second pair of bytes is looked up in `#isPair`. The first
 * three characters of an anchor have two pairs, and one of them is at an even place. 3. Around a pair that is found, three bytes are
 * looked up in `#isBeginning`, a set of hashes. 4. What remains is compared with the text.
 */
export class AnchorScan {
  readonly #isPair = new Uint8Array(tableSize);
  readonly #isBeginning = new Uint8Array(tableSize);
  readonly #anchors = new Map<number, Anchor[]>();

  constructor(owners: readonly Anchored[]) {
    for (const [owner, { anchors }] of owners.entries())
      for (const text of anchors) this.#add({ text, owner });
  }

  /** The places of the owners whose anchors occur in the text, in ascending order. Null: none. */
  find(text: string): number[] | null {
    let found: Set<number> | null = null;
    for (let from = 0; from + 2 < text.length; from += bytesAtOnce - 2) {
      const length = copyBytes(text, from);
      for (let pair = this.#nextPair(0, length); pair >= 0; pair = this.#nextPair(pair + 1, length)) {
        const at = 2 * pair;
        if (at > 0 && this.#isBeginning[hashAt(at - 1)] === 1)
          found = this.#compared(text, from + at - 1, hashAt(at - 1), found);
        if (this.#isBeginning[hashAt(at)] === 1) found = this.#compared(text, from + at, hashAt(at), found);
      }
    }
    return found === null ? null : [...found].sort((a, b) => a - b);
  }

  /** The next pair of an anchor; -1: there is none. Four at a time, because nearly none is one. */
  #nextPair(first: number, length: number): number {
    const isPair = this.#isPair;
    const end = (length + 1) >> 1;
    for (let pair = first; pair < end; pair += 4) {
      const one = isPair[pairs[pair] as number] as number;
      const two = isPair[pairs[pair + 1] as number] as number;
      const three = isPair[pairs[pair + 2] as number] as number;
      const four = isPair[pairs[pair + 3] as number] as number;
      if ((one | two | three | four) === 0) continue;
      const next = one === 1 ? pair : two === 1 ? pair + 1 : three === 1 ? pair + 2 : pair + 3;
      return next < end ? next : -1;
    }
    return -1;
  }

  /** What was found, and the owners of the anchors that are at a place of the text. */
  #compared(text: string, at: number, hash: number, found: Set<number> | null): Set<number> | null {
    let all = found;
    for (const anchor of this.#anchors.get(hash) ?? [])
      if (text.startsWith(anchor.text, at)) all = (all ?? new Set()).add(anchor.owner);
    return all;
  }

  #add(anchor: Anchor): void {
    if (anchor.text.length < 3 || /[^\0-\x7f]/.test(anchor.text))
      throw new TypeError(`not an anchor: ${JSON.stringify(anchor.text)}`);
    copyBytes(anchor.text, 0);
    this.#isPair[pairs[0] as number] = 1;
    const hash = hashAt(0);
    this.#isBeginning[hash] = 1;
    this.#anchors.set(hash, [...(this.#anchors.get(hash) ?? []), anchor]);
    copyBytes(anchor.text, 1);
    this.#isPair[pairs[0] as number] = 1;
  }
}

/** Copies what fits of a text, and gives the number of its bytes. The eight after them are not of the text. */
function copyBytes(text: string, from: number): number {
  const length = Math.min(text.length - from, bytesAtOnce);
  if (length >= shortestCopied) target.write(from === 0 ? text : text.slice(from, from + length), 'latin1');
  else for (let at = 0; at < length; at += 1) bytes[at] = text.charCodeAt(from + at);
  return length;
}

function hashAt(at: number): number {
  const [first, middle, last] = [bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number];
  return ((first << 9) ^ (middle << 5) ^ last) & (tableSize - 1);
}

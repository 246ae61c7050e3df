const shortestAnchor = 3;
/** Two characters of an anchor, from its first one or from its second one. */
const atFirst = 1;
const atSecond = 2;

/**
 * Finds the places in bytes where an anchor can begin. Each occurrence of an anchor has two of its first three characters at an even place, as
 * one number of 16 bits. So half as many numbers as there are bytes are looked up, and nearly none of them is in the table.
 */
export class AnchorPlaces {
  /** How many bytes can be searched at once. */
  static readonly capacity = 32_768;
  /** The number of bytes at the end of a piece of a long text that the next piece repeats, so that no anchor is cut. */
  static readonly overlap = shortestAnchor - 1;

  /** The bytes to search. */
  readonly bytes: Buffer;
  readonly #bytes: Uint8Array;
  readonly #pairs: Uint16Array;
  /** For each two characters: whether they are the first and second of an anchor, or its second and third. */
  readonly #kinds = new Uint8Array(65_536);
  /** Whether an anchor can begin with three characters, by their hash. */
  readonly #beginnings = new Uint8Array(16_384);
  readonly #places = new Uint16Array(AnchorPlaces.capacity);

  constructor(anchors: readonly string[]) {
    const memory = new ArrayBuffer(AnchorPlaces.capacity + 4);
    this.bytes = Buffer.from(memory, 0, AnchorPlaces.capacity);
    this.#bytes = new Uint8Array(memory);
    this.#pairs = new Uint16Array(memory);
    for (const anchor of anchors) {
      this.bytes.write(anchor.slice(0, shortestAnchor), 'latin1');
      this.#mark(this.#pairs[0] as number, atFirst);
      this.#beginnings[this.#hashAt(0)] = 1;
      this.bytes.write(anchor.slice(1, shortestAnchor), 'latin1');
      this.#mark(this.#pairs[0] as number, atSecond);
    }
  }

  /** Searches the first bytes, at least one, and returns the number of places. */
  find(length: number): number {
    const pairs = this.#pairs;
    const kinds = this.#kinds;
    let count = 0;
    for (let index = 0, end = (length + 1) >> 1; index < end; index += 1) {
      const kind = kinds[pairs[index] as number] as number;
      if (kind === 0) continue;
      const at = index * 2;
      if ((kind & atSecond) !== 0 && at > 0 && this.#canBegin(at - 1)) this.#places[count++] = at - 1;
      if ((kind & atFirst) !== 0 && this.#canBegin(at)) this.#places[count++] = at;
    }
    return count;
  }

  /** A place that the last search found. They are in ascending order, and can be beyond the length. */
  at(index: number): number {
    return this.#places[index] as number;
  }

  #canBegin(at: number): boolean {
    return this.#beginnings[this.#hashAt(at)] === 1;
  }

  #hashAt(at: number): number {
    const bytes = this.#bytes;
    const characters =
      ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8);
    return Math.imul(characters, 0x9e3779b1) >>> 18;
  }

  #mark(pair: number, kind: number): void {
    this.#kinds[pair] = (this.#kinds[pair] as number) | kind;
  }
}

/** @throws TypeError for an anchor that cannot be searched */
export function assertAnchor(text: string): void {
  if (text.length < shortestAnchor || /[^\0-\x7f]/.test(text))
    throw new TypeError(`not an anchor: ${JSON.stringify(text)}`);
}

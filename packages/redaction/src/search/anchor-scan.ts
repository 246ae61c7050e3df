const shortestAnchor = 3;
/** Two characters of an anchor, from its first one or from its second one. */
const atFirst = 1;
const atSecond = 2;

/**
 * Finds the places in bytes where an anchor can begin. Each occurrence of an anchor has two of its first three characters at an even place, as
 * one number of 16 bits. So half as many numbers as there are bytes are looked up, and nearly none of them is in the table.
 */
class AnchorPlaces {
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
    const bytes = this.#bytes;
    const places = this.#places;
    let count = 0;
    for (let index = 0, end = (length + 1) >> 1; index < end; index += 1) {
      const kind = kinds[pairs[index] as number] as number;
      if (kind === 0) continue;
      // Each function that is called here takes as long as the rest: the hash is written out.
      const first = index * 2 - ((kind & atSecond) !== 0 && index > 0 ? 1 : 0);
      const last = index * 2 - ((kind & atFirst) !== 0 ? 0 : 1);
      for (let at = first; at <= last; at += 1) {
        const characters =
          ((bytes[at] as number) << 24) |
          ((bytes[at + 1] as number) << 16) |
          ((bytes[at + 2] as number) << 8);
        if (this.#beginnings[Math.imul(characters, 0x9e3779b1) >>> 18] === 1) places[count++] = at;
      }
    }
    return count;
  }

  /** A place that the last search found. They are in ascending order, and can be beyond the length. */
  at(index: number): number {
    return this.#places[index] as number;
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
function assertAnchor(text: string): void {
  if (text.length < shortestAnchor || /[^\0-\x7f]/.test(text))
    throw new TypeError(`not an anchor: ${JSON.stringify(text)}`);
}

/** The first three characters of an anchor as one number: the anchors are ASCII. */
function beginningAt(text: string, at: number): number {
  return text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1) * 256 + text.charCodeAt(at + 2);
}

/** Texts of which one occurs wherever a format occurs. */
export interface Anchored {
  /** ASCII, at least three characters. The rarer the first three are in all texts, the faster is the search. */
  readonly anchors: readonly (string | AnchorBefore)[];
}

/** An anchor, and the characters of which one follows it. */
type AnchorBefore = readonly [anchor: string, next: string];

/** A text in which an anchor occurs, with the places of the owners in the list. */
export interface AnchoredText {
  readonly text: string;
  readonly owners: ReadonlySet<number>;
}

interface Anchor {
  readonly text: string;
  /** The place of its owner in the list. */
  readonly owner: number;
  readonly next: string | undefined;
}

const { capacity, overlap } = AnchorPlaces;

/**
 * Finds the texts in which an anchor occurs, in one pass: nearly none has one. 1. The low bytes of the texts are copied one after another,
 * because reading characters of texts takes several times as long. 2. `AnchorPlaces` finds the places where an anchor can begin.
 * 3. There, the text is compared with the anchors.
 */
export class AnchorScan {
  /** By their first three characters. */
  readonly #byBeginning = new Map<number, readonly Anchor[]>();
  readonly #places: AnchorPlaces;
  /** The texts that were copied, the first `#count` of the list. */
  readonly #texts: string[] = [];
  #count = 0;
  /** The number of their bytes. */
  #used = 0;
  #found: { readonly text: string; readonly owners: Set<number> }[] | null = null;

  /** @throws TypeError for an anchor that cannot be searched */
  constructor(owners: readonly Anchored[]) {
    const all = owners.flatMap(({ anchors }, owner) =>
      anchors.map((anchor): Anchor => {
        const [text, next] = typeof anchor === 'string' ? [anchor] : anchor;
        return { text, owner, next };
      }),
    );
    for (const anchor of all) {
      assertAnchor(anchor.text);
      const beginning = beginningAt(anchor.text, 0);
      this.#byBeginning.set(beginning, [...(this.#byBeginning.get(beginning) ?? []), anchor]);
    }
    this.#places = new AnchorPlaces(all.map(({ text }) => text));
  }

  /** Forgets the texts that were added. */
  begin(): void {
    this.#clear();
    this.#found = null;
  }

  add(text: string): void {
    const { length } = text;
    if (this.#used + length > capacity) this.#search();
    if (length > capacity) {
      this.#searchLong(text);
      return;
    }
    this.#places.bytes.write(text, this.#used, 'latin1');
    this.#texts[this.#count] = text;
    this.#count += 1;
    this.#used += length;
  }

  /** Returns the texts since `begin` in which an anchor occurs, and forgets them. Null: there is none. */
  found(): readonly AnchoredText[] | null {
    this.#search();
    const found = this.#found;
    this.#found = null;
    return found;
  }

  #search(): void {
    const places = this.#places;
    const count = this.#used === 0 ? 0 : places.find(this.#used);
    for (let [place, index, start] = [0, 0, 0]; place < count; place += 1) {
      const at = places.at(place);
      if (at >= this.#used) break;
      let text = this.#texts[index] as string;
      while (at >= start + text.length) {
        start += text.length;
        index += 1;
        text = this.#texts[index] as string;
      }
      this.#compareAt(text, at - start);
    }
    this.#clear();
  }

  #searchLong(text: string): void {
    const places = this.#places;
    for (let from = 0; from < text.length; from += capacity - overlap) {
      const piece = text.slice(from, from + capacity);
      places.bytes.write(piece, 'latin1');
      const count = places.find(piece.length);
      for (let place = 0; place < count; place += 1) this.#compareAt(text, from + places.at(place));
    }
  }

  #compareAt(text: string, at: number): void {
    const anchors = this.#byBeginning.get(beginningAt(text, at));
    if (anchors === undefined) return;
    for (const { text: anchor, owner, next } of anchors) {
      if (!text.startsWith(anchor, at)) continue;
      if (next === undefined || next.includes(text.charAt(at + anchor.length))) this.#note(text, owner);
    }
  }

  #note(text: string, owner: number): void {
    this.#found ??= [];
    let last = this.#found.at(-1);
    if (last?.text !== text) {
      last = { text, owners: new Set() };
      this.#found.push(last);
    }
    last.owners.add(owner);
  }

  #clear(): void {
    for (let index = 0; index < this.#count; index += 1) this.#texts[index] = '';
    this.#count = 0;
    this.#used = 0;
  }
}

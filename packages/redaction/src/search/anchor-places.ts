import { anchorPlacesModule } from './anchor-places-module.ts';

/** How many characters of an anchor are searched at most. */
const searchedLength = 4;
const shortestAnchor = 3;
const numberOfGroups = 8;

/** The offsets of the tables in the memory of `anchor-places.wat`. */
const groupTables = 36_864;
const beginnings = 40_960;
const foundPlaces = 81_920;

/** The exports of `anchor-places.wat`. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly find: (length: number) => number;
}

/** The parts of WebAssembly that are used. TypeScript declares it only together with the DOM. */
interface WebAssemblyOfNode {
  readonly validate: (code: Uint8Array) => boolean;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Exports };
}

/** Finds the places in bytes where an anchor can begin, 16 places at once. The search is in WebAssembly (`anchor-places.wat`, decision 0016). */
export class AnchorPlaces {
  /** How many bytes can be searched at once. */
  static readonly capacity = 32_768;
  /** The number of bytes at the end of a piece of a long text that the next piece repeats, so that no anchor is cut. */
  static readonly overlap = searchedLength - 1;

  /** The bytes to search. */
  readonly bytes: Buffer;
  readonly #memory: Uint8Array;
  readonly #places: Uint16Array;
  readonly #find: (length: number) => number;

  /** Null if this process has no WebAssembly (`node --jitless`), or the processor cannot compare 16 bytes at once. */
  static create(anchors: readonly string[]): AnchorPlaces | null {
    const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly?: WebAssemblyOfNode };
    const code = Buffer.from(anchorPlacesModule, 'base64');
    if (wasm === undefined || !wasm.validate(code)) return null;
    return new AnchorPlaces(new wasm.Instance(new wasm.Module(code)).exports, anchors);
  }

  private constructor({ memory, find }: Exports, anchors: readonly string[]) {
    this.#find = find;
    this.#memory = new Uint8Array(memory.buffer);
    this.#places = new Uint16Array(memory.buffer, foundPlaces);
    this.bytes = Buffer.from(memory.buffer, 0, AnchorPlaces.capacity);
    // A group of similar anchors has fewer different characters, so that fewer other texts match it.
    const sorted = [...anchors].sort();
    for (const [index, anchor] of sorted.entries())
      this.#learn(anchor, 1 << Math.floor((index * numberOfGroups) / sorted.length));
  }

  /** Searches the first bytes, at least one, and returns the number of places. */
  find(length: number): number {
    return this.#find(length);
  }

  /** A place that the last search found. They are in ascending order, and can be beyond the length. */
  at(index: number): number {
    return this.#places[index] as number;
  }

  #learn(anchor: string, group: number): void {
    this.#memory[beginnings + hashOf(anchor)] = 2;
    for (let index = 0; index < searchedLength; index += 1) {
      const code = index < anchor.length ? anchor.charCodeAt(index) : null;
      const table = groupTables + 32 * index;
      for (let half = 0; half < 16; half += 1) {
        if (code === null || (code & 15) === half) this.#mark(table + half, group);
        if (code === null || code >> 4 === half) this.#mark(table + 16 + half, group);
      }
    }
  }

  #mark(at: number, group: number): void {
    this.#memory[at] = (this.#memory[at] as number) | group;
  }
}

/** @throws TypeError for an anchor that cannot be searched */
export function assertAnchor(text: string): void {
  if (text.length < shortestAnchor || /[^\0-\x7f]/.test(text))
    throw new TypeError(`not an anchor: ${JSON.stringify(text)}`);
}

/** The hash of the first three characters, as in `anchor-places.wat`. */
function hashOf(anchor: string): number {
  const characters =
    (anchor.charCodeAt(2) << 24) | (anchor.charCodeAt(1) << 16) | (anchor.charCodeAt(0) << 8);
  return Math.imul(characters, 0x9e3779b1) >>> 18;
}

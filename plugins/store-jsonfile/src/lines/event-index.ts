import type { LinePlace } from './position-index.ts';

const mostFilled = 0.8;
const growth = 1.5;
const nowhere: readonly LinePlace[] = [];

/**
 * Finds lines by the ids of their events. A hash table with open addressing in three typed arrays: the hash of the id, and the
 * offset and the position of the line. Two ids may have the same hash, so the caller compares the id with the line.
 */
export class EventIndex {
  #hashes: Uint32Array;
  #offsets: Float64Array;
  #positions: Uint32Array;
  #count = 0;

  constructor(capacity = 64) {
    this.#hashes = new Uint32Array(capacity);
    this.#offsets = new Float64Array(capacity);
    this.#positions = new Uint32Array(capacity);
  }

  /** Adds a line by its place. Its offset is never 0. */
  add(id: string, { offset, position }: LinePlace): void {
    if (this.#count + 1 > this.#offsets.length * mostFilled) this.#grow();
    this.#insert(hash(id), offset, position);
    this.#count += 1;
  }

  /** The places of the lines that may have this id; usually none. */
  candidates(id: string): readonly LinePlace[] {
    const wanted = hash(id);
    const size = this.#offsets.length;
    let found = nowhere;
    for (let slot = slotOf(wanted, size); this.#offsets[slot] !== 0; slot = next(slot, size)) {
      if (this.#hashes[slot] === wanted)
        found = [
          ...found,
          { offset: this.#offsets[slot] as number, position: this.#positions[slot] as number },
        ];
    }
    return found;
  }

  #insert(hashed: number, offset: number, position: number): void {
    const size = this.#offsets.length;
    let slot = slotOf(hashed, size);
    while (this.#offsets[slot] !== 0) slot = next(slot, size);
    this.#hashes[slot] = hashed;
    this.#offsets[slot] = offset;
    this.#positions[slot] = position;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const offsets = this.#offsets;
    const positions = this.#positions;
    const size = Math.ceil(offsets.length * growth);
    this.#hashes = new Uint32Array(size);
    this.#offsets = new Float64Array(size);
    this.#positions = new Uint32Array(size);
    for (let slot = 0; slot < offsets.length; slot += 1) {
      const offset = offsets[slot] as number;
      if (offset !== 0) this.#insert(hashes[slot] as number, offset, positions[slot] as number);
    }
  }
}

function slotOf(hashed: number, size: number): number {
  return Math.floor((hashed / 0x1_0000_0000) * size);
}

function next(slot: number, size: number): number {
  return slot + 1 === size ? 0 : slot + 1;
}

/** FNV-1a with a final mix, so that its high bits, which choose the slot, depend on every character. */
function hash(id: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1)
    value = Math.imul(value ^ id.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

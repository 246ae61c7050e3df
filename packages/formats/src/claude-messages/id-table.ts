const mostFilled = 0.7;

/**
 * Remembers strings by two hashes of 32 bits each, with a number for each: 16 bytes a slot, whatever the length of the
 * string. That two of a million strings have both hashes in common happens once in ten million tables.
 */
export class IdTable {
  #first = new Uint32Array(64);
  #second = new Uint32Array(64);
  #values = new Float64Array(64).fill(Number.NaN);
  #count = 0;

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** The number that was set for an id. */
  get(id: string): number | undefined {
    const value = this.#values[this.#slotOf(hash(id, firstPrime), hash(id, secondPrime))];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }

  set(id: string, value: number): void {
    if (this.#count + 1 > this.#values.length * mostFilled) this.#grow();
    this.#insert(hash(id, firstPrime), hash(id, secondPrime), value);
  }

  #insert(first: number, second: number, value: number): void {
    const slot = this.#slotOf(first, second);
    if (Number.isNaN(this.#values[slot])) this.#count += 1;
    this.#first[slot] = first;
    this.#second[slot] = second;
    this.#values[slot] = value;
  }

  /** Where an id is, or where it would go. The sizes are powers of two. */
  #slotOf(first: number, second: number): number {
    const mask = this.#values.length - 1;
    let slot = first & mask;
    while (!Number.isNaN(this.#values[slot])) {
      if (this.#first[slot] === first && this.#second[slot] === second) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [first, second, values] = [this.#first, this.#second, this.#values];
    const size = values.length * 2;
    this.#first = new Uint32Array(size);
    this.#second = new Uint32Array(size);
    this.#values = new Float64Array(size).fill(Number.NaN);
    this.#count = 0;
    values.forEach((value, slot) => {
      if (!Number.isNaN(value)) this.#insert(first[slot] ?? 0, second[slot] ?? 0, value);
    });
  }
}

const firstPrime = 0x01000193;
const secondPrime = 0x5bd1e995;

/** FNV-1a with a final mix, so that every bit depends on every character. Another prime is another hash. */
function hash(id: string, prime: number): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) value = Math.imul(value ^ id.charCodeAt(index), prime);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

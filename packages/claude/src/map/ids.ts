import { isId } from '@hansard/events';

const mostFilled = 0.7;

/**
 * A map from strings to 32-bit numbers that stores two 32-bit hashes instead of the string: 12 bytes per slot, whatever
 * the length of the string. With a million strings, two of them collide in one of ten million tables.
 */
export class IdTable {
  #first = new Uint32Array(64);
  /** 0 if the slot is free. */
  #second = new Uint32Array(64);
  #values = new Uint32Array(64);
  #count = 0;

  has(id: string): boolean {
    hash(id);
    return this.#second[this.#slotOf(hashed.first, hashed.second)] !== 0;
  }

  /** The number of an id. */
  get(id: string): number | undefined {
    hash(id);
    const slot = this.#slotOf(hashed.first, hashed.second);
    return this.#second[slot] === 0 ? undefined : this.#values[slot];
  }

  /** Adds an id with its number. False if the id was already known. */
  add(id: string, value: number): boolean {
    if (this.#count + 1 > this.#values.length * mostFilled) this.#grow();
    hash(id);
    return this.#insert(hashed.first, hashed.second, value);
  }

  #insert(first: number, second: number, value: number): boolean {
    const slot = this.#slotOf(first, second);
    if (this.#second[slot] !== 0) return false;
    this.#count += 1;
    this.#first[slot] = first;
    this.#second[slot] = second;
    this.#values[slot] = value;
    return true;
  }

  /** The slot of an id, or the free slot for it. The sizes are powers of two. */
  #slotOf(first: number, second: number): number {
    const mask = this.#values.length - 1;
    let slot = first & mask;
    while (this.#second[slot] !== 0) {
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
    this.#values = new Uint32Array(size);
    this.#count = 0;
    for (let slot = 0; slot < second.length; slot += 1) {
      if (second[slot] !== 0) this.#insert(first[slot] ?? 0, second[slot] ?? 0, values[slot] ?? 0);
    }
  }
}

/** The last hashed id, which is often requested again, and its hashes. The second is never 0. */
const hashed = { id: undefined as string | undefined, first: 0, second: 0 };

/** FNV-1a with two primes in one pass and a final mix, so that every bit depends on every character. */
function hash(id: string): void {
  if (id === hashed.id) return;
  let first = 0x811c9dc5;
  let second = first;
  for (let index = 0; index < id.length; index += 1) {
    const unit = id.charCodeAt(index);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x5bd1e995);
  }
  hashed.id = id;
  hashed.first = mixed(first);
  hashed.second = mixed(second) || 1;
}

function mixed(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

const longest = 128;
const suffix = '.9999'.length;

/** The value, if it can be the id of an event and leaves room for `.1`, `.2` …; otherwise undefined. */
export function asEventId(value: unknown): string | undefined {
  return isId(value) && value.length <= longest - suffix ? value : undefined;
}

/** The value as the id of a message or an agent. Characters that ids cannot have become `-`. */
export function asId(value: unknown): string | undefined {
  if (isId(value)) return value;
  if (typeof value !== 'string' || value === '') return undefined;
  return value.replace(/[^A-Za-z0-9._:-]/g, '-').slice(0, longest);
}

/** The ids that are in use. Each id is given out once, so that no two events of a stream share one. */
export class EventIds {
  readonly #taken = new IdTable();

  has(id: string): boolean {
    return this.#taken.has(id);
  }

  /** Reserves the id and returns it; undefined if it is in use or cannot be the id of an event. */
  claim(id: string | undefined): string | undefined {
    return isId(id) && this.#taken.add(id, 0) ? id : undefined;
  }

  /** Reserves the name of a record, with a checksum of the record's content. False if it is in use. */
  take(name: string, checksum: number): boolean {
    return this.#taken.add(name, checksum);
  }

  /** The checksum that `take` stored for a name; 0 if the name was claimed, undefined if it is free. */
  checksumOf(name: string): number | undefined {
    return this.#taken.get(name);
  }
}

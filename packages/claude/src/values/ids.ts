import { isId } from '@hansard/events';
import { IdTable } from './id-table.ts';

const longest = 128;
const suffix = '.9999'.length;

/** A value as the id of an event, where it can be one and leaves room for `.1`, `.2` …; otherwise undefined. */
export function asEventId(value: unknown): string | undefined {
  return isId(value) && value.length <= longest - suffix ? value : undefined;
}

/** A value as the name of a message or an agent: characters that ids can't have become `-`. */
export function asId(value: unknown): string | undefined {
  if (isId(value)) return value;
  if (typeof value !== 'string' || value === '') return undefined;
  return value.replace(/[^A-Za-z0-9._:-]/g, '-').slice(0, longest);
}

/** The ids that are taken. An id is given out once, so that no event of a stream contradicts an earlier one. */
export class EventIds {
  readonly #taken = new IdTable();

  has(id: string): boolean {
    return this.#taken.has(id);
  }

  /** The id, now taken; undefined where it was taken before or can't be the id of an event. */
  claim(id: string | undefined): string | undefined {
    return isId(id) && this.#taken.add(id, 0) ? id : undefined;
  }

  /** Takes whatever names a record, with a checksum of what the record says; whether it was free. */
  take(name: string, checksum: number): boolean {
    return this.#taken.add(name, checksum);
  }

  /** What `take` was told of a name; 0 where it was claimed, undefined where it is free. */
  checksumOf(name: string): number | undefined {
    return this.#taken.get(name);
  }
}

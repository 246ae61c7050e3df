import { isId } from '@hansard/events';
import { IdTable } from './id-table.ts';

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

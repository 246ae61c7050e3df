import type { EventIds } from '../values/ids.ts';

/** Whether the `uuid` of a record was seen before. */
export type Sighting =
  | { readonly kind: 'first' }
  /** The same record again. */
  | { readonly kind: 'repeated' }
  /** Another record with a known uuid. The numbers begin at 2. */
  | { readonly kind: 'other'; readonly number: number };

const first: Sighting = { kind: 'first' };

/** The uuids of all records, which are the ids of their events, and checksums of the records' content. */
export class SeenRecords {
  readonly #ids: EventIds;

  constructor(ids: EventIds) {
    this.#ids = ids;
  }

  has(uuid: string): boolean {
    return this.#ids.has(uuid);
  }

  /** Reserves the uuid for the record's event, if it is new. */
  see(uuid: string, checksum: number): Sighting {
    for (let number = 1; ; number += 1) {
      const key = number === 1 ? uuid : `${uuid}\n${number}`;
      if (this.#ids.take(key, checksum)) return number === 1 ? first : { kind: 'other', number };
      if (this.#ids.checksumOf(key) === checksum) return { kind: 'repeated' };
    }
  }
}

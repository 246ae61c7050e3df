import type { EventIds } from '../values/ids.ts';

/** What a record's `uuid` means for its event. */
export type Sighting =
  | { readonly kind: 'first' }
  /** The same record again. */
  | { readonly kind: 'repeated' }
  /** Another record under a uuid that is taken; the number that tells them apart, from 2. */
  | { readonly kind: 'other'; readonly number: number };

const first: Sighting = { kind: 'first' };

/** The uuids of all records, which their events take as ids, and checksums of what the records said. */
export class SeenRecords {
  readonly #ids: EventIds;

  constructor(ids: EventIds) {
    this.#ids = ids;
  }

  has(uuid: string): boolean {
    return this.#ids.has(uuid);
  }

  /** Takes the uuid for the record's event, where it is new. */
  see(uuid: string, checksum: number): Sighting {
    for (let number = 1; ; number += 1) {
      const key = number === 1 ? uuid : `${uuid}\n${number}`;
      if (this.#ids.take(key, checksum)) return number === 1 ? first : { kind: 'other', number };
      if (this.#ids.checksumOf(key) === checksum) return { kind: 'repeated' };
    }
  }
}

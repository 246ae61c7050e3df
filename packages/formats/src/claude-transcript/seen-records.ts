import { IdTable } from '../claude-messages/id-table.ts';

/** What a record's `uuid` means for its event. */
export type Sighting =
  | { readonly kind: 'first' }
  /** The same record again. */
  | { readonly kind: 'repeated' }
  /** Another record under a uuid that is taken; the number that tells them apart, from 2. */
  | { readonly kind: 'other'; readonly number: number };

const first: Sighting = { kind: 'first' };

/** The uuids of all records, and checksums of what they said: some 30 bytes a record. */
export class SeenRecords {
  readonly #checksums = new IdTable();

  has(uuid: string): boolean {
    return this.#checksums.has(uuid);
  }

  see(uuid: string, checksum: number): Sighting {
    for (let number = 1; ; number += 1) {
      const key = number === 1 ? uuid : `${uuid}\n${number}`;
      if (this.#checksums.add(key, checksum)) return number === 1 ? first : { kind: 'other', number };
      if (this.#checksums.get(key) === checksum) return { kind: 'repeated' };
    }
  }
}

import { IdTable } from '../claude-messages/id-table.ts';

/** What a record's `uuid` means for its event. */
export type Sighting =
  | { readonly kind: 'first' }
  /** The same record again. */
  | { readonly kind: 'repeated' }
  /** Another record under a uuid that is taken; the number that tells them apart, from 2. */
  | { readonly kind: 'other'; readonly number: number };

/** The uuids of all records, and checksums of what they said: some 30 bytes a record. */
export class SeenRecords {
  readonly #checksums = new IdTable();

  has(uuid: string): boolean {
    return this.#checksums.has(uuid);
  }

  see(uuid: string, checksum: number): Sighting {
    for (let number = 1; ; number += 1) {
      const key = number === 1 ? uuid : `${uuid}\n${number}`;
      const seen = this.#checksums.get(key);
      if (seen === checksum) return { kind: 'repeated' };
      if (seen !== undefined) continue;
      this.#checksums.set(key, checksum);
      return number === 1 ? { kind: 'first' } : { kind: 'other', number };
    }
  }
}

import { crc32 } from 'node:zlib';
import type { JsonObject } from '@hansard/events';
import type { EventIds } from '../values/ids.ts';
import { asObject } from '../values/json-fields.ts';

/** Whether the `uuid` of a record was seen before. */
export type Sighting =
  | { readonly kind: 'first' }
  /** The same record again, or the same message in a record with other fields. */
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

  /** Reserves the uuid for the record's event, if it is new. `lineChecksum`: of the bytes of the record. */
  see(uuid: string, record: JsonObject, lineChecksum: number): Sighting {
    const checksum = messageChecksum(record) ?? lineChecksum;
    for (let number = 1; ; number += 1) {
      const key = number === 1 ? uuid : `${uuid}\n${number}`;
      if (this.#ids.take(key, checksum)) return number === 1 ? first : { kind: 'other', number };
      if (this.#ids.checksumOf(key) === checksum) return { kind: 'repeated' };
    }
  }
}

/**
 * The checksum of a message and its place in the conversation. When another version of Claude Code, or one in another folder, resumes
 * a session, it writes records again with another `version` and `cwd` and in another order of keys: they hold the same message.
 */
function messageChecksum({ type, parentUuid, timestamp, message }: JsonObject): number | undefined {
  const { id, content } = asObject(message) ?? {};
  if (content === undefined) return undefined;
  return crc32(JSON.stringify([type, parentUuid, timestamp, id, content]));
}

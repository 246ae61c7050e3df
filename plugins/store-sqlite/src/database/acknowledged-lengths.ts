import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { isSystemError } from '@hansard/store-kit';

/** The lengths of a task, as they were read. */
export type LengthsOfTask = (taskDir: string, known: ReadonlySet<number>) => AcknowledgedDispatch[];

const headLength = 64;
const slotLength = 64;
/** Longer ids are kept as their beginning and a hash. */
const longestId = 39;
const magic = 'HANSARD LENGTHS 2 ';

/** What the file says about one dispatch. */
export interface AcknowledgedDispatch {
  readonly number: number;
  /** The number of events that were acknowledged; those of the last second may be missing. */
  readonly length: number;
  /** The id, or the beginning of a long one and a hash. */
  readonly dispatchId: string;
}

/**
 * The file `hansard.sqlite-lengths` beside the database: how many events of each dispatch were acknowledged. SQLite keeps the latest
 * transactions in its log (`-wal`), and a log that was cut or removed reads as an older database. This file is not part of it.
 *
 * It has a head of 64 bytes with the id of the database, and then 64 bytes for each dispatch, in the order of their numbers:
 * - 0: CRC-32 of the other bytes, 4: the number of the dispatch (6 bytes), 10: the number of events (6 bytes),
 * - 16: the first 8 bytes of the SHA-256 of the task, 24: the length of the id, 25: the id.
 * Numbers are little-endian. A slot with another checksum, such as one that is just being written, says nothing.
 *
 * Invariant: a slot is written after the commit of the events that it counts. So a reader of the slot that then reads the
 * database finds at least that number of events.
 */
export class AcknowledgedLengths {
  readonly #path: string;
  readonly #database: string;
  readonly #databaseId: string;
  readonly #slot = Buffer.alloc(slotLength);
  #descriptor: number | null = null;
  #isWritable = false;
  #hashed: { readonly taskDir: string; readonly hash: Buffer } | null = null;

  /** Reads the file if it exists and belongs to the database. */
  constructor(database: string, databaseId: string) {
    this.#database = database;
    this.#path = `${database}-lengths`;
    this.#databaseId = databaseId;
    this.#open(constants.O_RDWR) || this.#open(constants.O_RDONLY);
  }

  get isWritable(): boolean {
    return this.#isWritable;
  }

  /** Creates the file if there is none of this database. To be called with SQLite's write lock, so that one process does it. */
  prepare(): void {
    this.close();
    if (this.#open(constants.O_RDWR)) return;
    const temporary = `${this.#path}.new`;
    const { mode } = statSync(this.#database);
    const descriptor = openSync(temporary, 'w', mode & 0o666);
    try {
      writeSync(descriptor, this.#head());
      renameSync(temporary, this.#path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(descriptor);
    }
    this.#open(constants.O_RDWR);
  }

  /** Null if the file has no length of the dispatch. */
  read(number: number, taskDir: string, dispatchId: string): AcknowledgedDispatch | null {
    if (this.#descriptor === null) return null;
    const count = readSync(this.#descriptor, this.#slot, 0, slotLength, placeOf(number));
    const found = count === slotLength ? parseSlot(this.#slot, 0) : null;
    if (found === null || found.number !== number || !hasId(found, dispatchId)) return null;
    return hasTask(this.#slot, 0, this.#hashOf(taskDir)) ? found : null;
  }

  write(number: number, taskDir: string, dispatchId: string, length: number): void {
    if (this.#descriptor === null) return;
    const id = Buffer.from(keptId(dispatchId));
    const slot = this.#slot.fill(0);
    slot.writeUIntLE(number, 4, 6);
    slot.writeUIntLE(length, 10, 6);
    this.#hashOf(taskDir).copy(slot, 16);
    slot.writeUInt8(id.length, 24);
    id.copy(slot, 25);
    slot.writeUInt32LE(crc32(slot.subarray(4)), 0);
    writeSync(this.#descriptor, slot, 0, slotLength, placeOf(number));
  }

  /** Forgets a dispatch. */
  clear(number: number): void {
    if (this.#descriptor === null || number > this.greatestNumber()) return;
    writeSync(this.#descriptor, this.#slot.fill(0), 0, slotLength, placeOf(number));
  }

  /** Forgets a dispatch whose number is not known. @returns whether the file had it */
  forget(taskDir: string, dispatchId: string): boolean {
    const slots = this.find(taskDir, dispatchId);
    for (const { number } of slots) this.clear(number);
    return slots.length > 0;
  }

  /** The slots with this id. */
  find(taskDir: string, dispatchId: string): AcknowledgedDispatch[] {
    return this.ofTasks()(taskDir, new Set()).filter((slot) => hasId(slot, dispatchId));
  }

  /** Reads the slots now. The function that is returned gives those of a task whose numbers are not among the known ones. */
  ofTasks(): LengthsOfTask {
    const bytes = Buffer.allocUnsafe(this.greatestNumber() * slotLength);
    const length =
      this.#descriptor === null ? 0 : readSync(this.#descriptor, bytes, 0, bytes.length, headLength);
    const byTask = new Map<string, number[]>();
    for (let number = 1; number * slotLength <= length; number += 1) {
      const at = (number - 1) * slotLength + 16;
      const hash = bytes.toString('latin1', at, at + 8);
      const numbers = byTask.get(hash);
      if (numbers === undefined) byTask.set(hash, [number]);
      else numbers.push(number);
    }
    return (taskDir, known) =>
      (byTask.get(this.#hashOf(taskDir).toString('latin1')) ?? []).flatMap((number) => {
        const slot = known.has(number) ? null : parseSlot(bytes, (number - 1) * slotLength);
        return slot?.number === number ? [slot] : [];
      });
  }

  /** The greatest number of a dispatch for which the file has a place. */
  greatestNumber(): number {
    if (this.#descriptor === null) return 0;
    return Math.max(0, Math.floor((fstatSync(this.#descriptor).size - headLength) / slotLength));
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
    this.#isWritable = false;
  }

  /** @returns whether the file of this database is open now */
  #open(access: number): boolean {
    let descriptor: number | null = null;
    try {
      descriptor = openSync(this.#path, access | constants.O_NONBLOCK);
      const head = Buffer.alloc(headLength);
      readSync(descriptor, head, 0, headLength, 0);
      if (head.equals(this.#head())) {
        this.#descriptor = descriptor;
        this.#isWritable = access === constants.O_RDWR;
      }
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
    if (descriptor !== null && this.#descriptor === null) closeSync(descriptor);
    return this.#descriptor !== null;
  }

  /** The hash of the last task is kept, because most calls are for the same one. */
  #hashOf(taskDir: string): Buffer {
    if (this.#hashed?.taskDir === taskDir) return this.#hashed.hash;
    const hash = createHash('sha256').update(taskDir).digest().subarray(0, 8);
    this.#hashed = { taskDir, hash };
    return hash;
  }

  #head(): Buffer {
    return Buffer.from(`${magic}${this.#databaseId}`.padEnd(headLength - 1).concat('\n'));
  }
}

/** Whether the slot has this id. */
function hasId(slot: AcknowledgedDispatch, dispatchId: string): boolean {
  return slot.dispatchId === keptId(dispatchId);
}

function keptId(dispatchId: string): string {
  if (dispatchId.length <= longestId) return dispatchId;
  const hash = createHash('sha256').update(dispatchId).digest('hex').slice(0, 16);
  return `${dispatchId.slice(0, longestId - 17)}-${hash}`;
}

function placeOf(number: number): number {
  return headLength + (number - 1) * slotLength;
}

function hasTask(bytes: Buffer, offset: number, hash: Buffer): boolean {
  return bytes.compare(hash, 0, 8, offset + 16, offset + 24) === 0;
}

function parseSlot(bytes: Buffer, offset: number): AcknowledgedDispatch | null {
  if (bytes.readUInt32LE(offset) !== crc32(bytes.subarray(offset + 4, offset + slotLength))) return null;
  const number = bytes.readUIntLE(offset + 4, 6);
  const idLength = bytes.readUInt8(offset + 24);
  // Zeros, where nothing was written.
  if (number === 0 || idLength > longestId) return null;
  const dispatchId = bytes.toString('latin1', offset + 25, offset + 25 + idLength);
  return { number, length: bytes.readUIntLE(offset + 10, 6), dispatchId };
}

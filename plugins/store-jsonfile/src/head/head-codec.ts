import { type DispatchEnvelope, isPlainObject } from '@hansard/events';
import { checksumLength, checksumOf, encodeChecksum, knownEnvelope, readChecksum } from '@hansard/store-kit';
import {
  checksumEnd,
  checksumKey,
  copyKey,
  diskFormatVersion,
  eventsLine,
  lineSeparator,
  smallestSlot,
} from '../disk-format.ts';

const space = 0x20;
const closingBrace = '}';

/** A place after an event that was acknowledged: the events up to there are never missing. */
export interface Acknowledged {
  /** From the bracket that opens the events to the end of the last of these events. */
  readonly bytes: number;
  readonly events: number;
  /** The checksum of the last of these events; 0 without events. */
  readonly crc: number;
}

/** The content of a head. */
export interface HeadRecord {
  /** The task and the id under which the dispatch was written: its name, whatever that of its file is. */
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly revision: number;
  readonly epoch: number;
  readonly acknowledged: Acknowledged;
  /** @throws STORE_NEWER for one that this version does not know */
  readonly envelope: DispatchEnvelope;
}

export const nothingAcknowledged: Acknowledged = { bytes: 0, events: 0, crc: 0 };

/** Both heads of a file, decoded. */
export interface DecodedHead {
  /** The head that counts: the whole one with the greater revision. */
  readonly record: HeadRecord;
  /** The index of its slot: 0 or 1. */
  readonly counting: number;
  /** Whether each slot is whole. */
  readonly whole: readonly [boolean, boolean];
  /** Whether both have the same content. */
  readonly isSame: boolean;
}

/** The offset after the bracket that opens the events. */
export function startOfEvents(slot: number): number {
  return slot * 2 + eventsLine.length;
}

/** Room for larger numbers, so that the acknowledged length always fits a slot that was chosen for smaller ones. */
const reserve = 64;

/** The smallest slot, but not smaller than `least`, that has room for this head. */
export function slotFor(record: HeadRecord, least = smallestSlot): number {
  return slotForText(encodeRecord(record), least);
}

/** The beginning of a new file: like `encodeHead`, with the slot that `slotFor` returns. */
export function fitHead(
  record: HeadRecord,
  least = smallestSlot,
): { readonly slot: number; readonly bytes: Buffer } {
  const text = encodeRecord(record);
  const slot = slotForText(text, least);
  return { slot, bytes: headOf(text, slot) };
}

function slotForText(text: string, least: number): number {
  const around = copyKey.length + closingBrace.length + lineSeparator.length;
  const length = Buffer.byteLength(text) + around + reserve;
  let slot = least;
  while (slot < length) slot *= 2;
  return slot;
}

/** Fills the bytes of one slot, with the index 0 or 1. The record must fit. `envelopeText` is its envelope as JSON. */
export function encodeSlot(bytes: Buffer, record: HeadRecord, index: number, envelopeText: string): void {
  const before = index === 0 ? '' : copyKey;
  const end = bytes.write(before + textOf(record, envelopeText));
  const checksum = checksumOf(bytes.subarray(before.length + 1, end));
  const after = `${checksumKey}${encodeChecksum(checksum)}"${index === 0 ? '' : closingBrace}`;
  const last = bytes.length - lineSeparator.length;
  bytes.fill(space, end + bytes.write(after, end), last);
  bytes.write(lineSeparator, last);
}

/** The beginning of a file: both slots, and the bracket that opens the events. */
export function encodeHead(record: HeadRecord, slot: number): Buffer {
  return headOf(encodeRecord(record), slot);
}

function headOf(text: string, slot: number): Buffer {
  const bytes = Buffer.alloc(startOfEvents(slot), space);
  bytes.write(text, 0);
  bytes.write(copyKey + text + closingBrace, slot);
  for (const end of [slot, slot * 2]) bytes.write(lineSeparator, end - lineSeparator.length);
  bytes.write(eventsLine, slot * 2);
  return bytes;
}

/** Decodes both slots of this size from the beginning of `file`; null if neither is whole. */
export function decodeHead(bytes: Buffer, slot: number, file: string): DecodedHead | null {
  const firstText = wholeText(bytes.subarray(0, slot), '', '', slot);
  const secondText = wholeText(bytes.subarray(slot, slot * 2), copyKey, closingBrace, slot);
  const first = firstText === null ? null : parseRecord(firstText, file);
  // As a rule they are equal.
  const isEqual = first !== null && secondText !== null && firstText?.equals(secondText);
  const second = isEqual || secondText === null ? (isEqual ? first : null) : parseRecord(secondText, file);
  const whole = [first !== null, second !== null] as const;
  const isSame = isEqual === true;
  if (first !== null && (second === null || first.revision >= second.revision))
    return { record: first, counting: 0, whole, isSame };
  return second === null ? null : { record: second, counting: 1, whole, isSame };
}

/** The head without its closing brace, which is at the end of the file for the first one. */
function encodeRecord(record: HeadRecord): string {
  const text = textOf(record, JSON.stringify(record.envelope));
  return `${text}${checksumKey}${encodeChecksum(checksumOf(text.slice(1)))}"`;
}

/** The same up to its checksum. */
function textOf(record: HeadRecord, envelopeText: string): string {
  const { revision, epoch, acknowledged, taskDir, dispatchId } = record;
  const { bytes, events, crc } = acknowledged;
  const length = `{"bytes":${bytes},"events":${events},"crc":"${encodeChecksum(crc)}"}`;
  const name = `"task":${JSON.stringify(taskDir)},"id":"${dispatchId}"`;
  return `{"format":${diskFormatVersion},${name},"revision":${revision},"epoch":${epoch},"acknowledged":${length},"envelope":${envelopeText}`;
}

/** The bytes of a head up to its checksum, which is right; null if the slot is not whole. */
function wholeText(bytes: Buffer, before: string, after: string, slot: number): Buffer | null {
  if (bytes.length < slot) return null;
  let end = slot - lineSeparator.length;
  if (bytes.toString('latin1', end) !== lineSeparator) return null;
  while (end > 0 && bytes[end - 1] === space) end -= 1;
  const from = before.length;
  const ending = checksumEnd.slice(0, 1) + after;
  const checksumAt = end - ending.length - checksumLength;
  const textEnd = checksumAt - checksumKey.length;
  const isFramed =
    textEnd > from &&
    bytes.toString('latin1', 0, from + 1) === `${before}{` &&
    bytes.toString('latin1', textEnd, checksumAt) === checksumKey &&
    bytes.toString('latin1', checksumAt + checksumLength, end) === ending;
  if (!isFramed) return null;
  const isWhole = readChecksum(bytes, checksumAt) === checksumOf(bytes.subarray(from + 1, textEnd));
  return isWhole ? bytes.subarray(from, textEnd) : null;
}

function parseRecord(bytes: Buffer, file: string): HeadRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(`${bytes.toString('utf8')}}`);
  } catch {
    return null;
  }
  if (!isPlainObject(value) || value.format !== diskFormatVersion) return null;
  const { task: taskDir, id: dispatchId, revision, epoch, acknowledged } = value;
  if (typeof taskDir !== 'string' || typeof dispatchId !== 'string') return null;
  if (!isCount(revision) || !isCount(epoch) || !isPlainObject(acknowledged)) return null;
  const { bytes: length, events, crc } = acknowledged;
  const checksum = typeof crc === 'string' ? readChecksum(Buffer.from(crc), 0) : null;
  if (!isCount(length) || !isCount(events) || checksum === null) return null;
  let envelope: DispatchEnvelope | null = null;
  return {
    taskDir,
    dispatchId,
    revision,
    epoch,
    acknowledged: { bytes: length, events, crc: checksum },
    // The events can be read without it.
    get envelope() {
      envelope ??= knownEnvelope(value.envelope, file, { file });
      return envelope;
    },
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

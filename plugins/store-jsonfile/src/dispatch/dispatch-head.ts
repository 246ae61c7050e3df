import { type DispatchEnvelope, parseEnvelope } from '@hansard/events';
import { eventsLine, lineSeparator, slots } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import type { OpenFile } from '../lines/open-file.ts';

const newline = 0x0a;
const page = slots[1];
const mostReads = 100;

/** The head of a dispatch file: the head line, and the line that opens the events. */
export interface DispatchHead {
  readonly envelope: DispatchEnvelope;
  /** The number of bytes of events that the file must have; null if it was never written. */
  readonly eventBytes: number | null;
  /** The number of the last claim that is recorded; 0 if none is. */
  readonly epoch: number;
  /** The bytes of the head line, with its line end. */
  readonly slot: number;
  /** The offset after the bracket that opens the events. */
  readonly start: number;
}

/** The fields of a head that a writer chooses. */
export type HeadFields = Pick<DispatchHead, 'envelope' | 'eventBytes' | 'epoch'>;

/** A head in the smallest slot that it fits. */
export function encodeHead({ envelope, eventBytes, epoch }: HeadFields): Buffer {
  const fields = encodeFields({ envelope, eventBytes, epoch });
  const length = Buffer.byteLength(fields) + lineSeparator.length;
  return pad(fields, slots.find((size) => length <= size) ?? length);
}

/** A head that can be written over one with this slot. Null if it does not fit, or if the slot is larger than a page. */
export function encodeHeadFor(head: HeadFields, slot: number): Buffer | null {
  const fields = encodeFields(head);
  return slot > page || Buffer.byteLength(fields) + lineSeparator.length > slot ? null : pad(fields, slot);
}

function encodeFields({ envelope, eventBytes, epoch }: HeadFields): string {
  return JSON.stringify({ ...envelope, epoch, eventBytes: eventBytes ?? undefined }).slice(0, -1);
}

function pad(fields: string, slot: number): Buffer {
  const free = slot - Buffer.byteLength(fields) - lineSeparator.length;
  return Buffer.from(`${fields}${' '.repeat(free)}${lineSeparator}${eventsLine}`);
}

/** Reads the head of an open dispatch file. @throws STORE_CORRUPT */
export function readHead(file: OpenFile): DispatchHead {
  const { bytes, lineEnd } = readHeadBytes(file);
  const firstLine = parseFirstLine(bytes.toString('utf8', 0, lineEnd), file.path);
  const start = lineEnd + 1 + eventsLine.length;
  if (bytes.toString('latin1', lineEnd + 1, start) !== eventsLine) {
    const reason = bytes.length < start ? 'the file ends inside its head' : 'the events do not begin here';
    throw corrupt(file.path, Math.min(bytes.length, lineEnd + 1), reason);
  }
  return { ...firstLine, slot: lineEnd + 1, start };
}

function readHeadBytes(file: OpenFile): { readonly bytes: Buffer; readonly lineEnd: number } {
  for (let size = page; ; size *= 4) {
    const bytes = readUnchanged(file, size + eventsLine.length);
    const lineEnd = bytes.indexOf(newline);
    if (lineEnd >= 0 && lineEnd < size) return { bytes, lineEnd };
    if (bytes.length < size) throw corrupt(file.path, bytes.length, 'the file ends inside its head');
  }
}

/** Reads until two reads return the same bytes, because a writer may be changing the envelope in place. */
function readUnchanged(file: OpenFile, size: number): Buffer {
  let bytes = file.read(0, size);
  for (let reads = 1; reads < mostReads; reads += 1) {
    const again = file.read(0, size);
    if (again.equals(bytes)) break;
    bytes = again;
  }
  return bytes;
}

function parseFirstLine(line: string, file: string): HeadFields {
  if (!line.endsWith(',')) throw corrupt(file, line.length, 'the envelope does not end with a comma');
  try {
    const { eventBytes = null, epoch = 0, ...envelope } = JSON.parse(`${line.slice(0, -1)}}`);
    if (eventBytes !== null && !isCount(eventBytes))
      throw new TypeError('eventBytes is not a number of bytes');
    if (!isCount(epoch)) throw new TypeError('epoch is not a number of a claim');
    return { envelope: parseEnvelope(envelope), eventBytes, epoch };
  } catch (cause) {
    throw corrupt(file, 0, 'the first line is not an envelope', cause);
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

import { type DispatchEnvelope, parseEnvelope } from '@hansard/events';
import { corrupt } from '../errors.ts';
import { readBytes } from '../lines/file-io.ts';

const newline = 0x0a;
const lineEnding = ',\n';
const eventsLine = '"events":[';
const page = 4096;
const smallSlot = 2048;
const mostReads = 100;

/** The head of a dispatch file: the envelope on the first line, padded to its slot, and the line that opens the events. */
export interface DispatchHead {
  readonly envelope: DispatchEnvelope;
  /**
   * How far the events reach at least, in bytes from the bracket that opens them: as far as they did when the dispatch
   * last ended. Null where none of its changes has left it ended.
   */
  readonly eventBytes: number | null;
  /** Bytes of the first line, its line end included. */
  readonly slot: number;
  /** The offset just behind the bracket that opens the events. */
  readonly start: number;
}

/** The head as bytes, its first line padded so that the envelope can grow. */
export function encodeHead(envelope: DispatchEnvelope, eventBytes: number | null): Buffer {
  const fields = encodeFields(envelope, eventBytes);
  const length = Buffer.byteLength(fields) + lineEnding.length;
  return pad(fields, [smallSlot, page].find((size) => length <= size) ?? length);
}

/**
 * The head for the slot of another one, whose first line it can be written over. Null where it does not fit, or where
 * the slot lies on more than one page: a process killed in the middle of that write would leave half of each.
 */
export function encodeHeadFor(
  envelope: DispatchEnvelope,
  eventBytes: number | null,
  slot: number,
): Buffer | null {
  const fields = encodeFields(envelope, eventBytes);
  return slot > page || Buffer.byteLength(fields) + lineEnding.length > slot ? null : pad(fields, slot);
}

function encodeFields(envelope: DispatchEnvelope, eventBytes: number | null): string {
  return JSON.stringify({ ...envelope, eventBytes: eventBytes ?? undefined }).slice(0, -1);
}

function pad(fields: string, slot: number): Buffer {
  const room = slot - Buffer.byteLength(fields) - lineEnding.length;
  return Buffer.from(`${fields}${' '.repeat(room)}${lineEnding}${eventsLine}`);
}

/** Reads the head of an open dispatch file. @throws STORE_CORRUPT */
export function readHead(fd: number, file: string): DispatchHead {
  const { bytes, lineEnd } = readHeadBytes(fd, file);
  const firstLine = parseFirstLine(bytes.toString('utf8', 0, lineEnd), file);
  const start = lineEnd + 1 + eventsLine.length;
  if (bytes.toString('latin1', lineEnd + 1, start) !== eventsLine) {
    const reason = bytes.length < start ? 'the file ends inside its head' : 'the events do not begin here';
    throw corrupt(file, Math.min(bytes.length, lineEnd + 1), reason);
  }
  return { ...firstLine, slot: lineEnd + 1, start };
}

function readHeadBytes(fd: number, file: string): { readonly bytes: Buffer; readonly lineEnd: number } {
  for (let size = page; ; size *= 4) {
    const bytes = readStill(fd, size + eventsLine.length);
    const lineEnd = bytes.indexOf(newline);
    if (lineEnd >= 0 && lineEnd < size) return { bytes, lineEnd };
    if (bytes.length < size) throw corrupt(file, bytes.length, 'the file ends inside its head');
  }
}

/** The same bytes twice in a row, so that an envelope which is just being changed in place is not read half. */
function readStill(fd: number, size: number): Buffer {
  let bytes = readBytes(fd, 0, size);
  for (let reads = 1; reads < mostReads; reads += 1) {
    const again = readBytes(fd, 0, size);
    if (again.equals(bytes)) break;
    bytes = again;
  }
  return bytes;
}

function parseFirstLine(line: string, file: string): Pick<DispatchHead, 'envelope' | 'eventBytes'> {
  if (!line.endsWith(',')) throw corrupt(file, line.length, 'the envelope does not end with a comma');
  try {
    const { eventBytes = null, ...envelope } = JSON.parse(`${line.slice(0, -1)}}`);
    if (eventBytes !== null && !isByteCount(eventBytes))
      throw new TypeError('eventBytes is not a number of bytes');
    return { envelope: parseEnvelope(envelope), eventBytes };
  } catch (cause) {
    throw corrupt(file, 0, 'the first line is not an envelope', cause);
  }
}

function isByteCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

import { eventConflict, hasSameContent } from '@hansard/store-kit';
import { isDigest, lineSeparator } from '../disk-format.ts';
import {
  checksumSize,
  continuesBatch,
  endsWithChecksum,
  endsWithComma,
  eventIdOf,
  eventText,
  parseEventText,
} from './event-line.ts';
import { damagedLine } from './inspect-lines.ts';
import type { EventRange } from './open-file.ts';
import type { LinePlace } from './position-index.ts';
import { findLineStart, type ScannedLine, scanLines } from './scan-lines.ts';

interface StoredLine {
  readonly id: string;
  readonly text: string;
  readonly position: number;
  /** Where the next line begins, counted from the opening bracket. */
  readonly next: number;
}

/** How many added lines wait for the next search. After more, the search reads them from the file. */
const mostAdded = 1_000;

/**
 * Finds the stored lines of the events that are appended again. The first id that is neither on the expected line nor on the last one
 * causes one scan of the events, which fills an index of the ids.
 */
export class StoredLines {
  readonly #cursor = new LineCursor();
  #index: EventIndex | null = null;
  #greatestId: string | null = null;
  /** The lines that were added since the last search: most logs that have stored requests never search again. */
  readonly #addedIds: string[] = [];
  readonly #addedPlaces: LinePlace[] = [];
  /** The first line that the index lacks and that does not wait. Null: there is none. */
  #unread: LinePlace | null = null;

  /** The greatest id, digests left out, when the index was filled. Null: it was not. */
  get greatestId(): string | null {
    return this.#greatestId;
  }

  /**
   * The position of an event that is stored with this text; null: it is new. `isLast`: the id is that of the last line.
   * @throws STORE_EVENT_CONFLICT
   */
  find(range: EventRange, id: string, text: string, isLast: boolean): number | null {
    const passed = this.#cursor.pass(range, id, text);
    if (passed !== null) return passed;
    const stored = this.#find(range, id, isLast);
    if (stored === null) return null;
    assertSame(id, stored.text, text);
    return stored.position;
  }

  /** A line that was added. Its offset is counted from the opening bracket. */
  add(id: string, place: LinePlace): void {
    if (this.#index === null || this.#unread !== null) return;
    if (this.#addedIds.length < mostAdded) {
      this.#addedIds.push(id);
      this.#addedPlaces.push(place);
      return;
    }
    this.#unread = this.#addedPlaces[0] ?? place;
    this.#addedIds.length = 0;
    this.#addedPlaces.length = 0;
  }

  #find(range: EventRange, id: string, isLast: boolean): StoredLine | null {
    if (this.#index === null && isLast && range.count !== null) {
      const last = readLine(range, findLineStart(range.file, range.start, range.end), range.count - 1);
      // Lines whose ids are digests can follow the greatest id.
      if (last.id === id) return last;
    }
    const index = this.#index ?? this.#fillIndex(range);
    this.#index = index;
    this.#indexAdded(index, range);
    for (const { offset, position } of index.candidates(id)) {
      const line = readLine(range, range.start + offset, position);
      if (line.id !== id) continue;
      this.#cursor.moveTo({ offset: line.next, position: position + 1 });
      return line;
    }
    return null;
  }

  #fillIndex(range: EventRange): EventIndex {
    const index = new EventIndex();
    this.#greatestId = indexLines(index, range, { offset: 1, position: 0 });
    return index;
  }

  #indexAdded(index: EventIndex, range: EventRange): void {
    for (const [at, id] of this.#addedIds.entries()) index.add(id, this.#addedPlaces[at] as LinePlace);
    this.#addedIds.length = 0;
    this.#addedPlaces.length = 0;
    if (this.#unread !== null) indexLines(index, range, this.#unread);
    this.#unread = null;
  }
}

/** Adds the lines from a place on to an index. Returns the greatest id, digests left out. */
function indexLines(index: EventIndex, range: EventRange, from: LinePlace): string {
  let greatestId = '';
  let { position } = from;
  scanLines(range, range.start + from.offset, (line) => {
    const id = eventIdOf(line.bytes, line.start, line.end) ?? parse(range, line).id;
    index.add(id, { offset: line.offset - range.start, position });
    position += 1;
    if (id > greatestId && !isDigest(id)) greatestId = id;
    return true;
  });
  return greatestId;
}

/** @throws STORE_EVENT_CONFLICT if the texts of an id are not of the same event */
export function assertSame(id: string, stored: string, text: string): void {
  if (!hasSameContent(stored, text)) throw eventConflict(id);
}

function readLine(range: EventRange, from: number, position: number): StoredLine {
  const found: StoredLine[] = [];
  scanLines(range, from, (line) => {
    found.push({ ...parse(range, line), position, next: line.next - range.start });
    return false;
  });
  const [stored] = found;
  if (stored === undefined) throw damagedLine(range, from, 'an event was here');
  return stored;
}

function parse(
  range: EventRange,
  { bytes, start, end, offset }: ScannedLine,
): Pick<StoredLine, 'id' | 'text'> {
  const text = eventText(bytes, start, end);
  const event = text === null ? null : parseEventText(text);
  if (text === null || event === null) throw damagedLine(range, offset, 'this line is not an event');
  return { id: event.id, text };
}

const mostFilled = 0.8;
const growth = 1.5;
const nowhere: readonly LinePlace[] = [];

/**
 * Finds lines by the ids of their events. A hash table with open addressing in three typed arrays: the hash of the id, and the
 * offset and the position of the line. Two ids may have the same hash, so the caller compares the id with the line.
 */
export class EventIndex {
  #hashes: Uint32Array;
  #offsets: Float64Array;
  #positions: Uint32Array;
  #count = 0;

  constructor(capacity = 64) {
    this.#hashes = new Uint32Array(capacity);
    this.#offsets = new Float64Array(capacity);
    this.#positions = new Uint32Array(capacity);
  }

  /** Adds a line by its place. Its offset is never 0. */
  add(id: string, { offset, position }: LinePlace): void {
    if (this.#count + 1 > this.#offsets.length * mostFilled) this.#grow();
    this.#insert(hash(id), offset, position);
    this.#count += 1;
  }

  /** The places of the lines that may have this id; usually none. */
  candidates(id: string): readonly LinePlace[] {
    const wanted = hash(id);
    const size = this.#offsets.length;
    let found = nowhere;
    for (let slot = slotOf(wanted, size); this.#offsets[slot] !== 0; slot = next(slot, size)) {
      if (this.#hashes[slot] === wanted)
        found = [
          ...found,
          { offset: this.#offsets[slot] as number, position: this.#positions[slot] as number },
        ];
    }
    return found;
  }

  #insert(hashed: number, offset: number, position: number): void {
    const size = this.#offsets.length;
    let slot = slotOf(hashed, size);
    while (this.#offsets[slot] !== 0) slot = next(slot, size);
    this.#hashes[slot] = hashed;
    this.#offsets[slot] = offset;
    this.#positions[slot] = position;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const offsets = this.#offsets;
    const positions = this.#positions;
    const size = Math.ceil(offsets.length * growth);
    this.#hashes = new Uint32Array(size);
    this.#offsets = new Float64Array(size);
    this.#positions = new Uint32Array(size);
    for (let slot = 0; slot < offsets.length; slot += 1) {
      const offset = offsets[slot] as number;
      if (offset !== 0) this.#insert(hashes[slot] as number, offset, positions[slot] as number);
    }
  }
}

function slotOf(hashed: number, size: number): number {
  return Math.floor((hashed / 0x1_0000_0000) * size);
}

function next(slot: number, size: number): number {
  return slot + 1 === size ? 0 : slot + 1;
}

/** FNV-1a with a final mix, so that its high bits, which choose the slot, depend on every character. */
function hash(id: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1)
    value = Math.imul(value ^ id.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

const smallestWindow = 16 * 1024;
const largestWindow = 256 * 1024;
const longestShared = 256 * 1024;
const idAt = '{"id":"'.length;
const mostBytesPerUnit = 3;

/**
 * The line of the file that a repeated append is expected to repeat next. A program that appends a log again sends its events
 * in the stored order, so comparing bytes replaces a search. Offsets count from the opening bracket, so they stay valid when
 * the head grows.
 */
class LineCursor {
  #next = 1;
  #position = 0;
  #window = Buffer.alloc(0);
  #windowAt = 0;
  #windowLength = 0;
  #windowSize = smallestWindow;
  #encoded: Buffer | null = null;

  /** The position of the next line if it is this one, byte for byte: the cursor then moves to the line after it. Otherwise null. */
  pass(range: EventRange, id: string, text: string): number | null {
    const next = this.#afterSame(range, id, text);
    if (next === null) return null;
    this.#next = next;
    this.#position += 1;
    return this.#position - 1;
  }

  /** Where the line after the next one begins; null if the next one is not this one. */
  #afterSame(range: EventRange, id: string, text: string): number | null {
    const length = range.end - range.start;
    if (this.#next >= length) return null;
    const line = this.#next + (this.#hasMark(range) ? 1 : 0);
    if (!this.#hasId(range, line, id)) return null;
    const { bytes, size: encoded } = this.#encode(text);
    // The closing brace follows the checksum.
    const size = encoded - 1;
    const after = line + size + checksumSize;
    if (after > length) return null;
    const isLast = after === length;
    const at = this.#reach(range, line, after - line + (isLast ? 0 : 1));
    if (bytes.compare(this.#window, at, at + size, 0, size) !== 0) return null;
    const end = at + size + checksumSize;
    if (!endsWithChecksum(this.#window, end)) return null;
    if (!isLast && !endsWithComma(this.#window, end + 1)) return null;
    return after + lineSeparator.length;
  }

  moveTo({ offset, position }: LinePlace): void {
    this.#next = offset;
    this.#position = position;
  }

  #hasMark(range: EventRange): boolean {
    const at = this.#reach(range, this.#next, 1);
    return continuesBatch(this.#window, at);
  }

  #hasId(range: EventRange, line: number, id: string): boolean {
    const size = idAt + id.length;
    if (line + size > range.end - range.start) return false;
    const at = this.#reach(range, line, size) + idAt;
    for (let index = 0; index < id.length; index += 1)
      if (this.#window[at + index] !== id.charCodeAt(index)) return false;
    return true;
  }

  #encode(text: string): { readonly bytes: Buffer; readonly size: number } {
    if (text.length * mostBytesPerUnit > longestShared) {
      const bytes = Buffer.from(text);
      return { bytes, size: bytes.length };
    }
    this.#encoded ??= Buffer.allocUnsafeSlow(longestShared);
    return { bytes: this.#encoded, size: this.#encoded.write(text) };
  }

  /** Reads `size` bytes at an offset into the window, unless they are in it. @returns their place in the window */
  #reach(range: EventRange, offset: number, size: number): number {
    const { file, start, end } = range;
    const isLoaded = offset >= this.#windowAt && offset + size <= this.#windowAt + this.#windowLength;
    if (!isLoaded) {
      // After a jump another jump is likely, so little is read ahead.
      const windowEnd = this.#windowAt + this.#windowLength;
      const isSequential = offset >= this.#windowAt && offset <= windowEnd + lineSeparator.length;
      this.#windowSize = isSequential ? Math.min(this.#windowSize * 2, largestWindow) : smallestWindow;
      const length = Math.min(Math.max(this.#windowSize, size), end - start - offset);
      if (this.#window.length < length) this.#window = Buffer.allocUnsafeSlow(length);
      this.#windowAt = offset;
      this.#windowLength = file.readInto(this.#window, 0, length, start + offset);
      if (this.#windowLength < length)
        throw damagedLine(range, start + offset + this.#windowLength, 'the file became shorter');
    }
    return offset - this.#windowAt;
  }
}

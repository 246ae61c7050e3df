import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { eventConflict, hasSameContent } from '@hansard/store-kit';
import { closings, type IdOrder } from '../disk-format.ts';
import type { Acknowledged } from '../head/head-codec.ts';
import { appendBytes } from '../lines/append-bytes.ts';
import { damagedLine } from '../lines/damaged-line.ts';
import { EventIndex } from '../lines/event-index.ts';
import { eventIdOf, eventText, parseEventText } from '../lines/event-line.ts';
import type { EventRange } from '../lines/event-range.ts';
import { LineCursor } from '../lines/line-cursor.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { findLineStart, type ScannedLine, scanLines } from '../lines/scan-lines.ts';

/** Greater than any id, so that no id counts as new before the ids have been read. */
const unknownId = '\uffff';

interface Line {
  readonly id: string;
  readonly text: string;
}

interface StoredLine extends Line {
  readonly position: number;
  /** Where the next line begins, counted from the opening bracket. */
  readonly next: number;
}

/** Several lines: their ids, and their texts in the same order. */
interface Lines {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
  /** The position of each event that was given, stored or new. */
  readonly positions: readonly number[];
}

/** The result of an append: the position of an event, or of each event, and whether any was added. */
export interface Appended<Positions> {
  readonly at: Positions;
  readonly isAdded: boolean;
}

/** The place of the next append, found at the end of a dispatch file. */
export interface AppendPoint extends EventRange {
  readonly idOrder: IdOrder;
  /** The greatest id of all events, `''` without events; null if it cannot be known without reading all of them. */
  readonly greatestId: string | null;
  readonly count: number;
  /** The checksum of the last event; 0 without events. */
  readonly crc: number;
}

/**
 * Appends to one dispatch file. An id that is greater than all before it is new. The first other id causes one scan of the
 * events, which fills an index of the ids.
 */
export class AppendWriter {
  readonly #sync: boolean;
  #file: OpenFile;
  #start: number;
  #end: number;
  #count: number;
  #crc: number;
  #idOrder: IdOrder;
  #greatestId: string;
  #index: EventIndex | null = null;
  readonly #cursor = new LineCursor();
  #isTorn = false;

  constructor(point: AppendPoint, sync: boolean) {
    this.#file = point.file;
    this.#start = point.start;
    this.#end = point.end;
    this.#count = point.count;
    this.#crc = point.crc;
    this.#idOrder = point.idOrder;
    this.#greatestId = point.greatestId ?? unknownId;
    this.#sync = sync;
  }

  get range(): EventRange {
    const [file, start, end, count] = [this.#file, this.#start, this.#end, this.#count];
    return { file, start, end, count };
  }

  /** The number of events. */
  get count(): number {
    return this.#count;
  }

  /** The place after the last event. */
  get acknowledged(): Acknowledged {
    return { bytes: this.#end - this.#start, events: this.#count, crc: this.#crc };
  }

  get closing(): string {
    return closings[this.#idOrder];
  }

  /** Continues in a copy of the file whose events begin at `start`. */
  moveTo(file: OpenFile, start: number): void {
    this.#end += start - this.#start;
    this.#start = start;
    this.#file = file;
  }

  /** Appends an event, unless it is stored already. @throws STORE_EVENT_CONFLICT */
  append(event: CapturedEvent): Appended<number> {
    const { id } = event;
    const text = encodeEvent(event);
    const stored = this.#positionOf(id, text);
    if (stored !== null) return { at: stored, isAdded: false };
    const [offset = 0] = this.#write([text], id > this.#greatestId ? this.#idOrder : 'mixed');
    const at = this.#count - 1;
    this.#remember(id, offset, at);
    return { at, isAdded: true };
  }

  /** Appends the events that are not stored yet, all or none. @throws STORE_EVENT_CONFLICT */
  appendAll(events: readonly CapturedEvent[]): Appended<readonly number[]> {
    const { ids, texts, positions } = this.#selectNew(events);
    if (ids.length === 0) return { at: positions, isAdded: false };
    const first = this.#count;
    const offsets = this.#write(texts, this.#orderWith(ids));
    for (let at = 0; at < ids.length; at += 1)
      this.#remember(ids[at] as string, offsets[at] as number, first + at);
    return { at: positions, isAdded: true };
  }

  #selectNew(events: readonly CapturedEvent[]): Lines {
    const seen = new Map<string, { readonly text: string; readonly position: number }>();
    const ids: string[] = [];
    const texts: string[] = [];
    const positions: number[] = [];
    for (const event of events) {
      const text = encodeEvent(event);
      const earlier = seen.get(event.id);
      if (earlier !== undefined) {
        assertSame(event.id, earlier.text, text);
        positions.push(earlier.position);
        continue;
      }
      const stored = this.#positionOf(event.id, text);
      const position = stored ?? this.#count + ids.length;
      seen.set(event.id, { text, position });
      positions.push(position);
      if (stored !== null) continue;
      ids.push(event.id);
      texts.push(text);
    }
    return { ids, texts, positions };
  }

  #orderWith(ids: readonly string[]): IdOrder {
    if (this.#idOrder === 'mixed') return 'mixed';
    let greatestId = this.#greatestId;
    for (const id of ids) {
      if (id <= greatestId) return 'mixed';
      greatestId = id;
    }
    return this.#idOrder;
  }

  #remember(id: string, offset: number, position: number): void {
    if (id > this.#greatestId) this.#greatestId = id;
    this.#index?.add(id, { offset: offset - this.#start, position });
  }

  /** The position of an event that is stored with this text; null: it is new. @throws STORE_EVENT_CONFLICT */
  #positionOf(id: string, text: string): number | null {
    if (id > this.#greatestId) return null;
    const passed = this.#cursor.pass(this.range, id, text);
    if (passed !== null) return passed;
    const stored = this.#find(id);
    if (stored === null) return null;
    assertSame(id, stored.text, text);
    return stored.position;
  }

  #find(id: string): StoredLine | null {
    if (this.#index === null && this.#idOrder === 'growing' && id === this.#greatestId)
      return this.#readLine(findLineStart(this.#file, this.#start, this.#end), this.#count - 1);
    const index = this.#index ?? this.#buildIndex();
    for (const { offset, position } of index.candidates(id)) {
      const line = this.#readLine(this.#start + offset, position);
      if (line.id !== id) continue;
      this.#cursor.moveTo({ offset: line.next, position: position + 1 });
      return line;
    }
    return null;
  }

  /** Writes lines and the closing brackets over the old brackets. @returns the offsets of the lines */
  #write(texts: readonly string[], idOrder: IdOrder): number[] {
    if (this.#isTorn) this.#removeTorn();
    const closing = closings[idOrder];
    const previous = this.#count === 0 ? null : this.#crc;
    const { bytes, length, starts, crc } = appendBytes(texts, previous, closing);
    try {
      this.#file.write(bytes, length, this.#end);
      if (this.#sync) this.#file.syncData();
    } catch (error) {
      this.#isTorn = true;
      try {
        this.#removeTorn();
      } catch {
        // The disk still fails. The next write tries again. The caller receives the first error.
      }
      throw error;
    }
    const offsets = starts.map((start) => this.#end + start);
    this.#end += length - closing.length;
    this.#count += texts.length;
    this.#crc = crc;
    this.#idOrder = idOrder;
    return offsets;
  }

  /** Removes the bytes of a failed write. */
  #removeTorn(): void {
    restoreClosing(this.#file, this.#end, this.closing);
    this.#isTorn = false;
  }

  #buildIndex(): EventIndex {
    const index = new EventIndex();
    let greatestId = '';
    let position = 0;
    scanLines(this.range, this.#start + 1, (line) => {
      const id = eventIdOf(line.bytes, line.start, line.end) ?? this.#parse(line).id;
      index.add(id, { offset: line.offset - this.#start, position });
      position += 1;
      if (id > greatestId) greatestId = id;
      return true;
    });
    this.#greatestId = greatestId;
    this.#index = index;
    return index;
  }

  #readLine(from: number, position: number): StoredLine {
    const found: StoredLine[] = [];
    scanLines(this.range, from, (line) => {
      found.push({ ...this.#parse(line), position, next: line.next - this.#start });
      return false;
    });
    const [stored] = found;
    if (stored === undefined) throw damagedLine(this.range, from, 'an event was here');
    return stored;
  }

  #parse({ bytes, start, end, offset }: ScannedLine): Line {
    const text = eventText(bytes, start, end);
    const event = text === null ? null : parseEventText(text);
    if (text === null || event === null) throw damagedLine(this.range, offset, 'this line is not an event');
    return { id: event.id, text };
  }
}

/** Cuts the file after the last event and writes the closing brackets. A kill between these steps leaves a torn tail. */
export function restoreClosing(file: OpenFile, end: number, closing: string): void {
  file.truncate(end);
  file.write(Buffer.from(closing), closing.length, end);
}

function assertSame(id: string, stored: string, text: string): void {
  if (!hasSameContent(stored, text)) throw eventConflict(id);
}

import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { eventConflict, hasSameContent } from '@hansard/store-kit';
import { closings, type IdOrder, lineSeparator } from '../disk-format.ts';
import type { Acknowledged } from '../head/head-codec.ts';
import { type AppendBytes, appendBytes, appendLine } from '../lines/append-bytes.ts';
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

  /** Appends an event, unless it is stored already. @returns its position @throws STORE_EVENT_CONFLICT */
  append(event: CapturedEvent): number {
    const { id } = event;
    const text = encodeEvent(event);
    const isGreatest = id > this.#greatestId;
    const stored = isGreatest ? null : this.#positionOf(id, text);
    if (stored !== null) return stored;
    const idOrder = isGreatest ? this.#idOrder : 'mixed';
    const line = this.#count === 0 ? null : appendLine(text, this.#crc, closings[idOrder]);
    if (line === null) this.#writeAll([id], [text], idOrder);
    else {
      const offset = this.#end - this.#start + lineSeparator.length;
      this.#write(line, 1, idOrder);
      this.#remember(id, offset, this.#count - 1);
    }
    return this.#count - 1;
  }

  /** Appends the events that are not stored yet, all or none. @returns their positions @throws STORE_EVENT_CONFLICT */
  appendAll(events: readonly CapturedEvent[]): readonly number[] {
    const { ids, texts, positions } = this.#selectNew(events);
    if (ids.length > 0) this.#writeAll(ids, texts, this.#orderWith(ids));
    return positions;
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

  /** `offset` is that of the line, counted from the opening bracket. */
  #remember(id: string, offset: number, position: number): void {
    if (id > this.#greatestId) this.#greatestId = id;
    this.#index?.add(id, { offset, position });
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

  #writeAll(ids: readonly string[], texts: readonly string[], idOrder: IdOrder): void {
    const lines = appendBytes(texts, this.#count === 0 ? null : this.#crc, closings[idOrder]);
    const [offset, position] = [this.#end - this.#start, this.#count];
    this.#write(lines, ids.length, idOrder);
    for (let at = 0; at < ids.length; at += 1)
      this.#remember(ids[at] as string, offset + (lines.starts[at] as number), position + at);
  }

  /** Writes lines and the closing brackets over the old brackets. */
  #write({ bytes, from, length, crc }: AppendBytes, count: number, idOrder: IdOrder): void {
    if (this.#isTorn) this.#removeTorn();
    try {
      this.#file.write(bytes, length, this.#end, from);
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
    this.#end += length - closings[idOrder].length;
    this.#count += count;
    this.#crc = crc;
    this.#idOrder = idOrder;
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

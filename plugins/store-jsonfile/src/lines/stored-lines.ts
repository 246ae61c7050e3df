import { eventConflict, hasSameContent } from '@hansard/store-kit';
import { damagedLine } from './damaged-line.ts';
import { EventIndex } from './event-index.ts';
import { eventIdOf, eventText, parseEventText } from './event-line.ts';
import type { EventRange } from './event-range.ts';
import { LineCursor } from './line-cursor.ts';
import type { LinePlace } from './position-index.ts';
import { findLineStart, type ScannedLine, scanLines } from './scan-lines.ts';

interface StoredLine {
  readonly id: string;
  readonly text: string;
  readonly position: number;
  /** Where the next line begins, counted from the opening bracket. */
  readonly next: number;
}

/**
 * Finds the stored lines of the events that are appended again. The first id that is neither on the expected line nor on the last one
 * causes one scan of the events, which fills an index of the ids.
 */
export class StoredLines {
  readonly #cursor = new LineCursor();
  #index: EventIndex | null = null;
  #greatestId: string | null = null;

  /** The greatest id when the index was filled. Null: it was not. */
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
    this.#index?.add(id, place);
  }

  #find(range: EventRange, id: string, isLast: boolean): StoredLine | null {
    if (this.#index === null && isLast && range.count !== null)
      return readLine(range, findLineStart(range.file, range.start, range.end), range.count - 1);
    this.#index ??= this.#fillIndex(range);
    for (const { offset, position } of this.#index.candidates(id)) {
      const line = readLine(range, range.start + offset, position);
      if (line.id !== id) continue;
      this.#cursor.moveTo({ offset: line.next, position: position + 1 });
      return line;
    }
    return null;
  }

  #fillIndex(range: EventRange): EventIndex {
    const index = new EventIndex();
    let greatestId = '';
    let position = 0;
    scanLines(range, range.start + 1, (line) => {
      const id = eventIdOf(line.bytes, line.start, line.end) ?? parse(range, line).id;
      index.add(id, { offset: line.offset - range.start, position });
      position += 1;
      if (id > greatestId) greatestId = id;
      return true;
    });
    this.#greatestId = greatestId;
    return index;
  }
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

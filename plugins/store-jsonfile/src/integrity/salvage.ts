import type { CapturedEvent } from '@hansard/events';
import type { EventPage, ReadEventsOptions } from '@hansard/provider';
import { pageRange } from '@hansard/store-kit';
import { parseEventText } from '../lines/event-line.ts';
import { type InspectedPart, inspectLines, textOf } from '../lines/inspect-lines.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { examineFile, settledLines } from './examine-file.ts';

const spacing = 256;

/** A whole event from which an inspection can begin. */
interface Mark {
  readonly offset: number;
  readonly crc: number | null;
}

/** The whole events of a dispatch file, damaged or not. It is valid until the file changes. */
export class Salvage {
  readonly #lines: InspectedPart;
  /** Every 256th whole event. */
  readonly #marks: readonly Mark[];
  readonly #count: number;

  static of(file: OpenFile): Salvage {
    const lines = settledLines(examineFile(file));
    const marks: Mark[] = [];
    let count = 0;
    inspectLines(lines, {
      onEvent({ offset, before }) {
        if (count % spacing === 0) marks.push({ offset, crc: before });
        count += 1;
      },
      onDamage: () => {},
    });
    return new Salvage(lines, marks, count);
  }

  private constructor(lines: InspectedPart, marks: readonly Mark[], count: number) {
    this.#lines = lines;
    this.#marks = marks;
    this.#count = count;
  }

  /** A page of the whole events of the same file, which may have been opened again. @throws STORE_INVALID_CURSOR */
  readPage(file: OpenFile, options: ReadEventsOptions): EventPage {
    const { first, end } = pageRange(this.#count, options);
    const events: CapturedEvent[] = [];
    const at = Math.floor(first / spacing);
    const mark = this.#marks[at];
    if (first >= end || mark === undefined) return { events, first, next: end - 1 };
    const lines = this.#lines;
    const to = this.#marks[Math.ceil(end / spacing)]?.offset ?? lines.to;
    let position = at * spacing;
    inspectLines(
      { ...lines, file, from: mark.offset, crc: mark.crc, to },
      {
        onEvent: (event) => {
          const isWanted = position >= first && position < end;
          position += 1;
          const parsed = isWanted ? parseEventText(textOf(event)) : null;
          if (parsed !== null) events.push(parsed);
        },
        onDamage: () => {},
      },
    );
    return { events, first, next: end - 1 };
  }
}

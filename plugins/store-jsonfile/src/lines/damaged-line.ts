import type { StoreError } from '@hansard/provider';
import { firstSeparator } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import { parseEventText } from './event-line.ts';
import type { EventRange } from './event-range.ts';
import { inspectLines, textOf } from './inspect-lines.ts';

/** The events of an open file. */
export type EventsOf = Pick<EventRange, 'file' | 'start'>;

/** The error of damaged events, with the number of whole events before the damage. */
export function damagedLine({ file, start }: EventsOf, offset: number, reason: string): StoreError {
  let wholeEvents = 0;
  const from = start + firstSeparator.length;
  // No event is before damage of the line that opens them.
  let isDamaged = file.read(start, from).toString('latin1') !== firstSeparator;
  // Beyond `offset`, because the event there can be whole although the separator after it is damaged.
  const to = Math.max(offset, file.stats().size);
  inspectLines(
    { file, from, crc: null, to },
    {
      onEvent: (event) => {
        if (isDamaged || event.offset > offset) return;
        if (event.offset < offset || parseEventText(textOf(event)) !== null) wholeEvents += 1;
      },
      onDamage: () => {
        isDamaged = true;
      },
    },
  );
  return corrupt(file.path, offset, reason, { wholeEvents });
}

/** The error of a file that ends before acknowledged events; `end` is the end of those events. */
export function eventsMissing(events: EventsOf, size: number, end: number): StoreError {
  return damagedLine(events, size, `it ends here, but its events must reach byte ${end}`);
}

import type { StoreError } from '@hansard/provider';
import { checksumLength, checksumOf, encodeChecksum, readChecksum } from '@hansard/store-kit';
import { checksumEnd, checksumKey, firstSeparator, lineSeparator } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import { continuesBatch, endsWithComma, hasText, parseEventText } from './event-line.ts';
import type { EventRange, OpenFile } from './open-file.ts';

const newline = 0x0a;
const smallestChunk = 64 * 1024;
/** How many checksums of one damaged line are tried, so that a line full of them costs little. */
const mostTried = 100;
const key = Buffer.from(checksumKey);

/** The part of a file to inspect. */
export interface InspectedPart {
  readonly file: OpenFile;
  /** The offset of a line. */
  readonly from: number;
  /** The checksum of the event before it; null for the first line. */
  readonly crc: number | null;
  /** The checksum before the first event. */
  readonly seed: number;
  readonly to: number;
}

/** A whole event, wherever its line ends. The object is valid during the call. */
export interface InspectedEvent {
  /** The bytes of the event are from `start` to before `end`, without the closing brace. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** The offset of the line in the file, and that after the closing brace. */
  readonly offset: number;
  readonly endOffset: number;
  readonly crc: number;
  /** The checksum of the event before it; null for the first one. */
  readonly before: number | null;
  readonly continues: boolean;
}

/** Consecutive bytes that belong to no whole event. */
export interface InspectedDamage {
  readonly offset: number;
  readonly bytes: number;
  /** The number of lines, and so of events if no line end is damaged. A doubled line is not counted. */
  readonly lines: number;
  /** Whether only a separator is damaged, or a line is doubled, so that no event is lost. */
  readonly isLossless: boolean;
  readonly reason: string;
}

/** The text of an event. */
export function textOf({ bytes, start, end }: InspectedEvent): string {
  return `${bytes.toString('utf8', start, end)}}`;
}

export interface InspectionVisitor {
  onEvent(event: InspectedEvent): void;
  onDamage(damage: InspectedDamage): void;
}

/**
 * Visits the whole events of a part of a file, and the damage between them, in their order. An event is whole if it has the
 * right checksum after the event before it, whose own checksum counts as stored, or as computed if its digits are damaged.
 */
export function inspectLines(part: InspectedPart, visitor: InspectionVisitor): void {
  const { file, to } = part;
  const inspector = new LineInspector(part, visitor);
  let offset = part.from;
  for (let size = smallestChunk; offset < to; ) {
    const bytes = file.read(offset, Math.min(to, offset + size));
    if (bytes.length === 0) break;
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      inspector.line(bytes, start, end, offset, false);
      start = end + 1;
    }
    const isEnd = offset + bytes.length >= to || bytes.length < size;
    if (isEnd) {
      if (start < bytes.length) inspector.line(bytes, start, bytes.length, offset, true);
      break;
    }
    // A line that is longer than the chunk is read again with a larger one.
    if (start === 0) size *= 2;
    offset += start;
  }
  inspector.end();
}

class LineInspector {
  readonly #visitor: InspectionVisitor;
  /** The possible checksums of the line before: stored, and computed. Null for the first line. */
  #before: readonly (number | null)[];
  #wholeCrc: number | null;
  readonly #seed: number;
  #damage: InspectedDamage | null = null;

  constructor({ crc, seed }: InspectedPart, visitor: InspectionVisitor) {
    this.#visitor = visitor;
    this.#seed = seed;
    this.#before = [crc];
    this.#wholeCrc = crc;
  }

  /** A line of the bytes, whose own place in the file is `at`. */
  line(bytes: Buffer, start: number, end: number, at: number, isLast: boolean): void {
    const hasComma = endsWithComma(bytes, end);
    for (let from = start; from < end; ) {
      const found = this.#findEvent(bytes, from, end);
      if (found === null) {
        this.#damagedLine(bytes, from, end, at);
        return;
      }
      const after = found.digits + checksumLength + checksumEnd.length;
      const continues = continuesBatch(bytes, from);
      this.#event({
        bytes,
        start: continues ? from + 1 : from,
        end: found.digits - checksumKey.length,
        offset: at + from,
        endOffset: at + after,
        crc: found.crc,
        before: found.before,
        continues,
      });
      if (after === end - (hasComma ? 1 : 0)) {
        if (!hasComma && !isLast) this.#separator(at + after, 1);
        break;
      }
      // A separator is damaged: another event, or the remains of an append, are on the same line.
      const separator = Math.min(end - after, lineSeparator.length);
      this.#separator(at + after, separator);
      from = after + separator;
    }
  }

  end(): void {
    this.#report();
  }

  #separator(offset: number, bytes: number): void {
    const reason = 'the separator after this event is damaged';
    this.#add({ offset, bytes, lines: 0, isLossless: true, reason });
  }

  #event(event: InspectedEvent): void {
    this.#report();
    this.#before = [event.crc];
    this.#wholeCrc = event.crc;
    this.#visitor.onEvent(event);
  }

  /** The checksum of an event that begins at `from`, by which the event is whole. As a rule it is at the end of the line. */
  #findEvent(
    bytes: Buffer,
    from: number,
    end: number,
  ): { readonly digits: number; readonly crc: number; readonly before: number | null } | null {
    let tried = 0;
    for (
      let at = bytes.indexOf(key, from);
      at >= 0 && at < end && tried < mostTried;
      at = bytes.indexOf(key, at + 1)
    ) {
      tried += 1;
      const digits = at + checksumKey.length;
      const crc = readChecksum(bytes, digits);
      const isFramed =
        crc !== null &&
        digits + checksumLength + checksumEnd.length <= end &&
        hasText(bytes, digits + checksumLength, checksumEnd);
      if (!isFramed) continue;
      const before = this.#before.find((each) => crc === chained(each, this.#seed, bytes, from, digits));
      if (before !== undefined) return { digits, crc, before };
    }
    return null;
  }

  #damagedLine(bytes: Buffer, start: number, end: number, at: number): void {
    const comma = endsWithComma(bytes, end) ? 1 : 0;
    const digits = end - comma - checksumEnd.length - checksumLength;
    const isFramed =
      digits - checksumKey.length >= start && hasText(bytes, digits - checksumKey.length, checksumKey);
    const stored = isFramed ? readChecksum(bytes, digits) : null;
    const isDoubled = stored !== null && stored === this.#wholeCrc && this.#damage === null;
    this.#add({
      offset: at + start,
      bytes: end - start + 1,
      lines: isDoubled ? 0 : 1,
      isLossless: isDoubled,
      reason: isDoubled ? 'this line is doubled' : 'this line is not the one that was written here',
    });
    const computed = isFramed ? chained(this.#before[0] ?? null, this.#seed, bytes, start, digits) : null;
    const next = [stored, computed].filter((crc) => crc !== null);
    this.#before = next.length > 0 ? next : this.#before;
  }

  /** Adds damage to the damage directly before it. */
  #add(damage: InspectedDamage): void {
    const earlier = this.#damage;
    this.#damage =
      earlier === null
        ? damage
        : {
            ...earlier,
            bytes: damage.offset + damage.bytes - earlier.offset,
            lines: earlier.lines + damage.lines,
            isLossless: earlier.isLossless && damage.isLossless,
            reason: earlier.isLossless ? damage.reason : earlier.reason,
          };
  }

  #report(): void {
    if (this.#damage === null) return;
    this.#visitor.onDamage(this.#damage);
    this.#damage = null;
  }
}

/** The checksum of a line up to its digits, after a line with the checksum `before` and an intact separator. */
function chained(before: number | null, seed: number, bytes: Buffer, from: number, digits: number): number {
  const separator =
    before === null
      ? checksumOf(firstSeparator, seed)
      : checksumOf(encodeChecksum(before) + checksumEnd + lineSeparator, before);
  return checksumOf(bytes.subarray(from, digits), separator);
}

/** The events of an open file. */
type EventsOf = Pick<EventRange, 'file' | 'start' | 'seed'>;

/** The error of damaged events, with the number of whole events before the damage. */
export function damagedLine({ file, start, seed }: EventsOf, offset: number, reason: string): StoreError {
  let wholeEvents = 0;
  const from = start + firstSeparator.length;
  // No event is before damage of the line that opens them.
  let isDamaged = file.read(start, from).toString('latin1') !== firstSeparator;
  // Beyond `offset`, because the event there can be whole although the separator after it is damaged.
  const to = Math.max(offset, file.stats().size);
  inspectLines(
    { file, from, crc: null, seed, to },
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

import { type DispatchDamage, type DispatchVerification, storeErrors } from '@hansard/provider';
import { chainStart } from '@hansard/store-kit';
import { eventsLine, firstSeparator } from '../disk-format.ts';
import type { DispatchName } from '../dispatch/dispatch-file.ts';
import { completeEnd, findTail, readEnding } from '../dispatch/file-tail.ts';
import { type DispatchHead, findHead, findSlot, readHead } from '../head/dispatch-head.ts';
import { startOfEvents } from '../head/head-codec.ts';
import { hasText } from '../lines/event-line.ts';
import { type InspectedDamage, type InspectedPart, inspectLines } from '../lines/inspect-lines.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { scanLines } from '../lines/scan-lines.ts';

/** Damage in the events, and the number of whole events before it. */
interface Found extends InspectedDamage {
  readonly eventsBefore: number;
}

interface Inspection {
  readonly wholeEvents: number;
  readonly found: readonly Found[];
  /** The number of whole events up to the last acknowledged one, and of damages before it. */
  readonly acknowledged: { readonly events: number; readonly damages: number } | null;
  /** The offset after the last whole event. */
  readonly end: number;
}

/** Checks every byte of the open file of the dispatch `name`. A torn tail is not damage: the next claim repairs it. @throws STORE_NEWER */
export function verifyFile(file: OpenFile, name: DispatchName): DispatchVerification {
  const place = file.path;
  let examined: DamagedFile;
  try {
    examined = examineFile(file, name);
    // Of what a newer version wrote, this one does not know what is damaged.
    const { envelope: _ } = examined.head?.record ?? {};
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
    const { size } = file.stats();
    return {
      integrity: 'none',
      wholeEvents: 0,
      bytes: size,
      damages: [unreadable(place, size, error.message)],
    };
  }
  const { head, size } = examined;
  const before = headDamages(examined);
  const count = before.length === 0 && head !== null ? countWhole(file, head) : null;
  if (count !== null) return { integrity: 'checksum', wholeEvents: count, bytes: size, damages: [] };
  const inspection = inspect(examined);
  const lost =
    head !== null
      ? eventDamages(inspection, head, examined)
      : inspection.found.map((damage) => plain(damage, damage.lines));
  const damages = [...before, ...lost.map((damage) => ({ place, ...damage }))];
  return { integrity: 'checksum', wholeEvents: inspection.wholeEvents, bytes: size, damages };
}

/** The number of events if all are whole; null if any is damaged. */
function countWhole(file: OpenFile, head: NonNullable<DamagedFile['head']>): number | null {
  try {
    const { end } = findTail(file, head);
    const { start, seed } = head;
    let count = 0;
    scanLines({ file, start, seed, end, count: null }, start + 1, () => {
      count += 1;
      return true;
    });
    return count;
  } catch (error) {
    if (storeErrors.is(error, 'STORE_CORRUPT')) return null;
    throw error;
  }
}

function headDamages({ head, start, size, lines }: DamagedFile): DispatchDamage[] {
  const { file } = lines;
  const damages: DispatchDamage[] = [];
  const add = (offset: number, bytes: number, reason: string) =>
    damages.push({ place: file.path, offset, bytes, eventsBefore: 0, lostEvents: 0, reason });
  const opening = start - eventsLine.length;
  if (head === null) add(0, opening, 'both copies of the head are damaged, and with them the envelope');
  else {
    for (const [at, isWhole] of head.whole.entries())
      if (!isWhole) add(at * head.slot, head.slot, 'one copy of the head is damaged; the other one is used');
  }
  const line = file.read(opening, start + firstSeparator.length);
  if (!hasText(line, 0, eventsLine) || (size > start && !hasText(line, eventsLine.length, firstSeparator)))
    add(opening, line.length, 'the line that opens the events is damaged');
  return damages;
}

function inspect({ head, start, lines }: DamagedFile): Inspection {
  const crc = head?.record.acknowledged.crc ?? null;
  const found: Found[] = [];
  let wholeEvents = 0;
  let end = start;
  let acknowledged: Inspection['acknowledged'] = null;
  inspectLines(lines, {
    onEvent(event) {
      wholeEvents += 1;
      end = event.endOffset;
      if (event.crc === crc) acknowledged = { events: wholeEvents, damages: found.length };
    },
    onDamage: (damage) => found.push({ ...damage, eventsBefore: wholeEvents }),
  });
  return { wholeEvents, found, acknowledged, end };
}

type Damage = Omit<DispatchDamage, 'place'>;

/** The damages of events, with the number of events that each has lost if the acknowledged length says it. */
function eventDamages(
  { wholeEvents, found, acknowledged, end }: Inspection,
  { record, start }: DispatchHead,
  { size, isClosed }: DamagedFile,
): Damage[] {
  const { bytes, events } = record.acknowledged;
  const isShort = size < start + bytes;
  const last = found.at(-1);
  const isTorn = !isClosed && last !== undefined && last.offset >= Math.max(end, start + bytes);
  const damages = isTorn ? found.slice(0, -1) : found;
  const counted = acknowledged?.damages ?? damages.length;
  const whole = acknowledged?.events ?? Math.min(wholeEvents, events);
  const missing = Math.max(0, events - whole);
  const lossy = damages.slice(0, counted).filter(({ isLossless }) => !isLossless);
  const lines = lossy.reduce((sum, damage) => sum + damage.lines, 0);
  const all: Damage[] = damages.map((damage, at) => {
    if (damage.isLossless) return plain(damage, 0);
    if (at >= counted || isShort) return plain(damage, null);
    if (lossy.length === 1) return plain(damage, missing);
    return plain(damage, lines === missing ? damage.lines : null);
  });
  if (!isShort && (lossy.length > 0 || missing === 0)) return all;
  const rest = lossy.length > 0 ? null : missing;
  const reason = `the file ends before byte ${start + bytes}, up to which its events were acknowledged`;
  return [...all, { offset: size, bytes: 0, eventsBefore: wholeEvents, lostEvents: rest, reason }];
}

function plain({ offset, bytes, eventsBefore, reason }: Found, lostEvents: number | null): Damage {
  return { offset, bytes, eventsBefore, lostEvents, reason };
}

function unreadable(place: string, bytes: number, reason: string): DispatchDamage {
  return { place, offset: 0, bytes, eventsBefore: 0, lostEvents: null, reason };
}

/** What can be read of a dispatch file, however much of it is damaged. */
interface DamagedFile {
  /** Null if it cannot be read. */
  readonly head: DispatchHead | null;
  readonly start: number;
  readonly size: number;
  /** Whether the file ends with complete closing brackets. */
  readonly isClosed: boolean;
  /** The lines of the events. */
  readonly lines: InspectedPart;
}

/** @throws STORE_CORRUPT if not even the place of the events can be found */
export function examineFile(file: OpenFile, { taskDir, dispatchId }: DispatchName): DamagedFile {
  const slot = findSlot(file);
  const head = slot === null ? readHead(file) : findHead(file);
  const start = head?.start ?? startOfEvents(slot ?? 0);
  const ending = readEnding(file);
  const complete = completeEnd(ending, start);
  const to = complete?.end ?? ending.size;
  const seed = head?.seed ?? chainStart(taskDir, dispatchId);
  const lines = { file, from: start + 1, crc: null, seed, to };
  return { head, start, size: ending.size, isClosed: complete !== null, lines };
}

/**
 * The lines whose events count: without those of a batch that was not finished when the file was torn.
 */
export function settledLines({ lines, isClosed, start }: DamagedFile): InspectedPart {
  if (isClosed) return lines;
  let to = start + 1;
  inspectLines(lines, {
    onEvent({ continues, endOffset }) {
      if (!continues) to = endOffset;
    },
    onDamage: () => {},
  });
  return { ...lines, to };
}

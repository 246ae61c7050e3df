import { closings, type IdOrder } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import { parseEventLine } from '../lines/event-line.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { type EventRange, findLastLines, scanLines } from '../lines/scan-lines.ts';
import { type AppendPoint, restoreClosing } from './append-writer.ts';
import { type EventsPlace, type FileTail, findTail } from './file-tail.ts';

export interface TailRepair {
  readonly offset: number;
  readonly removedBytes: number;
  readonly reason: string;
}

/**
 * Finds the place of the next append, and repairs a torn tail (see disk-format.ts, section 5). Only the owner of the lock may
 * call it.
 * @throws STORE_CORRUPT
 */
export function prepareAppend(
  file: OpenFile,
  place: EventsPlace,
  sync: boolean,
): { readonly point: AppendPoint; readonly repair: TailRepair | null } {
  const { start } = place;
  const tail = findTail(file, place);
  const range = { file, start, end: tail.end };
  if (tail.idOrder !== null) {
    const greatestId = tail.idOrder === 'growing' ? readIds(range, findLastLines(range, 1)).greatestId : null;
    return { point: { ...range, idOrder: tail.idOrder, greatestId }, repair: null };
  }
  const ids = readIds(range, start + 1);
  const repair = describeRepair(file, tail);
  restoreClosing(file, tail.end, closings[ids.idOrder]);
  if (sync) file.syncData();
  return { point: { ...range, ...ids }, repair };
}

function readIds(
  range: EventRange,
  from: number,
): { readonly idOrder: IdOrder; readonly greatestId: string } {
  let idOrder: IdOrder = 'growing';
  let greatestId = '';
  scanLines(range, from, (bytes, start, end, offset, isLast) => {
    const event = parseEventLine(bytes, start, end, isLast);
    if (event === null) throw corrupt(range.file.path, offset, 'this line is not an event');
    if (event.id > greatestId) greatestId = event.id;
    else idOrder = 'mixed';
    return true;
  });
  return { idOrder, greatestId };
}

function describeRepair(file: OpenFile, { end, size }: FileTail): TailRepair {
  const rest = file.read(end, Math.min(size, end + closings.mixed.length)).toString('latin1');
  if (Object.values(closings).some((closing) => closing.startsWith(rest)))
    return { offset: end, removedBytes: 0, reason: 'The closing brackets were incomplete.' };
  return {
    offset: end,
    removedBytes: size - end,
    reason: 'An append was interrupted before it was complete.',
  };
}

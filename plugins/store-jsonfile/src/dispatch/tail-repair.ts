import { closings, type IdOrder } from '../disk-format.ts';
import type { DispatchHead } from '../head/dispatch-head.ts';
import { eventIdOf } from '../lines/event-line.ts';
import type { EventRange } from '../lines/event-range.ts';
import type { OpenFile } from '../lines/open-file.ts';
import { parseLine } from '../lines/read-events.ts';
import { findLastLines, scanLines } from '../lines/scan-lines.ts';
import { type AppendPoint, restoreClosing } from './dispatch-writer.ts';
import type { FileTail } from './file-end.ts';
import { findTail } from './file-tail.ts';

export interface TailRepair {
  readonly offset: number;
  readonly removedBytes: number;
  readonly reason: string;
}

/**
 * Finds the place of the next append, and repairs a torn tail (see disk-format.ts, section 6). Only the owner of the lock may
 * call it.
 * @throws STORE_CORRUPT
 */
export function prepareAppend(
  file: OpenFile,
  head: DispatchHead,
  sync: boolean,
): { readonly point: AppendPoint; readonly repair: TailRepair | null } {
  const { start } = head;
  const tail = findTail(file, head);
  const { end, count, crc } = tail;
  const range = { file, start, end, count };
  if (tail.idOrder !== null) {
    const greatestId = tail.idOrder === 'growing' ? readIds(range, findLastLines(range, 1)).greatestId : null;
    return { point: { end, count, crc, idOrder: tail.idOrder, greatestId }, repair: null };
  }
  const ids = readIds(range, start + 1);
  const repair = describeRepair(file, tail);
  restoreClosing(file, tail.end, closings[ids.idOrder]);
  if (sync) file.syncData();
  return { point: { end, count, crc, ...ids }, repair };
}

function readIds(
  range: EventRange,
  from: number,
): { readonly idOrder: IdOrder; readonly greatestId: string } {
  let idOrder: IdOrder = 'growing';
  let greatestId = '';
  scanLines(range, from, (line) => {
    const id = eventIdOf(line.bytes, line.start, line.end) ?? parseLine(range, line).id;
    if (id > greatestId) greatestId = id;
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

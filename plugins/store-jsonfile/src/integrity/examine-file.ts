import { completeEnd, readEnding } from '../dispatch/file-end.ts';
import { type DispatchHead, findHead, findSlot, readHead } from '../head/dispatch-head.ts';
import { startOfEvents } from '../head/head-codec.ts';
import { type InspectedPart, inspectLines } from '../lines/inspect-lines.ts';
import type { OpenFile } from '../lines/open-file.ts';

/** What can be read of a dispatch file, however much of it is damaged. */
export interface DamagedFile {
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
export function examineFile(file: OpenFile): DamagedFile {
  const slot = findSlot(file);
  const head = slot === null ? readHead(file) : findHead(file);
  const start = head?.start ?? startOfEvents(slot ?? 0);
  const ending = readEnding(file);
  const complete = completeEnd(ending, start);
  const to = complete?.end ?? ending.size;
  const lines = { file, from: start + 1, crc: null, to };
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

import { closings, type IdOrder } from '../disk-format.ts';
import type { OpenFile } from '../lines/open-file.ts';

const longestClosing = closings.mixed.length;

/** The end of the events of a dispatch file. */
export interface FileTail {
  /** The offset after the last event that counts. */
  readonly end: number;
  readonly size: number;
  /** Null if the closing brackets are incomplete: a write is in progress, or the tail is torn. */
  readonly idOrder: IdOrder | null;
  /** The number of events, and the checksum of the last one. */
  readonly count: number;
  readonly crc: number;
}

/** The last bytes of a file. */
export interface FileEnding {
  readonly size: number;
  readonly text: string;
}

export function readEnding(file: OpenFile): FileEnding {
  const { size } = file.stats();
  return { size, text: file.read(Math.max(0, size - longestClosing), size).toString('latin1') };
}

/** The end of the events according to complete closing brackets; null without them. */
export function completeEnd(
  { size, text }: FileEnding,
  start: number,
): { readonly end: number; readonly idOrder: IdOrder } | null {
  for (const idOrder of ['growing', 'mixed'] as const) {
    const end = size - closings[idOrder].length;
    if (end >= start && text.endsWith(closings[idOrder])) return { end, idOrder };
  }
  return null;
}

import type { OpenFile } from './open-file.ts';

/** The part of an open file that consists of complete event lines. */
export interface EventRange {
  readonly file: OpenFile;
  /** The offset after the opening bracket; the first line begins one byte later. */
  readonly start: number;
  /** The offset after the last event; equal to `start` if there is none. */
  readonly end: number;
  /** The number of events; null if it is not known without reading them. */
  readonly count: number | null;
}

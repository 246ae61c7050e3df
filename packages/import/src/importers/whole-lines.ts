import type { LogHead } from '@hansard/provider';

/** The lines of the start of a file, without the last one where it may be cut. */
export function wholeLines({ text, isCut }: LogHead): string[] {
  const lines = text.split('\n');
  return isCut ? lines.slice(0, -1) : lines;
}

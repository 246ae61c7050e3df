import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { messageOf } from '@hansard/events';
import { CliError, exitCode } from '../terminal/cli-error.ts';

/** A whole file. */
export function readSource(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** The first bytes of a file, and whether there are more. */
export function readStart(file: string, length: number): { readonly text: string; readonly isCut: boolean } {
  try {
    const bytes = Buffer.alloc(length);
    const descriptor = openSync(file, 'r');
    try {
      const count = readSync(descriptor, bytes);
      return { text: bytes.toString('utf8', 0, count), isCut: count === length };
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

export function unreadable(file: string, cause: unknown): CliError {
  return new CliError(
    exitCode.failed,
    `${file} can't be read: ${messageOf(cause)}`,
    'Check the path, and that you may read it.',
    { cause },
  );
}

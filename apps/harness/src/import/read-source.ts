import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { messageOf } from '@hansard/events';
import { CliError, exitCode } from '../terminal/cli-error.ts';

/** A whole file. */
export function readSource(file: string): Buffer {
  return withSource(file, (descriptor) => readFileSync(descriptor));
}

/** The first bytes of a file, and whether there are more. */
export function readStart(file: string, length: number): { readonly text: string; readonly isCut: boolean } {
  return withSource(file, (descriptor) => {
    const bytes = Buffer.alloc(length);
    const count = readSync(descriptor, bytes);
    return { text: bytes.toString('utf8', 0, count), isCut: count === length };
  });
}

/** Refuses a pipe: sources are read more than once, and a pipe without a writer would block the command. */
export function assertRegularFile(file: string): void {
  withSource(file, () => {});
}

function withSource<T>(file: string, read: (descriptor: number) => T): T {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isDirectory()) throw notRegular(file, stats.isFIFO() ? 'pipe' : 'device');
    return read(descriptor);
  } catch (cause) {
    throw cause instanceof CliError ? cause : unreadable(file, cause);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function notRegular(file: string, kind: string): CliError {
  return new CliError(
    exitCode.failed,
    `${file} is a ${kind}, and what is recorded or imported is read more than once.`,
    'Write it to a file, and name that file. Nothing was recorded.',
  );
}

export function unreadable(file: string, cause: unknown): CliError {
  return new CliError(
    exitCode.failed,
    `${file} can't be read: ${messageOf(cause)}`,
    'Check the path, and that you may read it.',
    { cause },
  );
}

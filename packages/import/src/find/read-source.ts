import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { bytesOfPackedStart, isPacked, unpack } from '@hansard/claude';
import { formatErrors, type HansardError, messageOf } from '@hansard/events';
import type { LogHead } from '@hansard/provider';

const bytesOfHead = 1024 * 1024;
const mostOfLine = 32 * bytesOfHead;

/** The largest file that is read as a whole. No text can have more than 512 million characters. */
const mostBytes = 500_000_000;

/** A whole file. @throws FORMAT_UNREADABLE, including for a file of more than 500 MB */
export function readSource(file: string): Buffer {
  return withSource(file, (descriptor) => {
    const { size } = fstatSync(descriptor);
    if (size <= mostBytes) return unpack(readFileSync(descriptor), { isWhole: true, most: mostBytes });
    throw formatErrors.error(
      'FORMAT_UNREADABLE',
      `${file} has ${size} bytes. A log of this format is read as a whole, and can have ${mostBytes} bytes. Divide it.`,
      { details: { file } },
    );
  });
}

/** The bytes of a file in pieces. A compressed file, or one in UTF-16, is one piece. */
export function chunksOf(file: string): () => Generator<Uint8Array> {
  return function* chunks() {
    const buffer = Buffer.allocUnsafe(1024 * 1024);
    let descriptor: number | undefined;
    try {
      descriptor = openSync(file, 'r');
      let isFirst = true;
      for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
        const chunk = buffer.subarray(0, count);
        if (isFirst && !isPlain(chunk)) {
          yield readSource(file);
          return;
        }
        isFirst = false;
        yield chunk;
      }
    } catch (error) {
      throw formatErrors.is(error) || !(error instanceof Error && 'syscall' in error)
        ? error
        : unreadable(file, error);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  };
}

/** Whether bytes begin an object in UTF-8, neither compressed nor in UTF-16. */
function isPlain([first = 0, second = 0]: Uint8Array): boolean {
  return [0x7b, 0x20, 0x09, 0x0a, 0x0d, 0xef].includes(first) && second !== 0;
}

/** The start of a file. Its first line is whole, up to 32 MiB: a first prompt can hold an image. */
export function readHead(path: string, length: number = bytesOfHead): LogHead {
  const head = readStart(path, length);
  if (!head.isCut || head.text.includes('\n') || length < bytesOfHead || length >= mostOfLine) return head;
  return readStart(path, mostOfLine);
}

function readStart(path: string, length: number): LogHead {
  return withSource(path, (descriptor) => {
    // A buffer that is larger than the file is collected as often as one that is full. Some files do not state their size.
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.allocUnsafeSlow(size === 0 ? length : Math.min(length, size));
    const count = readSync(descriptor, bytes);
    const start = bytes.subarray(0, count);
    const text = unpack(start, { isWhole: false, most: length });
    const isPartOfPacked = isPacked(start) && (count > bytesOfPackedStart || text.length === length);
    return { path, text: text.toString('utf8'), isCut: count === length || isPartOfPacked };
  });
}

/** Refuses a file that holds only NUL bytes, as a crash or a power failure leaves it. @throws FORMAT_EMPTY */
export function refuseWiped({ path, text, isCut }: LogHead): void {
  if (isCut || !text.startsWith('\0') || /[^\0\s]/.test(text)) return;
  throw formatErrors.error(
    'FORMAT_EMPTY',
    `${path} was wiped: it holds only NUL bytes, as after a crash. What was imported from it before stays.`,
    { details: { file: path } },
  );
}

/**
 * Refuses a pipe: sources are read more than once, and a pipe without a writer would block the program.
 * @throws FORMAT_UNREADABLE
 */
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
    throw formatErrors.is(cause) ? cause : unreadable(file, cause);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function notRegular(file: string, kind: string): HansardError {
  return formatErrors.error(
    'FORMAT_UNREADABLE',
    `${file} is a ${kind}, and a source is read more than once. Write it to a file, and name that file. Nothing was recorded.`,
    { details: { file } },
  );
}

export function unreadable(file: string, cause: unknown): HansardError {
  return formatErrors.error('FORMAT_UNREADABLE', `${file} can't be read: ${messageOf(cause)}`, {
    cause,
    details: { file },
  });
}

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type CapturedEvent, formatErrors, type HansardError } from '@hansard/events';
import type { SessionFormatId } from './sessions/session-dialect.ts';
import { createSessionWriter, type WriteOptions, type WrittenReport } from './sessions/write-session.ts';

/** The session log of one dispatch, written while it is recorded. */
export interface LiveSessionLog extends Disposable {
  /** Adds an event, with the lines that it completes. They are in the file after `flush`. @throws FORMAT_FILE_DIFFERS */
  add(event: CapturedEvent): void;
  /** Writes the lines that wait. @throws FORMAT_FILE_DIFFERS */
  flush(): void;
  /** Writes the remaining lines, after the last event. @throws FORMAT_FILE_DIFFERS */
  finish(): void;
  /** What the lines so far do not hold. */
  report(): WrittenReport;
  /** Closes the file. A second call does nothing. */
  close(): void;
}

/**
 * Opens the file of a session log, to write it from the first event of a dispatch on. At its end it has the bytes that `write` of the format
 * gives for the whole log. A file that an earlier process left, such as a killed process, is continued: a torn last line is removed, and lines
 * that are there are compared instead of written. So the caller gives every event again. Only the owner can read the file.
 */
export function openLiveSessionLog(
  path: string,
  format: SessionFormatId,
  options: WriteOptions = {},
): LiveSessionLog {
  const writer = createSessionWriter(format, options);
  const file = new LineFile(path);
  const close = () => file.close();
  return {
    add(event) {
      for (const line of writer.add(event)) file.write(line);
    },
    flush: () => file.flush(),
    finish() {
      for (const line of writer.finish()) file.write(line);
      file.assertEnd();
    },
    report: () => writer.report(),
    close,
    [Symbol.dispose]: close,
  };
}

/** The most characters that wait for `flush`. */
const mostWaiting = 64 * 1024;

/**
 * A file of lines that is written again from its beginning, such as after its writer was killed. Only the owner can read it.
 *
 * 1. Lines that are there are compared instead of written.
 * 2. A torn last line is removed before the first line is written. Without a whole line before it, it must be the beginning of that line, so
 *    that a file of something else is never changed.
 *
 * Invariant: the first `#at` bytes of the file are the lines that were flushed, and up to `#size` there are whole lines of an earlier process
 * that are still to be compared. `#torn` bytes follow.
 */
export class LineFile {
  readonly #path: string;
  readonly #file: number;
  #waiting: string[] = [];
  #waitingLength = 0;
  #at = 0;
  #size: number;
  #torn: number;
  #isOpen = true;

  /** Opens the file, and makes its folder. */
  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const { size } = fstatSync(this.#file);
    this.#size = this.#wholeLines(size);
    this.#torn = size - this.#size;
  }

  /** Adds a line with its line end. It is in the file after `flush`. @throws FORMAT_FILE_DIFFERS */
  write(line: string): void {
    this.#waiting.push(line);
    this.#waitingLength += line.length;
    if (this.#waitingLength > mostWaiting) this.flush();
  }

  /** Writes the lines that wait, in one call of the system. @throws FORMAT_FILE_DIFFERS */
  flush(): void {
    if (this.#waitingLength === 0) return;
    const bytes = Buffer.from(this.#waiting.length === 1 ? (this.#waiting[0] ?? '') : this.#waiting.join(''));
    this.#waiting = [];
    this.#waitingLength = 0;
    const known = Math.min(bytes.length, this.#size - this.#at);
    if (known > 0) {
      const there = Buffer.alloc(known);
      readSync(this.#file, there, 0, known, this.#at);
      if (!there.equals(bytes.subarray(0, known))) throw this.#differs();
    }
    if (known < bytes.length && this.#torn > 0) this.#removeTorn(bytes);
    for (let done = known; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#at + done);
    this.#at += bytes.length;
    this.#size = Math.max(this.#size, this.#at);
  }

  /** After the last line: the file must not have more. @throws FORMAT_FILE_DIFFERS */
  assertEnd(): void {
    this.flush();
    if (this.#at < this.#size) throw this.#differs();
    if (this.#torn > 0) this.#removeTorn(Buffer.alloc(0));
  }

  /** Closes the file. What was not flushed is not written. A second call does nothing. */
  close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }

  /** Removes the line that a killed process did not complete. `next`: what is written instead. */
  #removeTorn(next: Buffer): void {
    if (this.#size === 0) {
      const there = Buffer.alloc(this.#torn);
      readSync(this.#file, there, 0, there.length, 0);
      if (!next.subarray(0, there.length).equals(there)) throw this.#differs();
    }
    ftruncateSync(this.#file, this.#size);
    this.#torn = 0;
  }

  /** The size up to the last line end. */
  #wholeLines(size: number): number {
    const piece = Buffer.alloc(64 * 1024);
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - piece.length);
      readSync(this.#file, piece, 0, end - start, start);
      const found = piece.subarray(0, end - start).lastIndexOf(0x0a);
      if (found >= 0) return start + found + 1;
      end = start;
    }
    return 0;
  }

  #differs(): HansardError {
    return formatErrors.error(
      'FORMAT_FILE_DIFFERS',
      `${this.#path} has other lines than the log from byte ${this.#at} on. Nothing more is written to it.`,
      { details: { file: this.#path, byte: this.#at } },
    );
  }
}

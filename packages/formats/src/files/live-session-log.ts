import type { CapturedEvent } from '@hansard/events';
import type { SessionFormatId } from '../sessions/session-dialect.ts';
import { createSessionWriter, type WriteOptions, type WrittenReport } from '../sessions/write-session.ts';
import { LineFile } from './line-file.ts';

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
 * gives for the whole log. A file of an earlier process, such as one that was killed, is continued: a torn last line is removed, and lines
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

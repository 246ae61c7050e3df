import type { LogSummary, StoreError } from '@hansard/provider';
import type { RecordedLog, UnchangedRecord } from './record/record-log.ts';

/** One dispatch of a log. */
interface LogPlace {
  /** The files of the log, its own first. */
  readonly files: readonly string[];
  readonly format: string;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly role: string;
  /** Which dispatch of the log it is, from 1, and how many the log has. */
  readonly number: number;
  readonly of: number;
}

/** A dispatch whose log has not changed since its last complete import. Nothing was read. */
export interface UnchangedLog extends LogPlace, UnchangedRecord {}

/** A dispatch that was imported. */
export interface ImportReport
  extends LogPlace,
    Pick<LogSummary, 'lines' | 'records' | 'events' | 'counts' | 'diagnostics'>,
    Omit<RecordedLog, 'kind' | 'summary'> {
  readonly kind: 'imported';
  /** Whether only the name, the folder and the first record identify the log, so that another log may have the same. */
  readonly isIdentifiedByPlace: boolean;
  /** Why the record of the task could not be read. The log was recorded all the same. */
  readonly taskProblem?: StoreError;
}

/** A path that was not imported, or a log whose import failed. The others are imported. */
export interface ImportFailure {
  readonly kind: 'failed';
  /** A file or a folder; of a log with several files, all of them. */
  readonly path: string;
  readonly error: unknown;
  /** How many files the error is about, if more than one. */
  readonly files?: number;
  /** Whether there was nothing else to import. */
  readonly isOnly: boolean;
}

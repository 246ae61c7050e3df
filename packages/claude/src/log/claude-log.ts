import type { CapturedEvent, DispatchStatus, Fidelity, JsonValue, Usage } from '@hansard/events';
import type { ClaudeDiagnostic } from '../json-lines/claude-diagnostic.ts';
import type { DiagnosticCounts } from './diagnostic-log.ts';

export interface ReadLogOptions {
  /** Absent: `full`. */
  readonly fidelity?: Fidelity;
  /** Milliseconds since 1970 for a log in which nothing has a time; otherwise it is not used. */
  readonly startsAt?: number;
  /** Ends the reading between two batches. */
  readonly signal?: AbortSignal;
  /** Told after each batch how many bytes were read so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** A session of Claude Code, or a recorded stream of the Agent SDK, that is about to be read. */
export interface ClaudeLog {
  readonly format: 'claude-transcript' | 'claude-stream';
  /** The files of it, the session's own first. */
  readonly files: readonly string[];
  /** Of all files. */
  readonly bytes: number;
  /**
   * A ULID of the session's id (of the name of the file, where the records have none) and its first time. The same file
   * has the same, however much of it there is, from the first record with a time on.
   */
  readonly dispatchId: string;
  readonly sessionId: string | null;
  readonly cwd: string | null;
  /** Milliseconds since 1970: the first time that a record has, or when the file was written last. */
  readonly startedAt: number;
  /** Whether any record has a time. */
  readonly hasTime: boolean;
  /**
   * The events in batches, in the order of the files, each with id and time. Of a file that has grown, they are the same
   * and then more. What is unfinished at the end is held back, and in the report. Once for each log.
   * @throws FORMAT_UNREADABLE
   */
  read(options?: ReadLogOptions): AsyncGenerator<CapturedEvent[]>;
  /** What was read: complete when `read` has ended. */
  summary(): ClaudeLogSummary;
}

export interface ClaudeLogSummary {
  readonly records: number;
  /** What was unusual, by file and line: the first 20 of each code in each file. */
  readonly diagnostics: readonly ClaudeDiagnostic[];
  readonly lines: number;
  readonly events: number;
  /** How often each diagnostic was found; `diagnostics` has the first 20 of each in each file. */
  readonly counts: DiagnosticCounts;
  readonly model: string | null;
  readonly completedAt: number;
  readonly status: Exclude<DispatchStatus, 'running'>;
  /** Of all messages, the last of which is perhaps not an event yet. */
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly structuredResult: JsonValue | null;
}

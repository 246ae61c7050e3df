import type { CapturedEvent, DispatchStatus, EventOf, Fidelity, JsonValue } from '@hansard/events';
import type { ClaudeDiagnostic } from '../json-lines/claude-diagnostic.ts';
import type { DiagnosticCounts } from './diagnostic-log.ts';
import type { ContinuedSession } from './read-log-head.ts';

export interface ReadLogOptions {
  /** Absent: `full`. */
  readonly fidelity?: Fidelity;
  /** Milliseconds since 1970. Used only for a log without any time. */
  readonly startsAt?: number;
  /** Stops reading between two batches. */
  readonly signal?: AbortSignal;
  /** Called after each batch with the number of bytes read so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** A session of Claude Code, or a recorded stream of the Agent SDK, that is open for reading. */
export interface ClaudeLog {
  readonly format: 'claude-transcript' | 'claude-stream';
  /** The files, with the file of the session itself first. */
  readonly files: readonly string[];
  /** Total size of all files. */
  readonly bytes: number;
  /**
   * A ULID derived from the session id (from the file name, if the records have none) and its first time. It stays the
   * same when the file grows, from the first record with a time on.
   */
  readonly dispatchId: string;
  readonly sessionId: string | null;
  /** The session whose records are copied at the start of the file; null for most sessions. */
  readonly continues: ContinuedSession | null;
  readonly cwd: string | null;
  /** Milliseconds since 1970: the first time in the records, or the modification time of the file. */
  readonly startedAt: number;
  /** Whether any record has a time. */
  readonly hasTime: boolean;
  /**
   * The events in batches, in the order of the files, each with id and time. A file that has grown gives the same events
   * and then more. An unfinished record at the end is held back and reported. Can be called once per log.
   * @throws FORMAT_UNREADABLE
   */
  read(options?: ReadLogOptions): AsyncGenerator<CapturedEvent[]>;
  /** Counts, totals and diagnostics. Complete when `read` has ended. */
  summary(): ClaudeLogSummary;
  /**
   * The rest of the log after an earlier reading, whose summary had `kept`. Null if the log does not begin with what was read
   * then, and for a recorded stream. The bytes of the earlier reading are compared by their checksum; only lines that may still matter are parsed.
   */
  continueAfter(kept: JsonValue): ClaudeLogRest | null;
}

/** The rest of a log. */
export interface ClaudeLogRest extends Pick<ClaudeLog, 'read'> {
  /** Counts, model, status and end are those of the whole log; usage and diagnostics, those of the rest. */
  summary(): ClaudeLogSummary;
  /** Whether the rest refers to a part that was not parsed again, so that the whole log has to be read. `read` then ends early. */
  isLost(): boolean;
}

/** Counts of the parts of a log. */
export interface ReadingCounts {
  readonly lines: number;
  readonly records: number;
  readonly events: number;
  readonly messages: number;
}

export interface ClaudeLogSummary {
  readonly records: number;
  /** Diagnostics by file and line: the first 20 of each code in each file. */
  readonly diagnostics: readonly ClaudeDiagnostic[];
  readonly lines: number;
  readonly events: number;
  /** The number of diagnostics of each code. */
  readonly counts: DiagnosticCounts;
  readonly model: string | null;
  readonly completedAt: number;
  /** Milliseconds since 1970: the latest time of all records. Null: none has a time. */
  readonly lastRecordAt: number | null;
  /** `running`: the log does not show an end. */
  readonly status: DispatchStatus;
  /** The status of a `running` session if no record follows. */
  readonly statusIfQuiet: Exclude<DispatchStatus, 'running'>;
  /** The `agent:inference` events that messages become which may continue, as they would be now. By time. */
  readonly openCalls: readonly EventOf<'agent:inference'>[];
  readonly structuredResult: JsonValue | null;
  /** The uuid of the last message of the session itself; null: none has one. */
  readonly lastMessage: string | null;
  /** The `leafUuid` of each summary: the last messages of other sessions, as a rule. At most 1,000. */
  readonly summarises: readonly string[];
  /** What `continueAfter` needs after this reading; null if the log has to be read as a whole. It holds no content. */
  readonly kept: JsonValue | null;
}

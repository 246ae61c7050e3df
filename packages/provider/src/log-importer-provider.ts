import type {
  CapturedEvent,
  Diagnostic,
  DispatchSource,
  DispatchStatus,
  EventOf,
  Fidelity,
  JsonValue,
  SourceBalance,
} from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';

/**
 * Reads the logs of one format, so that an import can record them. It reads files and writes nothing; the import owns the
 * store, the task and the dispatch.
 *
 * What it may assume:
 * - `detect`, `hasRecord` and `group` get the start of regular files that were readable a moment before.
 * - `open` is called for one log at a time. Its dispatches are then read one after the other.
 * - `read` is called at most once for each opened log. It is left early if the signal aborts or recording fails.
 * - Batches are copied when they are recorded.
 *
 * What it must do:
 * - Keep `detect`, `hasRecord` and `group` pure, and fast enough for folders of thousands of files.
 * - Give the same `dispatchId` for the same log, including after it has grown, so that a second import finds its dispatch.
 * - Give each event its own id. A log that has grown has the same events and then more: ids decide which events are new.
 * - Report unusual records as diagnostics, and continue to read.
 * - Account for everything: what the files have is recorded, or left out with a count and a reason (`LogSummary.balance`).
 * - Let `summary` describe what was read so far at any time: it is also called after `read` was left or threw.
 *
 * What it may throw: any error, preferably one with a code (`defineErrors`). An error of `detect`, `hasRecord` or `open` ends the
 * import of that log and no other. If `read` throws, the events before it stay recorded and the dispatch is `aborted` until
 * another import completes it. `group` must not throw: its error ends the whole import.
 *
 * How it is stopped: `signal` of `read` aborts. The reader ends between two batches; a batch that arrives later is not recorded.
 */
export interface LogImporterProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** The name of the format, such as `claude-transcript`. If two importers have one name, the built-in one is used. */
  readonly id: string;
  /** The kind of log, for messages, such as `a transcript of Claude Code`. */
  readonly title: string;

  /**
   * How the names of its files end, beside `.jsonl`, such as `.json`. In a folder, such a file is a log if `detect` says so. Absent: only `.jsonl`,
   * also compressed.
   */
  readonly endings?: readonly string[];

  /** Whether the start of a file shows this format, by most of its records. */
  detect(head: LogHead): boolean;

  /**
   * Whether the start of a file has any record of this format. Asked if the user names the format. A file without one is
   * refused if another importer detects it; otherwise `open` decides. Absent: as `detect`.
   */
  hasRecord?(head: LogHead): boolean;

  /** Which of the files that it reads are one log together. Absent: each file is a log. */
  group?(files: readonly LogFile[]): readonly (readonly string[])[];

  /**
   * Opens the dispatches of one log, in the order in which they are to be recorded. Most logs hold one.
   * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NO_RECORDS
   */
  open(source: LogSource, context: LogContext): Awaitable<readonly OpenLog[]>;

  /** Releases what the importer holds. Called by its owner after the last import; a second call does nothing. */
  close?(): Awaitable<void>;
}

/** The start of a file. */
export interface LogHead {
  readonly path: string;
  /** The first megabyte, decompressed where the file is compressed. */
  readonly text: string;
  /** Whether the file has more, so that the last line of `text` may be cut. */
  readonly isCut: boolean;
}

/** A file that may be a part of a log. */
export interface LogFile {
  readonly path: string;
  /** Whether the user named the file and its format, and so said that the named files belong together. */
  readonly isNamed: boolean;
  /** Reads the start of the file. */
  head(): LogHead;
}

/** The files of one log. */
export interface LogSource {
  /** Absolute paths. The first is the file of the log itself; then those of its sub-agents, or its other parts. */
  readonly files: readonly string[];
  /** Of all files. */
  readonly bytes: number;
}

export interface LogContext {
  /** Milliseconds since 1970. No event and no envelope may have it: a time that the log does not record stays null. */
  now(): number;
}

/** One dispatch of a log that is about to be read, and its facts. */
export interface OpenLog {
  readonly format: string;
  /** The files of the log, its own first. */
  readonly files: readonly string[];
  /** A ULID. */
  readonly dispatchId: string;
  /** The dispatch that this one continues, in the same task. */
  readonly parentDispatchId?: string;
  /** Absent: `imported`. */
  readonly role?: string;
  /** The first time that the log records, in milliseconds since 1970. Null: it records none. */
  readonly startedAt: number | null;
  readonly cwd?: string | null;
  /** The task that the log itself names. Absent: the user has to name one. */
  readonly taskDir?: string;
  /**
   * The file of the log, where only its name, its folder and the first record identify the log. Two such logs of one
   * import with the same `dispatchId` are refused. Absent: the log has an id or a time.
   */
  readonly identifiedByPlace?: string;

  /**
   * Whether the source is written again while it grows, so that what was read before can change. The id of an event then names an item of the
   * source. An item that has changed is recorded as another event, `ID:rewritten-2`, which retracts the one before; an item that was redacted
   * stays as it is. Absent: what was read stays.
   */
  readonly isMutable?: boolean;

  /** The events in batches, each with an id, and with its time if the log records it. */
  read(options?: ReadOpenLogOptions): AsyncIterable<readonly CapturedEvent[]>;

  /** A summary of what was read so far: complete when `read` has ended. */
  summary(): LogSummary;

  /**
   * Whether several records of the source hold the message of this event, which `read` has given. What the event has
   * besides the words depends on the records that were there when it was read. If the store has an event with this
   * id, that event stays, and this one is not added. Absent: no.
   */
  isInSeveralRecords?(eventId: string): boolean;

  /**
   * The rest of the log after an earlier reading, whose summary had `kept`, so that a log that grew need not be read as a
   * whole. The events of both readings together must be those of the whole log. Null: the log does not begin with what was
   * read then, or does not show it. Absent: the log is always read as a whole.
   */
  continueAfter?(kept: JsonValue): Awaitable<LogRest | null>;
}

/** The rest of a log: the events that the earlier reading did not give. */
export interface LogRest extends Pick<OpenLog, 'read'> {
  /** As for the whole log, with the diagnostics of the rest. */
  summary(): LogSummary;
  /** Whether the rest depends on something that was not read again. `read` then ends early, and the whole log is read. */
  isLost(): boolean;
}

export interface ReadOpenLogOptions {
  readonly fidelity?: Fidelity;
  /** Ends the reading between two batches. */
  readonly signal?: AbortSignal;
  /** Gets the number of bytes that were read so far, after each batch. */
  readonly onProgress?: (bytes: number) => void;
}

export interface LogSummary {
  readonly records: number;
  readonly events: number;
  /**
   * What happened to the records, bytes and files that were read so far. A record is a unit of the format, and so is each text that could not
   * be read as one. Reasons are short names, such as `repeated`. `BalanceSheet` of `@hansard/events` counts it. For the rest of a log, that
   * of the whole log.
   */
  readonly balance: SourceBalance;
  /** Absent: the format does not count lines. */
  readonly lines?: number;
  /**
   * `running`: the source does not show an end. The dispatch is then released, and no start-up ends it. An import ends it
   * when the log is quiet.
   */
  readonly status: DispatchStatus;
  /** The status that a `running` log has once it is quiet. Absent: `crashed`. */
  readonly statusIfQuiet?: Exclude<DispatchStatus, 'running'>;
  /** The time of the last record, in milliseconds since 1970. Null or absent: no record has one, and that of the files counts. */
  readonly lastRecordAt?: number | null;
  /**
   * The model calls at the end that can still change, as the events that they would be now. They are not among the events
   * that were read. No `session:complete` of the log has counted them. With `isMore`: what a call with an event of its own has used more than that
   * event says; it does not count as a further call. Absent: none.
   */
  readonly openCalls?: readonly (EventOf<'agent:inference'> & { readonly isMore?: true })[];
  /** The latest time that the log records, in milliseconds since 1970. Null: it records none. */
  readonly completedAt: number | null;
  /** What was unusual; long lists may be cut. */
  readonly diagnostics: readonly Diagnostic[];
  /** How often each diagnostic was found. */
  readonly counts: Readonly<Record<string, number>>;
  readonly model?: string | null;
  readonly structuredResult?: JsonValue | null;
  /** The id of the last message in the source. Null or absent: none has an id. */
  readonly lastMessage?: string | null;
  /** The last messages of the sessions that the log has summaries of. Absent: none. */
  readonly summarises?: readonly string[];
  /** See `heads` of `DispatchSource`. Absent: none. */
  readonly heads?: readonly string[];
  /** The `session:rewind` that the next record makes if it continues from there. Absent or null: nothing announces one. */
  readonly openRewind?: DispatchSource['openRewind'] | null;
  /** What `continueAfter` needs after this reading. It is kept in the envelope, so it is short and holds no content. */
  readonly kept?: JsonValue | null;
}

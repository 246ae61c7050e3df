import type { CapturedEvent, Diagnostic, DispatchStatus, Fidelity, JsonValue, Usage } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';

/**
 * Reads the logs of one format, so that an import can record them. It reads files and writes nothing; the import owns the
 * store, the task and the dispatch.
 *
 * What it may assume:
 * - `detect`, `hasRecord` and `group` get the start of files that can be read. They are pure, and fast enough for folders
 *   of thousands of files.
 * - `open` gets regular files that could be read a moment ago. Each call is for one log, and two calls never run at once.
 * - `read` is called at most once for each opened log, and is left at any time: when the signal aborts, and when recording fails.
 *
 * What it must do:
 * - Give the same `dispatchId` for the same log, also after it has grown, so that a second import finds its dispatch.
 * - Give each event an id of its own, and of a log that has grown the same events and then more. Ids decide what is new.
 * - Report what is unusual as a diagnostic, and read on.
 *
 * What it may throw: an error with a code (`defineErrors`), which ends the import of that log and no other.
 */
export interface LogImporterProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** The name of the format, such as `claude-transcript`. The built-in importers come first where two have the same. */
  readonly id: string;
  /** What a log of it is, in words for messages, such as `a transcript of Claude Code`. */
  readonly title: string;
  /** Where its logs usually are; `~/` is the home folder of the user. Absent: nowhere in particular. */
  readonly usualPaths?: readonly string[];

  /** Whether the start of a file shows this format, by most of its records. */
  detect(head: LogHead): boolean;

  /**
   * Whether the start of a file has any record of this format. A file without one is refused, even where the user names
   * the format. Absent: as `detect`.
   */
  hasRecord?(head: LogHead): boolean;

  /** Which of the files that it reads are one log together. Absent: each file is a log. */
  group?(files: readonly LogFile[]): readonly (readonly string[])[];

  /**
   * Opens the dispatches of one log, in the order in which they are to be recorded. Most logs hold one.
   * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NO_RECORDS
   */
  open(source: LogSource, context: LogContext): Awaitable<readonly OpenLog[]>;

  /** Releases what the importer holds. Called once, after the last import. */
  close?(): Awaitable<void>;
}

/** The start of a file. */
export interface LogHead {
  readonly path: string;
  /** The first megabyte as UTF-8. */
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
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * When the first of these dispatches that the store has was started, in milliseconds since 1970; null where it has
   * none. A log without times takes it, so that a second import gives its events the time of the first. `taskDir` is the
   * task that the log itself names; a task that the user named comes first.
   */
  findStart(dispatchIds: readonly string[], taskDir?: string): Promise<number | null>;
}

/** One dispatch of a log that is about to be read, and its facts. */
export interface OpenLog {
  readonly format: string;
  /** The files of the log, its own first. */
  readonly files: readonly string[];
  /** A ULID. */
  readonly dispatchId: string;
  /** Absent: `imported`. */
  readonly role?: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly cwd?: string | null;
  /** The only fidelity that the log is recorded at. Absent: the one that the user asks for, or else `full`. */
  readonly fidelity?: Fidelity;
  /** The task that the log itself names. Absent: the user has to name one. */
  readonly taskDir?: string;
  /**
   * The file of the log, where only its name, its folder and the first record identify the log. Two such logs of one
   * import with the same `dispatchId` are refused. Absent: the log has an id or a time.
   */
  readonly identifiedByPlace?: string;

  /** The events in batches, each with id and time. */
  read(options?: ReadOpenLogOptions): AsyncIterable<readonly CapturedEvent[]>;

  /** What was read: complete when `read` has ended. */
  summary(): LogSummary;
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
  /** Absent: the format does not count lines. */
  readonly lines?: number;
  readonly status: Exclude<DispatchStatus, 'running'>;
  /** Milliseconds since 1970: the time of the last event. */
  readonly completedAt: number;
  /** What was unusual; long lists may be cut. */
  readonly diagnostics: readonly Diagnostic[];
  /** How often each diagnostic was found. */
  readonly counts: Readonly<Record<string, number>>;
  readonly model?: string | null;
  readonly usage?: Usage | null;
  readonly costUsd?: number | null;
  readonly structuredResult?: JsonValue | null;
}

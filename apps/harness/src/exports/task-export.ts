import type { JsonObject, RedactionCounts, TaskSource } from '@hansard/events';
import type { Option } from 'commander';
import type { CliContext } from '../terminal/context.ts';

interface ExportFormat {
  /** Its name for `--as`. */
  readonly id: string;
  /** Its description in the help: half a line. */
  readonly description: string;
  /** One text (to `--out FILE`, else standard output), or files in a new folder (`--out FOLDER`). */
  readonly target: 'text' | 'folder';
  /** Whether the text is JSON lines. On standard output, control characters in it become escapes. */
  readonly isJson?: true;
  /** Its own options. Formats can share an option by its name. */
  readonly options?: readonly Option[];
}

/** A format for one task. It writes while it reads, so that a log of any length fits in memory. */
export interface TaskExport extends ExportFormat {
  /** The default export: the latest dispatch, or every dispatch of the task. */
  readonly scope: 'latest' | 'task';
  write(
    source: ExportSource,
    target: ExportTarget,
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExportSummary>;
}

/** A format for any number of tasks. */
export interface StoreExport extends ExportFormat {
  readonly scope: 'store';
  /** Each source is read before the next one is asked for. */
  write(
    sources: AsyncIterable<ExportSource>,
    target: ExportTarget,
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExportSummary>;
}

/** The dispatches of a task that are exported. Reading their events ends with an AbortError at Ctrl-C. */
export interface ExportSource extends TaskSource {
  readonly context: CliContext;
  /** The secrets that were replaced in what was read, by their kind. */
  redactions(): RedactionCounts;
}

export interface ExportTarget {
  /** The text, for target `text`. */
  readonly text: TextSink;
  /** Opens a new file, for target `folder`. Its name can have folders. @throws CliError if it can't be written */
  file(name: string): FileSink;
}

export interface TextSink {
  /** Resolves when more can be written. */
  write(text: string): Promise<void>;
}

export interface FileSink extends TextSink {
  /** Closes the file before the others. Resolves when it is whole. */
  end(): Promise<void>;
}

export interface ExportSummary {
  /** The row that `--json` prints. */
  readonly summary: JsonObject;
  /** Notes for the user, such as omissions with their reason. */
  readonly notes: readonly string[];
}

import type { JsonObject, TaskSource } from '@hansard/events';
import type { Option } from 'commander';
import type { CliContext } from '../terminal/context.ts';

/** One format that `hansard export` writes. It reads events as they come and writes as it reads: nothing is held back. */
export interface TaskExport {
  /** What `--as` calls it. */
  readonly id: string;
  /** What it is, for the help: half a line. */
  readonly description: string;
  /** What is exported where no dispatch is named: the latest one, or every dispatch of the task. */
  readonly scope: 'latest' | 'task';
  /** One text (to `--out FILE`, else standard output), or files in a new folder (`--out FOLDER`). */
  readonly target: 'text' | 'folder';
  /** Its own options. Options of several formats that have one name are one option. */
  readonly options?: readonly Option[];
  write(
    source: ExportSource,
    target: ExportTarget,
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExportSummary>;
}

/** The dispatches of a task that are exported. Reading their events ends with an AbortError at Ctrl-C. */
export interface ExportSource extends TaskSource {
  readonly context: CliContext;
}

export interface ExportTarget {
  /** Of target `text`: where it goes. */
  readonly text: TextSink;
  /** Of target `folder`: a new file of it. @throws CliError where it can't be written */
  file(name: string): TextSink;
}

export interface TextSink {
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
}

interface ExportSummary {
  /** What `--json` prints. */
  readonly summary: JsonObject;
  /** What somebody should know: what was left out, and why. */
  readonly notes: readonly string[];
}

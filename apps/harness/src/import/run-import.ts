import type { Fidelity } from '@hansard/events';
import { type ImportFailure, importLogs, isImportError, logImporters } from '@hansard/import';
import { type Harness, withHarness } from '../harness.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CommonOptions } from '../terminal/command.ts';
import { type CliContext, note, printJson } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { createProgress } from '../terminal/progress.ts';
import { HeapRestraint } from './heap-restraint.ts';
import { printImport } from './print-import.ts';

export interface RunImportOptions {
  readonly task?: string;
  readonly as?: string;
  readonly fidelity?: Fidelity;
  readonly json?: boolean;
}

/** Imports all logs below some paths, with the known importers and those of plugins, and prints each. */
export function runImport(
  context: CliContext,
  paths: readonly string[],
  { config, ...options }: CommonOptions & RunImportOptions,
): Promise<void> {
  return withHarness(context, { config, load: 'live without communication' }, (harness) =>
    printImports(context, harness, paths, options),
  );
}

/** A failed log does not stop the others. */
async function printImports(
  context: CliContext,
  { store, plugins }: Harness,
  paths: readonly string[],
  { task, as, fidelity, json = false }: RunImportOptions,
): Promise<void> {
  const { signal } = context;
  const progress = createProgress(context, 'importing, bytes');
  using heap = new HeapRestraint();
  let failed = 0;
  const items = importLogs(store, paths, {
    task: task === undefined ? undefined : toTaskDir(task),
    as,
    fidelity,
    importers: [...logImporters, ...plugins.providers('LogImporterProvider').map(({ provider }) => provider)],
    signal,
    onProgress: ({ bytes, of }) => {
      heap.hold();
      progress.update(bytes, of);
    },
  });
  try {
    for await (const item of items) {
      progress.end();
      if (item.kind === 'failed') {
        const error = inCommandWords(item.error);
        if (signal.aborted || item.isOnly) throw error;
        noteFailure(context, item, error, json);
        failed += 1;
        continue;
      }
      printImport(context, item, json);
      const { lines, files } = item;
      if (signal.aborted) throw interrupted(lines === undefined ? files.join(', ') : (files[0] ?? ''));
    }
  } finally {
    progress.end();
  }
  if (failed > 0)
    throw new CliError(
      exitCode.failed,
      failed === 1 ? '1 file or folder was not imported.' : `${failed} files or folders were not imported.`,
      'The messages above have the reasons; everything else was imported.',
    );
}

function noteFailure(context: CliContext, { path }: ImportFailure, error: unknown, json: boolean): void {
  const { message, advice } = explainError(error);
  note(context, `hansard: ${message}\n  ${advice}`);
  if (json) printJson(context, { file: path, error: message });
}

/** Adds the detected format to the advice. */
function inCommandWords(error: unknown): unknown {
  if (!isImportError(error, 'IMPORT_FORMAT_MISMATCH')) return error;
  const { message, details } = error;
  return new CliError(
    exitCode.usage,
    `${message}`,
    `Use --as ${details.detected}, or remove --as to detect the format from the records.`,
    { cause: error },
  );
}

function interrupted(file: string): CliError {
  return new CliError(
    exitCode.failed,
    `The import of ${file} was interrupted.`,
    'The recorded part is kept; import it again to complete it.',
  );
}

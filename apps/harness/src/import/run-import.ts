import { resolve } from 'node:path';
import type { Fidelity } from '@hansard/events';
import { type ImportFailure, importLogs, isImportError, logImporters, readPriceFile } from '@hansard/import';
import type { PriceTable } from '@hansard/views';
import type { LoadedConfig } from '../config.ts';
import { type Harness, openHarness } from '../harness.ts';
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

/** Imports all files that some paths mean, with the importers of plugins beside the known ones, and prints each. */
export async function runImport(
  context: CliContext,
  paths: readonly string[],
  { config, ...options }: CommonOptions & RunImportOptions,
): Promise<void> {
  const harness = await openHarness(context, { config, load: 'live without communication' });
  try {
    await printImports(context, harness, paths, options);
  } finally {
    await harness.close();
  }
}

/** A log that fails stops none of the others. */
async function printImports(
  context: CliContext,
  { store, plugins, loaded }: Harness,
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
    prices: pricesOf(loaded),
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
      'The messages above say why; everything else was imported.',
    );
}

/** Undefined: the standard table. */
function pricesOf({ config: { prices }, baseDir }: LoadedConfig): PriceTable | false | undefined {
  return typeof prices === 'string' ? readPriceFile(resolve(baseDir, prices)) : prices;
}

function noteFailure(context: CliContext, { path }: ImportFailure, error: unknown, json: boolean): void {
  const { message, advice } = explainError(error);
  note(context, `hansard: ${message}\n  ${advice}`);
  if (json) printJson(context, { file: path, error: message });
}

/** The format that a file has is a part of the advice. */
function inCommandWords(error: unknown): unknown {
  if (!isImportError(error, 'IMPORT_FORMAT_MISMATCH')) return error;
  const { message, details } = error;
  return new CliError(
    exitCode.usage,
    `${message} Say --as ${details.detected}.`,
    'Without --as, the records show the format.',
    { cause: error },
  );
}

function interrupted(file: string): CliError {
  return new CliError(
    exitCode.failed,
    `${file} was imported in part: the import was interrupted.`,
    'What was recorded is safe; import it again to complete it.',
  );
}

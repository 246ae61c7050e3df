import type { Harness } from '@hansard/compose';
import { definedOnly, type Fidelity } from '@hansard/events';
import { type ImportItem, importErrors } from '@hansard/import';
import { withHarness } from '../harness.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CommonOptions } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { createProgress } from '../terminal/progress.ts';
import { importLine, importRow, noteImport } from './import-answer.ts';

export interface RunImportOptions {
  readonly task?: string;
  readonly as?: string;
  readonly fidelity?: Fidelity;
  readonly reread?: boolean;
  /** Milliseconds. */
  readonly quietAfter?: number;
}

/** Imports all logs below some paths, with the known importers and those of plugins, and prints each. */
export function runImport(
  context: CliContext,
  paths: readonly string[],
  options: CommonOptions & RunImportOptions,
): Promise<void> {
  const { config, root } = options;
  return withHarness(context, { config, root, load: 'record' }, (harness) => {
    const items = importItems(context, harness, paths, options);
    return printAnswer(context, options, { rows: rowsOf(items), text: linesOf(items) });
  });
}

async function* rowsOf(items: AsyncIterable<ImportItem>): AsyncGenerator<object> {
  for await (const item of items)
    yield item.kind === 'failed'
      ? { file: item.path, error: explainError(item.error).message }
      : importRow(item);
}

async function* linesOf(items: AsyncIterable<ImportItem>): AsyncGenerator<string> {
  for await (const item of items) if (item.kind !== 'failed') yield importLine(item);
}

/** Imports log by log and notes the problems of each. A failed log does not stop the others. @throws CliError if one failed */
async function* importItems(
  context: CliContext,
  harness: Harness,
  paths: readonly string[],
  { task, as, fidelity, reread, quietAfter }: RunImportOptions,
): AsyncGenerator<ImportItem> {
  const { signal } = context;
  const progress = createProgress(context, 'importing, bytes');
  let failed = 0;
  const items = harness.import(paths, {
    ...definedOnly({ task, as, fidelity, reread, quietAfterMs: quietAfter }),
    onProgress: (bytes, of) => progress.update(bytes, of),
  });
  try {
    for await (const item of items) {
      progress.end();
      if (item.kind === 'failed') {
        const error = inCommandWords(item.error);
        if (signal.aborted || item.isOnly) throw error;
        const { message, advice } = explainError(error);
        note(context, `hansard: ${message}\n  ${advice}`);
        failed += item.files ?? 1;
        yield { ...item, error };
        continue;
      }
      if (item.kind === 'imported') noteImport(context, item);
      yield item;
      const { files } = item;
      const lines = item.kind === 'imported' ? item.lines : undefined;
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

/** Adds the detected format to the advice. */
function inCommandWords(error: unknown): unknown {
  if (!importErrors.is(error, 'IMPORT_FORMAT_MISMATCH')) return error;
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

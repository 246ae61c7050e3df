import { closeSync, openSync, readSync } from 'node:fs';
import { CliError, exitCode } from '../cli-error.ts';
import { type CliContext, note, printJson } from '../context.ts';
import { explainError } from '../explain-error.ts';
import type { Harness } from '../harness.ts';
import { createProgress } from '../progress.ts';
import { findImportFiles, type ImportFile } from './find-import-files.ts';
import { type ImportFileOptions, importFile } from './import-file.ts';
import { type ImportFormatId, isGameFormat } from './import-formats.ts';
import { importGames } from './import-games.ts';
import { YoungGeneration } from './young-generation.ts';

export type ImportOptions = Omit<ImportFileOptions, 'as'> & { readonly as?: ImportFormatId };

/** Imports all files that some paths mean, one after the other. One that can't be read stops none of the others. */
export async function importPaths(
  context: CliContext,
  { store }: Harness,
  paths: readonly string[],
  { as, ...options }: ImportOptions,
): Promise<void> {
  if (as !== undefined && isGameFormat(as)) {
    await importGames(context, store, paths, as, options);
    return;
  }
  const fileOptions: ImportFileOptions = { ...options, ...(as === undefined ? {} : { as }) };
  const problems: unknown[] = [];
  const files = new Map<string, ImportFile>();
  for (const path of paths) {
    try {
      for (const file of findImportFiles(path, readSessionId)) files.set(file.path, file);
    } catch (error) {
      if (paths.length === 1) throw error;
      tell(context, path, error, fileOptions, problems);
    }
  }
  const all = [...files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const progress = createProgress(context, 'importing, bytes');
  using young = new YoungGeneration();
  let done = 0;
  for (const file of files.values()) {
    try {
      await importFile(context, store, file, fileOptions, (bytes) => {
        young.hold();
        progress.update(done + bytes, all);
      });
    } catch (error) {
      progress.end();
      if (context.signal.aborted || (paths.length === 1 && files.size === 1)) throw error;
      tell(context, file.path, error, fileOptions, problems);
    }
    done += file.bytes;
  }
  progress.end();
  if (problems.length === 0) return;
  throw new CliError(
    exitCode.failed,
    `${problems.length} files or folders were not imported.`,
    'Their names and what is amiss stand above; the others are in the log.',
  );
}

function tell(
  context: CliContext,
  file: string,
  error: unknown,
  { json }: ImportFileOptions,
  problems: unknown[],
): void {
  problems.push(error);
  const { message } = explainError(error);
  note(context, `hansard: ${message}`);
  if (json) printJson(context, { file, error: message });
}

const bytesOfStart = 64 * 1024;

/** The session that the first record of a file names. */
function readSessionId(path: string): string | null {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(bytesOfStart);
    const start = bytes.toString('utf8', 0, readSync(descriptor, bytes));
    return /"sessionId":"([A-Za-z0-9._-]+)"/.exec(start)?.[1] ?? null;
  } finally {
    closeSync(descriptor);
  }
}

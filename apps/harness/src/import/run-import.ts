import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Harness, type HarnessImportOptions, storePlace } from '@hansard/compose';
import { timeLimitsOf } from '@hansard/compose/reading';
import { definedOnly, type Fidelity } from '@hansard/events';
import { formatCount } from '@hansard/facts';
import {
  type GitCheckpoints,
  type ImportItem,
  importErrors,
  type LogFilter,
  writeCheckpoints,
} from '@hansard/import';
import { withHarness } from '../harness.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CommonOptions } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { createProgress } from '../terminal/progress.ts';
import { importLine, importRow, leftOutLine, noteImport, unreadLine, unreadRow } from './import-answer.ts';
import { chooseFolders, homeOf, machineOf, toAbsolute } from './import-home.ts';
import { openTrial, type Trial } from './trial-import.ts';

export interface RunImportOptions {
  readonly task?: string;
  readonly as?: string;
  readonly fidelity?: Fidelity;
  readonly reread?: boolean;
  /** Milliseconds. */
  readonly quietAfter?: number;
  readonly since?: string;
  readonly project?: string;
  readonly exclude?: readonly string[];
  readonly again?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly mirrored?: boolean;
  /** The folder of a Git repository; true: the current one. */
  readonly fromGit?: string | true;
}

/** What is imported: the logs below some paths, or sessions that were mirrored into the store. */
interface Imported {
  readonly paths: readonly string[];
  readonly sessions?: HarnessImportOptions['sessions'];
  /** The mirrored sessions that runs have captured. */
  readonly captured: readonly string[];
  /** Whether they are folders of products in the home folder of this machine. */
  readonly isHome?: boolean;
  readonly checkpoints?: GitCheckpoints;
}

/**
 * Imports all logs below some paths, with the known importers and those of plugins, or what was mirrored into the store, and prints each. A home folder is
 * surveyed first.
 */
export function runImport(
  context: CliContext,
  paths: readonly string[],
  options: CommonOptions & RunImportOptions,
): Promise<void> {
  const { config, root, dryRun = false, mirrored = false, fromGit } = options;
  const isHome = paths.length === 1 && paths[0] === homeOf(context);
  return withHarness(context, { config, root, load: 'record' }, async (harness) => {
    using written = fromGit === undefined ? null : new TemporaryFolder();
    const chosen: Imported = mirrored
      ? await mirroredIn(harness)
      : fromGit !== undefined
        ? await keptInGit(context, fromGit, written?.path ?? '')
        : { paths: isHome ? await chooseFolders(context, harness, options) : paths, captured: [], isHome };
    if (chosen.paths.length === 0 && !mirrored) return;
    const trial = dryRun ? await openTrial(harness) : null;
    let notes: readonly string[] = [];
    const items = (async function* () {
      yield* importItems(context, harness, chosen, options, trial);
      notes = (await trial?.notes()) ?? [];
    })();
    try {
      await printAnswer(context, options, {
        rows: rowsOf(items, trial),
        text: linesOf(items, trial),
        notesAfter: () => notes,
      });
    } finally {
      await trial?.close();
    }
  });
}

class TemporaryFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'hansard-checkpoints-'));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The sessions that entire.io has kept in a repository, as files of a folder. */
async function keptInGit(context: CliContext, fromGit: string | true, folder: string): Promise<Imported> {
  const place = fromGit === true ? context.cwd : toAbsolute(context, fromGit);
  const checkpoints = await writeCheckpoints(place, folder);
  const { files, without } = checkpoints;
  if (without.length > 0)
    note(
      context,
      `hansard: ${formatCount(without.length, 'session')} without a transcript or its metadata in the checkpoints: ${[...new Set(without)].join(', ')}.`,
    );
  return { paths: [...files.keys()], captured: [], checkpoints };
}

/** @throws CliError if there are none */
async function mirroredIn(harness: Harness): Promise<Imported> {
  const { mirroredSessions } = await import('@hansard/agent-claude/session-store');
  const found = await mirroredSessions(harness.store);
  if (found.length === 0)
    throw new CliError(
      exitCode.failed,
      `No session of the Agent SDK is mirrored into ${storePlace(harness)}.`,
      'Give `createSessionStore` of @hansard/agent-claude/session-store to the SDK as `sessionStore`.',
    );
  const sessions = found.map(({ projectKey, sessionIds, captured, source }) => ({
    ...{ projectKey, source },
    sessionIds: sessionIds.filter((id) => !captured.includes(id)),
  }));
  return { paths: [], sessions, captured: found.flatMap(({ captured }) => captured) };
}

async function* rowsOf(items: AsyncIterable<ImportItem>, trial: Trial | null): AsyncGenerator<object> {
  for await (const item of items)
    if (item.kind === 'failed') yield { file: item.path, error: explainError(item.error).message };
    else if (item.kind === 'left-out') yield { leftOut: item.reason, files: item.paths };
    else if (item.kind === 'not-read') yield unreadRow(item);
    else yield trial === null ? importRow(item) : { ...importRow(item), ...(await trial.row(item)) };
}

async function* linesOf(items: AsyncIterable<ImportItem>, trial: Trial | null): AsyncGenerator<string> {
  for await (const item of items) {
    if (item.kind === 'failed' || item.kind === 'left-out' || item.kind === 'not-read') continue;
    yield trial === null ? importLine(item) : await trial.line(item);
  }
}

/** Imports log by log and notes the problems of each. A failed log does not stop the others. @throws CliError if one failed */
async function* importItems(
  context: CliContext,
  harness: Harness,
  { paths, sessions, captured, checkpoints, isHome = false }: Imported,
  options: CommonOptions & RunImportOptions,
  trial: Trial | null,
): AsyncGenerator<ImportItem> {
  const { task, as, fidelity, reread, quietAfter, again } = options;
  const { signal } = context;
  let place = '';
  const progress = createProgress(context, () => `importing${place}, bytes`);
  let failed = 0;
  const items = harness.import(paths, {
    ...definedOnly({ task, as, fidelity, reread, quietAfterMs: quietAfter, again, into: trial?.store }),
    ...definedOnly({ sessions, checkpoints, machine: isHome ? machineOf(context) : undefined }),
    filter: filterOf(context, options),
    onProgress: ({ bytes, of, log, logs }) => {
      place = logs === 1 ? '' : ` log ${log.toLocaleString('en')} of ${logs.toLocaleString('en')}`;
      progress.update(bytes, of);
    },
  });
  try {
    if (captured.length > 0) {
      const item = { kind: 'left-out', reason: 'captured', paths: captured } as const;
      note(context, `hansard: ${leftOutLine(item)}`);
      yield item;
    }
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
      if (item.kind === 'left-out') note(context, `hansard: ${leftOutLine(item)}`);
      if (item.kind === 'not-read') note(context, `hansard: ${unreadLine(item, homeOf(context))}`);
      yield item;
      if (item.kind === 'left-out' || item.kind === 'not-read') continue;
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

function filterOf(context: CliContext, { since, project, exclude = [] }: RunImportOptions): LogFilter {
  const isFolder = (name: string) => /[\\/]|^[.~]/.test(name);
  const pathOf = (name: string) => (isFolder(name) ? toAbsolute(context, name) : name);
  return {
    ...definedOnly(since === undefined ? {} : timeLimitsOf(context, { since }, null)),
    ...(project === undefined ? {} : { project: pathOf(project) }),
    exclude: exclude.map(pathOf),
  };
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

import type { Harness } from '../harness.ts';
import type { CliError } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';
import { createProgress } from '../terminal/progress.ts';
import { type AgentsBeside, findImportFiles, type ImportFile } from './find-import-files.ts';
import { groupGameLogs } from './group-game-logs.ts';
import { HeapRestraint } from './heap-restraint.ts';
import { type ImportFileOptions, importFile } from './import-file.ts';
import { detectImportFormat, type ImportFormatId, refuseOtherFormat } from './import-formats.ts';
import { importGames } from './import-games.ts';
import { ImportProblems } from './import-problems.ts';

export type ImportOptions = Omit<ImportFileOptions, 'taken'> & { readonly as?: ImportFormatId };

/** Imports all files that some paths mean, one after the other. One that can't be read stops none of the others. */
export async function importPaths(
  context: CliContext,
  { store }: Harness,
  paths: readonly string[],
  { as, ...given }: ImportOptions,
): Promise<void> {
  const options: ImportFileOptions = { ...given, taken: new Map() };
  const problems = new ImportProblems(context, given.json ?? false);
  const files = findAll(paths, as, problems);
  const isOnly = paths.length === 1 && files.length === 1;
  const gameFiles: string[] = [];
  const all = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const progress = createProgress(context, 'importing, bytes');
  using heap = new HeapRestraint();
  let done = 0;
  for (const file of files) {
    const { path, bytes } = file;
    try {
      const format = as ?? detectImportFormat(path);
      if (as !== undefined) refuseOtherFormat(path, as);
      // Those of game logs may be logs only together.
      if (format === 'game-log') gameFiles.push(path);
      else if (format === 'werewolf-match') await importGames(context, store, [path], format, options);
      else
        await importFile(context, store, file, format, options, (read) => {
          heap.hold();
          progress.update(done + read, all);
        });
    } catch (error) {
      progress.end();
      if (context.signal.aborted || isOnly) throw error;
      problems.tell(path, error);
    }
    done += bytes;
  }
  progress.end();
  const games = groupGameLogs(gameFiles, new Set(as === undefined ? [] : paths));
  for (const parts of games) {
    try {
      await importGames(context, store, parts, 'game-log', options);
    } catch (error) {
      const isAll = games.length === 1 && parts.length === files.length && problems.count === 0;
      if (context.signal.aborted || isAll) throw error;
      problems.tell(parts.join(', '), error);
    }
  }
  problems.throwIfAny();
}

function findAll(
  paths: readonly string[],
  as: ImportFormatId | undefined,
  problems: ImportProblems,
): ImportFile[] {
  const files = new Map<string, ImportFile>();
  const agentsBeside: AgentsBeside = new Map();
  const tell = (folder: string, error: CliError) => problems.tell(folder, error);
  for (const path of paths) {
    try {
      const found = findImportFiles(path, tell, agentsBeside);
      for (const file of found) files.set(file.path, file);
    } catch (error) {
      // The files that are named of a game log are one log.
      if (paths.length === 1 || as === 'game-log') throw error;
      problems.tell(path, error);
    }
  }
  // What was named beside its session, as a shell does with *.jsonl, comes in with it.
  const owned = new Set([...files.values()].flatMap(({ subAgents }) => subAgents));
  return [...files.values()].filter(({ path }) => !owned.has(path));
}

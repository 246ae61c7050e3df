import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LogSource } from '@hansard/provider';
import { type AgentsBeside, findLogFiles } from './find-log-files.ts';

export interface FoundLogs {
  readonly logs: readonly LogSource[];
  /** What could not be read. */
  readonly problems: readonly PathProblem[];
}

export interface PathProblem {
  readonly path: string;
  /** FORMAT_UNREADABLE, IMPORT_NO_LOGS or IMPORT_LINK_OUTSIDE. */
  readonly error: Error;
  /** Whether it is one of the paths that were named, and not a folder below one. */
  readonly isNamed: boolean;
}

/**
 * The logs that some paths mean, each once: a file itself; of a folder, all `.jsonl` files in it and below. The files of
 * sub-agents come with the session that they belong to.
 */
export function findLogs(paths: readonly string[]): FoundLogs {
  const found = new Map<string | undefined, LogSource>();
  const problems: PathProblem[] = [];
  const agentsBeside: AgentsBeside = new Map();
  for (const path of paths.map(toAbsolute)) {
    try {
      const onUnreadable = (folder: string, error: Error) =>
        problems.push({ path: folder, error, isNamed: false });
      for (const log of findLogFiles(path, onUnreadable, agentsBeside)) found.set(log.files[0], log);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push({ path, error, isNamed: true });
    }
  }
  // A sub-agent that was named beside its session, as a shell does with *.jsonl, is imported with it.
  const owned = new Set([...found.values()].flatMap(({ files }) => files.slice(1)));
  const logs = [...found.values()].filter(({ files: [file = ''] }) => !owned.has(file));
  return { logs, problems };
}

export function toAbsolute(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path);
}

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { CliError, exitCode } from '../cli-error.ts';
import { unreadable } from './import-formats.ts';

/** A file to import, with the transcripts of its sub-agents where it is a session. */
export interface ImportFile {
  readonly path: string;
  readonly subAgents: readonly string[];
  readonly bytes: number;
}

const subAgentsFolder = `${sep}subagents${sep}`;

/**
 * The files that a path means, in the order of their names: a file itself; of a folder, all `.jsonl` files in it and
 * below, sub-agents with their session; of the folder beside a session's file, that session.
 */
export function findImportFiles(path: string, readSessionId: (path: string) => string | null): ImportFile[] {
  const session = `${path}.jsonl`;
  const isFolder = isDirectory(path);
  if (isFolder && existsSync(join(path, 'subagents')) && existsSync(session))
    return findImportFiles(session, readSessionId);
  const all = isFolder ? listLogs(path) : [...new Set([path, ...subAgentsOf(path), ...flatAgents(path)])];
  const sessions = new Map<string, string[]>();
  const agents: string[] = [];
  const known = new Set(all);
  for (const file of all) {
    const owner = file === path ? null : ownerOf(file, readSessionId);
    if (owner !== null && known.has(owner)) agents.push(file);
    else sessions.set(file, []);
  }
  for (const file of agents) sessions.get(ownerOf(file, readSessionId) ?? '')?.push(file);
  if (isFolder && sessions.size === 0)
    throw new CliError(
      exitCode.failed,
      `${path} holds no .jsonl file.`,
      'Name a file, or a folder that holds some.',
    );
  return [...sessions].map(([file, subAgents]) => ({
    path: file,
    subAgents,
    bytes: sizes([file, ...subAgents]),
  }));
}

/** The session that a sub-agent's file belongs to, by where it lies; of older ones, which lie beside it, by what it says. */
function ownerOf(file: string, readSessionId: (path: string) => string | null): string | null {
  const at = file.lastIndexOf(subAgentsFolder);
  if (at >= 0) return `${file.slice(0, at)}.jsonl`;
  if (!basename(file).startsWith('agent-')) return null;
  const sessionId = readSessionId(file);
  return sessionId === null ? null : join(dirname(file), `${sessionId}.jsonl`);
}

function subAgentsOf(file: string): string[] {
  const folder = join(file.replace(/\.jsonl$/, ''), 'subagents');
  return existsSync(folder) ? listLogs(folder) : [];
}

function flatAgents(file: string): string[] {
  if (basename(file).startsWith('agent-') || !existsSync(dirname(file))) return [];
  return listNames(dirname(file))
    .filter((name) => name.startsWith('agent-') && name.endsWith('.jsonl'))
    .map((name) => join(dirname(file), name));
}

function listLogs(folder: string): string[] {
  return listNames(folder, true)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name))
    .filter((file) => !isDirectory(file));
}

function listNames(folder: string, recursive = false): string[] {
  try {
    return readdirSync(folder, { recursive, encoding: 'utf8' }).sort();
  } catch (cause) {
    throw unreadable(folder, cause);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function sizes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

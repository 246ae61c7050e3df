import { type Dirent, existsSync, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isFormatError } from '@hansard/events';
import type { LogSource } from '@hansard/provider';
import { ImportError } from '../import-error.ts';
import { readHead, unreadable } from './read-source.ts';

export type OnUnreadable = (folder: string, error: Error) => unknown;

/** The sub-agents' files that lie beside their sessions, by session, of each folder that was read. */
export type AgentsBeside = Map<string, ReadonlyMap<string | null, readonly string[]>>;

const subAgentsFolder = `${sep}subagents${sep}`;

/**
 * The files that a path means, in the order of their names, each with those of its sub-agents: a file itself; of a
 * folder, all `.jsonl` files in it and below; of the folder beside a session's file, that session. `onUnreadable` gets the
 * folders below that can't be read; a file that can't be read is among the files. Many paths share an `agentsBeside`, so
 * that each folder is read once.
 * @throws FORMAT_UNREADABLE, IMPORT_NO_LOGS
 */
export function findLogFiles(
  path: string,
  onUnreadable: OnUnreadable,
  agentsBeside: AgentsBeside = new Map(),
): LogSource[] {
  const session = `${path}.jsonl`;
  const isFolder = isDirectory(path);
  if (isFolder && existsSync(join(path, 'subagents')) && existsSync(session))
    return findLogFiles(session, onUnreadable, agentsBeside);
  const all = isFolder ? listLogs(path, onUnreadable) : [path, ...agentsOf(path, onUnreadable, agentsBeside)];
  const known = new Set(all);
  const subAgents = new Map<string, string[]>();
  const owned: [string, string][] = [];
  for (const file of all) {
    const owner = file === path ? null : ownerOf(file);
    if (owner !== null && known.has(owner)) owned.push([file, owner]);
    else subAgents.set(file, []);
  }
  const owners = new Map(owned);
  for (const [file, owner] of owned) subAgents.get(sessionOf(owner, owners))?.push(file);
  if (isFolder && all.length === 0)
    throw new ImportError('IMPORT_NO_LOGS', `${path} has no .jsonl file.`, { details: { path } });
  return [...subAgents].map(([file, agents]) => {
    const files = [file, ...agents];
    return { files, bytes: files.reduce((sum, name) => sum + sizeOf(name), 0) };
  });
}

const bytesOfStart = 64 * 1024;

/** The session that a sub-agent's file belongs to, by where it lies; of older ones, which lie beside it, by what it says. */
function ownerOf(file: string): string | null {
  const at = file.lastIndexOf(subAgentsFolder);
  if (at >= 0) return `${file.slice(0, at)}.jsonl`;
  if (!basename(file).startsWith('agent-')) return null;
  const sessionId = sessionIdIn(file);
  // Of those that lie beside their session, none belongs to another one: they would lead round in a circle.
  if (sessionId === null || sessionId.startsWith('agent-')) return null;
  return join(dirname(file), `${sessionId}.jsonl`);
}

/** A sub-agent may have some of its own. */
function sessionOf(file: string, owners: ReadonlyMap<string, string>): string {
  const owner = owners.get(file);
  return owner === undefined ? file : sessionOf(owner, owners);
}

/** The session that the first record of a file names. A file that can't be read is reported when it is imported. */
function sessionIdIn(file: string): string | null {
  try {
    return /"sessionId":"([A-Za-z0-9._-]+)"/.exec(readHead(file, bytesOfStart).text)?.[1] ?? null;
  } catch (error) {
    if (isFormatError(error)) return null;
    throw error;
  }
}

/** The files of a session's sub-agents, below it and beside it. */
function agentsOf(file: string, onUnreadable: OnUnreadable, agentsBeside: AgentsBeside): string[] {
  const folder = join(file.replace(/\.jsonl$/, ''), 'subagents');
  const below = existsSync(folder) ? listLogs(folder, onUnreadable) : [];
  if (basename(file).startsWith('agent-')) return below;
  const parent = dirname(file);
  const beside = agentsBeside.get(parent) ?? listAgents(parent);
  agentsBeside.set(parent, beside);
  return [...below, ...(beside.get(file) ?? [])];
}

/** The files of sub-agents in a folder, by the session that each belongs to. */
function listAgents(folder: string): ReadonlyMap<string | null, readonly string[]> {
  const names = listEntries(folder).map(({ name }) => name);
  const agents = names.filter((name) => name.startsWith('agent-') && name.endsWith('.jsonl')).sort();
  return Map.groupBy(
    agents.map((name) => join(folder, name)),
    ownerOf,
  );
}

function listLogs(folder: string, onUnreadable: OnUnreadable): string[] {
  return [...walk(folder, onUnreadable)].sort();
}

function* walk(folder: string, onUnreadable: OnUnreadable): Generator<string> {
  for (const entry of listEntries(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      try {
        yield* walk(path, onUnreadable);
      } catch (error) {
        if (!isFormatError(error)) throw error;
        onUnreadable(path, error);
      }
    } else if (/\.jsonl(\.gz)?$/.test(entry.name) && !isLinkedFolder(entry, path)) yield path;
  }
}

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    throw unreadable(folder, cause);
  }
}

/** A link to a folder is not followed, because it may lead back. */
function isLinkedFolder(entry: Dirent, path: string): boolean {
  return entry.isSymbolicLink() && (statsOf(path)?.isDirectory() ?? false);
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function sizeOf(file: string): number {
  return statsOf(file)?.size ?? 0;
}

/** Null for what can't be examined, such as a link in a circle. It is reported when it is imported. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

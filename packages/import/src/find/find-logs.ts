import { type Dirent, existsSync, readdirSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { resolveOwn } from '@hansard/claude';
import { formatErrors, type HansardError } from '@hansard/events';
import type { LogImporterProvider, LogSource } from '@hansard/provider';
import { importErrors } from '../import-errors.ts';
import { readHead, unreadable } from './read-source.ts';

const subAgentsFolder = `${sep}subagents${sep}`;

const bytesOfStart = 64 * 1024;

export interface FoundLogs {
  readonly logs: readonly LogSource[];
  /** What could not be read. */
  readonly problems: readonly PathProblem[];
}

interface PathProblem {
  readonly path: string;
  /** FORMAT_UNREADABLE, IMPORT_NO_LOGS or IMPORT_LINK_OUTSIDE. */
  readonly error: Error;
  /** Whether it is one of the paths that were named, and not a folder below one. */
  readonly isNamed: boolean;
}

/**
 * The logs that some paths mean, each once: a file itself; of a folder, all `.jsonl` files in it and below, also compressed ones, and the
 * files that `isDocument` takes for logs. The files of sub-agents come with the session that they belong to.
 */
export function findLogs(
  paths: readonly string[],
  isDocument: (file: string) => boolean = () => false,
): FoundLogs {
  const found = new Map<string | undefined, LogSource>();
  const problems: PathProblem[] = [];
  const agentsBeside: AgentsBeside = new Map();
  for (const path of paths.map(toAbsolute)) {
    try {
      const onUnreadable = (folder: string, error: Error) =>
        problems.push({ path: folder, error, isNamed: false });
      for (const log of findLogFiles(path, { onUnreadable, isDocument }, agentsBeside))
        found.set(log.files[0], log);
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

export const sidecars = /\.meta\.json$/;

/** Whether a file in a folder is a log that is not made of lines, as the importers whose files have its ending see it. */
export function documentsOf(importers: readonly LogImporterProvider[]): (file: string) => boolean {
  return (file) => {
    const readers = importers.filter(({ endings = [] }) => endings.some((ending) => file.endsWith(ending)));
    if (readers.length === 0 || sidecars.test(file)) return false;
    try {
      const head = readHead(file, bytesOfSignature);
      return readers.some((importer) => importer.detect(head));
    } catch (error) {
      if (formatErrors.is(error)) return false;
      throw error;
    }
  };
}

/** How much of a document is read to see whether it is a log. */
const bytesOfSignature = 64 * 1024;

export function toAbsolute(path: string): string {
  return /^~(?:[\\/]|$)/.test(path) ? join(homedir(), path.slice(1)) : resolve(path);
}

interface Walk {
  readonly onUnreadable: (path: string, error: Error) => unknown;
  /** Whether a file with another ending is a log. */
  readonly isDocument: (file: string) => boolean;
}

/** The sub-agents' files that lie beside their sessions, by session, of each folder that was read. */
type AgentsBeside = Map<string, ReadonlyMap<string | null, readonly string[]>>;

/**
 * The files that a path means, in the order of their names, each with those of its sub-agents: a file itself; of a
 * folder, all `.jsonl` files in it and below; of the folder beside a session's file, that session. `onUnreadable` gets the
 * folders below that can't be read, and the links out of the folder, which are not followed; a file that can't be read is
 * among the files. Many paths share an `agentsBeside`, so that each folder is read once.
 * @throws FORMAT_UNREADABLE, IMPORT_NO_LOGS, IMPORT_LINK_OUTSIDE
 */
function findLogFiles(path: string, walk: Walk, agentsBeside: AgentsBeside = new Map()): LogSource[] {
  const session = `${path}.jsonl`;
  const isFolder = isDirectory(path);
  if (isFolder && existsSync(join(path, 'subagents')) && existsSync(session)) {
    const outside = linkOutside(session, dirname(path));
    if (outside !== null) throw outside;
    return findLogFiles(session, walk, agentsBeside);
  }
  const all = isFolder ? listLogs(path, path, walk) : [path, ...agentsOf(path, walk, agentsBeside)];
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
    throw importErrors.error('IMPORT_NO_LOGS', `${path} has no .jsonl file.`, { details: { path } });
  return [...subAgents].map(([file, agents]) => {
    const files = [file, ...agents];
    return { files, bytes: files.reduce((sum, name) => sum + sizeOf(name), 0) };
  });
}

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
    if (formatErrors.is(error)) return null;
    throw error;
  }
}

/** The files of a session's sub-agents, below it and beside it. */
function agentsOf(file: string, walk: Walk, agentsBeside: AgentsBeside): string[] {
  const parent = dirname(file);
  const below = listSubAgents(join(file.replace(/\.jsonl$/, ''), 'subagents'), parent, walk);
  if (basename(file).startsWith('agent-')) return below;
  const beside = agentsBeside.get(parent) ?? listAgents(parent, walk);
  agentsBeside.set(parent, beside);
  return [...below, ...(beside.get(file) ?? [])];
}

function listSubAgents(folder: string, root: string, walk: Walk): string[] {
  if (!existsSync(folder)) return [];
  const outside = linkOutside(folder, root);
  if (outside === null) return listLogs(folder, root, walk);
  walk.onUnreadable(folder, outside);
  return [];
}

/** The files of sub-agents in a folder, by the session that each belongs to. */
function listAgents(folder: string, walk: Walk): ReadonlyMap<string | null, readonly string[]> {
  const agents = listEntries(folder)
    .filter(({ name }) => name.startsWith('agent-') && name.endsWith('.jsonl'))
    .map((entry) => [entry, join(folder, entry.name)] as const)
    .filter(([entry, path]) => isFollowed(entry, path, folder, walk))
    .map(([, path]) => path);
  return Map.groupBy(agents.sort(), ownerOf);
}

function listLogs(folder: string, root: string, walk: Walk): string[] {
  const found = new Set(filesBelow(folder, root, walk));
  // Codex compresses a rollout that is idle, and expands it to append: while both exist, the plain file counts.
  const isCopy = (path: string) => path.endsWith('.zst') && found.has(path.slice(0, -'.zst'.length));
  return [...found].filter((path) => !isCopy(path)).sort();
}

function* filesBelow(folder: string, root: string, walk: Walk): Generator<string> {
  for (const entry of listEntries(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      try {
        yield* filesBelow(path, root, walk);
      } catch (error) {
        if (!formatErrors.is(error)) throw error;
        walk.onUnreadable(path, error);
      }
    } else if (isFollowed(entry, path, root, walk)) yield path;
  }
}

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    throw unreadable(folder, cause);
  }
}

/**
 * Whether an entry of a folder is a log to read. A link is followed to a file below the root only. A link out of the root to
 * a log or a folder is reported; one to a folder below the root is not followed, because that folder is read itself.
 */
function isFollowed(entry: Dirent, path: string, root: string, walk: Walk): boolean {
  const isLines = /\.jsonl(\.gz|\.zst)?$/.test(entry.name);
  if (!entry.isSymbolicLink()) return isLines || (entry.isFile() && walk.isDocument(path));
  const found = resolveOwn(path, root);
  const isLog = isLines || (found.kind === 'own' && found.stats.isFile() && walk.isDocument(path));
  const isFolder = (found.kind === 'own' || found.kind === 'outside') && found.stats.isDirectory();
  if (found.kind === 'outside' && (isLog || isFolder))
    walk.onUnreadable(path, outsideOf(path, found.target, root));
  return isLog && !isFolder && found.kind !== 'outside';
}

/** The error of a path that leads out of a folder; null for any other. */
function linkOutside(path: string, root: string): HansardError | null {
  const found = resolveOwn(path, root);
  return found.kind === 'outside' ? outsideOf(path, found.target, root) : null;
}

function outsideOf(path: string, target: string, root: string): HansardError {
  return importErrors.error(
    'IMPORT_LINK_OUTSIDE',
    `${path} is a link to ${target}, outside of ${root}. The link was not followed.`,
    { details: { path, target } },
  );
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

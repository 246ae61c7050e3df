import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix, sep } from 'node:path';
import type { DispatchStore } from '@hansard/dispatch';
import { isPlainObject, type JsonObject } from '@hansard/events';
import { type ImportItem, importLogs } from './import-logs.ts';
import type { ImportOptions } from './import-source.ts';

/** What an import uses of a `SessionStore` of the Claude Agent SDK, such as one on a database. */
export interface ReadableSessionStore {
  load(key: ReadableSessionKey): Promise<readonly object[] | null>;
  listSessions?(
    projectKey: string,
  ): Promise<readonly { readonly sessionId: string; readonly mtime: number }[]>;
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<readonly string[]>;
}

/** The transcript of a session, or with a `subpath` that of a part of it, such as `subagents/agent-1`. */
export interface ReadableSessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

export interface ImportSessionsOptions extends Omit<ImportOptions, 'as' | 'importers' | 'exclude'> {
  /** The `projectKey` of the sessions. It names no dispatch and no task. */
  readonly projectKey: string;
  /** Absent: all sessions that the source lists for the project. */
  readonly sessionIds?: readonly string[];
}

/**
 * Imports sessions from a `SessionStore` of the Claude Agent SDK, as an import of their files does: each becomes the dispatch that its file would
 * become, with the same events. What was already imported from either is not added again. The files of the reports are `SESSION.jsonl`
 * and `SESSION/SUBPATH.jsonl`. A session or a part whose name can't be the name of a file is left out as `unsafe-name`.
 *
 * The transcripts are written to a temporary folder that only this user can read, and that is removed at the end.
 * @throws TypeError without `sessionIds` if the source lists no sessions; errors of the source
 */
export async function* importSessions(
  store: DispatchStore,
  source: ReadableSessionStore,
  { projectKey, sessionIds, ...options }: ImportSessionsOptions,
): AsyncGenerator<ImportItem, undefined> {
  const sessions = await sessionsOf(source, projectKey, sessionIds);
  const root = await mkdtemp(join(tmpdir(), 'hansard-sessions-'));
  try {
    // Not a project: the project comes from the folder in which the session worked.
    const folder = join(root, 'claude-sessions');
    const unsafe: string[] = [];
    let written = 0;
    for (const { sessionId, mtime } of sessions) {
      if (isSafe(sessionId) && !sessionId.includes('/'))
        written += await writeSession(source, { projectKey, sessionId }, { folder, mtime, unsafe });
      else unsafe.push(sessionId);
    }
    if (written > 0)
      for await (const item of importLogs(store, [folder], { ...options, as: 'claude-transcript' }))
        yield named(item, folder);
    if (unsafe.length > 0) yield { kind: 'left-out', reason: 'unsafe-name', paths: unsafe };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function sessionsOf(
  source: ReadableSessionStore,
  projectKey: string,
  sessionIds: readonly string[] | undefined,
): Promise<readonly { readonly sessionId: string; readonly mtime?: number }[]> {
  const listed = (await source.listSessions?.(projectKey)) ?? null;
  if (sessionIds === undefined) {
    if (listed === null)
      throw new TypeError('This source does not list its sessions; name them (sessionIds).');
    return listed;
  }
  const times = new Map(listed?.map(({ sessionId, mtime }) => [sessionId, mtime]));
  return sessionIds.map((sessionId) => {
    const mtime = times.get(sessionId);
    return mtime === undefined ? { sessionId } : { sessionId, mtime };
  });
}

interface Target {
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly mtime: number | undefined;
  readonly unsafe: string[];
}

/** Writes the transcripts of a session as Claude Code lays them out. Returns the number of files. */
async function writeSession(
  source: ReadableSessionStore,
  key: { projectKey: string; sessionId: string },
  { folder, mtime, unsafe }: Target,
): Promise<number> {
  const { sessionId } = key;
  const subpaths = (await source.listSubkeys?.(key)) ?? [];
  let written = 0;
  for (const subpath of [undefined, ...subpaths]) {
    const name = subpath === undefined ? sessionId : `${sessionId}/${subpath}`;
    if (!isSafe(name)) {
      unsafe.push(name);
      continue;
    }
    const entries = await source.load(subpath === undefined ? key : { ...key, subpath });
    if (entries === null || entries.length === 0) continue;
    written += await writeTranscript(join(folder, name), entries, mtime);
  }
  return written;
}

/** Among the entries of a sub-agent, the SDK keeps the metadata that has a file of its own in the folder of Claude Code; the last one counts. */
async function writeTranscript(
  path: string,
  entries: readonly object[],
  mtime = Date.now(),
): Promise<number> {
  const metadata = entries.findLast(isMetadata);
  const lines = entries.filter((entry) => !isMetadata(entry)).map((entry) => `${JSON.stringify(entry)}\n`);
  await mkdir(dirname(path), { recursive: true });
  const files: [name: string, content: string][] =
    lines.length === 0 ? [] : [[`${path}.jsonl`, lines.join('')]];
  if (metadata !== undefined) {
    const { type: _, ...facts } = metadata as JsonObject;
    files.push([`${path}.meta.json`, JSON.stringify(facts)]);
  }
  for (const [file, content] of files) {
    await writeFile(file, content, { mode: 0o600 });
    await utimes(file, mtime / 1000, mtime / 1000);
  }
  return files.length;
}

function isMetadata(entry: object): boolean {
  return isPlainObject(entry) && (entry as JsonObject).type === 'agent_metadata';
}

const longestName = 200;

/** Whether a name with `/` leads to a place below a folder on every system. */
function isSafe(name: string): boolean {
  return name
    .split('/')
    .every((part) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(part) && part.length <= longestName);
}

/** The files of an item by their names below the folder, which is gone when the import is over. */
function named(item: ImportItem, folder: string): ImportItem {
  const nameOf = (path: string) =>
    path.startsWith(`${folder}${sep}`) ? path.slice(folder.length + 1).replaceAll(sep, posix.sep) : path;
  if (item.kind === 'failed') return { ...item, path: nameOf(item.path) };
  if (item.kind === 'left-out') return { ...item, paths: item.paths.map(nameOf) };
  if (item.kind === 'not-read') return item;
  const files = item.files.map(nameOf);
  if (item.kind === 'unchanged') return { ...item, files };
  return { ...item, files, diagnostics: item.diagnostics.map((one) => withFile(one, nameOf)) };
}

function withFile<T extends { readonly file?: string }>(diagnostic: T, nameOf: (path: string) => string): T {
  return diagnostic.file === undefined ? diagnostic : { ...diagnostic, file: nameOf(diagnostic.file) };
}

import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import type { LogSource } from '@hansard/provider';
import { toAbsolute } from './find-logs.ts';

/** Files of one kind that a product keeps beside its transcripts. An import counts them, and does not read them. */
export interface UnreadFiles {
  readonly kind: 'not-read';
  /** Such as `file-history`; `no-session` for files among the transcripts; `other` for files of an unknown kind. */
  readonly what: string;
  /** What such files have, in words. */
  readonly title: string;
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** How many of the found sessions the paths name. Null: paths of this kind name no session. */
  readonly sessions: number | null;
  /** The files whose paths name none of the found sessions; null as before. */
  readonly ofNoSession: {
    readonly files: number;
    readonly bytes: number;
    readonly paths: readonly string[];
  } | null;
}

interface Kind {
  readonly what: string;
  readonly title: string;
  /** The session that the path of a file names, from the folder of the kind. Absent: it names none. */
  readonly session?: RegExp;
}

const inFolder = /^([^/]+)\//;

/** What Claude Code keeps beside `projects`. Folders of sessions, lists or teams are named by them. */
const kinds: readonly Kind[] = [
  { what: 'file-history', title: 'contents of files before they were changed', session: inFolder },
  { what: 'todos', title: 'lists of tasks of older versions', session: /^([0-9a-f-]{36})/i },
  { what: 'tasks', title: 'lists of tasks', session: inFolder },
  { what: 'image-cache', title: 'pasted images', session: inFolder },
  { what: 'session-env', title: 'the environment of sessions', session: inFolder },
  { what: 'plans', title: 'plans' },
  { what: 'paste-cache', title: 'pasted texts' },
  { what: 'history.jsonl', title: 'what was typed' },
  { what: 'shell-snapshots', title: 'the state of shells' },
  { what: 'teams', title: 'teams and their messages' },
];

const ofClaudeAlone = ['file-history', 'image-cache', 'paste-cache', 'session-env', 'shell-snapshots'];
const mostPaths = 1_000;
const isLog = /\.jsonl(?:\.gz|\.zst)?$/;

/**
 * What is beside the found sessions of Claude Code and is not read, for each named `projects` folder or the folder
 * that has it. It is the kinds of files outside of `projects`, and the files in `projects` that belong to no session.
 * Only names and sizes are read, and no link is followed.
 */
export function findUnreadFiles(
  paths: readonly string[],
  logs: readonly LogSource[],
  isWanted: (file: string) => boolean = () => true,
): UnreadFiles[] {
  const found = new FoundSessions(logs);
  const roots = new Map(paths.map(toAbsolute).flatMap((path) => rootOf(path, found) ?? []));
  return [...roots].flatMap(([root, isNamed]) => {
    const projects = join(root, 'projects');
    const known = new Set(['projects', ...kinds.map(({ what }) => what)]);
    const others = isNamed ? (namesIn(root) ?? []).filter((name) => !known.has(name)) : [];
    const select = (files: readonly string[]) =>
      files.filter((file) => isWanted(file) && !found.files.has(file));
    return [
      ...kinds.map((kind) =>
        countKind(kind, join(root, kind.what), select(filesAt(join(root, kind.what))), found),
      ),
      countOthers(
        'other',
        'files of other kinds',
        root,
        select(others.flatMap((name) => filesAt(join(root, name)))),
      ),
      countOthers('no-session', 'files that belong to no session', projects, select(found.others(projects))),
    ].filter(({ files }) => files > 0);
  });
}

/** The sessions that an import has found, and their files. */
class FoundSessions {
  readonly files: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  /** The folders beside the transcripts, which are read with them. */
  readonly #folders: ReadonlySet<string>;
  readonly #projects: ReadonlySet<string>;

  constructor(logs: readonly LogSource[]) {
    const transcripts = logs.map(({ files: [file = ''] }) => file);
    this.files = new Set(logs.flatMap(({ files }) => files));
    this.ids = new Set(transcripts.map((file) => basename(file).replace(isLog, '')));
    this.#projects = new Set(transcripts.map((file) => dirname(dirname(file))));
    this.#folders = new Set(transcripts.map((file) => join(dirname(file), basename(file, extname(file)))));
  }

  /** Whether a folder has a project folder with a transcript. */
  isAnyIn(folder: string): boolean {
    return this.#projects.has(folder);
  }

  /** The files below a folder that are not logs, and belong to none of the logs. */
  others(folder: string): string[] {
    return filesAt(folder).filter((file) => !isLog.test(file) && !this.#isOwned(file, folder));
  }

  #isOwned(file: string, folder: string): boolean {
    if (this.files.has(file.replace(/\.meta\.json$/, '.jsonl'))) return true;
    for (let above = dirname(file); above.length > folder.length; above = dirname(above))
      if (this.#folders.has(above)) return true;
    return false;
  }
}

/** The folder of Claude Code that a path means, and whether the path names it itself. Null: the path is another one. */
function rootOf(path: string, found: FoundSessions): [root: string, isNamed: boolean][] | null {
  const isProjects = basename(path) === 'projects';
  const root = isProjects ? dirname(path) : path;
  if (!found.isAnyIn(join(root, 'projects'))) return null;
  const isClaude =
    /^\.?claude/.test(basename(root)) || ofClaudeAlone.some((name) => isFolder(join(root, name)));
  return isClaude ? [[root, !isProjects]] : null;
}

function countKind(
  { what, title, session }: Kind,
  path: string,
  files: readonly string[],
  found: FoundSessions,
): UnreadFiles {
  const facts = { kind: 'not-read', what, title, path, ...sizeOf(files) } as const;
  if (session === undefined) return { ...facts, sessions: null, ofNoSession: null };
  const named = files.map((file) => ({ file, id: session.exec(below(path, file))?.[1] }));
  const isOf = (id: string | undefined) => id !== undefined && found.ids.has(id);
  const others = named.filter(({ id }) => !isOf(id)).map(({ file }) => file);
  const sessions = new Set(named.flatMap(({ id }) => (isOf(id) ? [id] : []))).size;
  return { ...facts, sessions, ofNoSession: { ...sizeOf(others), paths: others.slice(0, mostPaths) } };
}

function countOthers(what: string, title: string, path: string, files: readonly string[]): UnreadFiles {
  const size = sizeOf(files);
  const ofNoSession = { ...size, paths: files.slice(0, mostPaths) };
  return { kind: 'not-read', what, title, path, ...size, sessions: 0, ofNoSession };
}

function sizeOf(files: readonly string[]): { readonly files: number; readonly bytes: number } {
  const bytes = files.reduce((sum, file) => sum + (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  return { files: files.length, bytes };
}

function below(folder: string, file: string): string {
  return relative(folder, file).split(sep).join('/');
}

/** A file itself, or all files below a folder, in the order of their names. A link is a file here. */
function filesAt(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  const names = stats.isDirectory() ? namesIn(path) : null;
  return names === null ? [path] : names.flatMap((name) => filesAt(join(path, name)));
}

/** Null: the folder can't be read. It then counts as a file. */
function namesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder).sort();
  } catch {
    return null;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

import { execFile, spawn } from 'node:child_process';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject, messageOf } from '@hansard/events';
import { importErrors } from '../import-errors.ts';
import { toName } from '../importers/task-names.ts';

/** A checkpoint of a session, and the commits of the repository that name it. */
interface Checkpoint {
  readonly id: string;
  readonly commits: readonly string[];
}

/** The sessions that a Git repository keeps. */
export interface GitCheckpoints {
  /** The folder of the repository. */
  readonly repository: string;
  /** The checkpoints of each session, by the file that was written for it. */
  readonly files: ReadonlyMap<string, readonly Checkpoint[]>;
  /** The checkpoints whose transcript of a session is missing. */
  readonly without: readonly string[];
}

const branch = 'entire/checkpoints/v1';
const refs = 'refs/entire/checkpoints/';
const refName = /^refs\/entire\/checkpoints\/[^/]{2}\/(?:[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})$/;
const named = /Entire-Checkpoint:\s*([0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})(?=\s|$)/g;
const inTree = /^(?:([0-9a-f]{2})\/([0-9a-f]{10})\/)?(\d+)\/(metadata\.json|full\.jsonl(?:\.\d{3})?)$/;

interface SessionFiles {
  readonly checkpoint: string;
  /** Seconds since 1970: when the checkpoint was written last. */
  readonly writtenAt: number;
  metadata: string | null;
  /** The objects of its parts, in their order. */
  readonly parts: { readonly name: string; readonly object: string; readonly bytes: number }[];
}

/**
 * Writes the sessions that entire.io has kept in a local repository into a folder, a file for each: its longest copy. Nothing is fetched, and the
 * repository is only read.
 * @throws IMPORT_NO_LOGS if the repository has no checkpoints, IMPORT_GIT_FAILED
 */
export async function writeCheckpoints(place: string, folder: string): Promise<GitCheckpoints> {
  const repository = (await git(place, 'rev-parse', '--show-toplevel')).trim() || place;
  const found = await sessionFiles(repository);
  const texts = await objectsOf(
    repository,
    found.flatMap(({ metadata }) => metadata ?? []),
  );
  const commits = await commitsOf(repository);
  const longest = new Map<string, SessionFiles>();
  const checkpoints = new Map<string, Map<string, Checkpoint>>();
  const without: string[] = [];
  for (const one of found) {
    const session = sessionOf(texts.get(one.metadata ?? ''));
    if (session === null || one.parts.length === 0) {
      without.push(one.checkpoint);
      continue;
    }
    const { checkpoint: id } = one;
    const linked = checkpoints.get(session) ?? new Map<string, Checkpoint>();
    checkpoints.set(session, linked.set(id, { id, commits: commits.get(id) ?? [] }));
    const before = longest.get(session);
    if (before === undefined || bytesOf(before) < bytesOf(one)) longest.set(session, one);
  }
  const files = new Map<string, readonly Checkpoint[]>();
  for (const [session, { parts, writtenAt }] of longest) {
    const contents = await objectsOf(
      repository,
      parts.map(({ object }) => object),
    );
    const file = join(folder, `${toName(session) ?? 'session'}.jsonl`);
    writeFileSync(file, parts.map(({ object }) => contents.get(object) ?? '').join('\n'));
    // The same checkpoint has the same time, so that it is not read again.
    utimesSync(file, writtenAt, writtenAt);
    const own = [...(checkpoints.get(session)?.values() ?? [])];
    files.set(
      file,
      own.sort((one, other) => (one.id < other.id ? -1 : 1)),
    );
  }
  return { repository, files, without };
}

const bytesOf = ({ parts }: SessionFiles): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);

/** The id of the session that the metadata of a checkpoint names. */
function sessionOf(text: string | undefined): string | null {
  try {
    const metadata: unknown = JSON.parse(text ?? '');
    const id = isPlainObject(metadata) ? metadata.session_id : undefined;
    return typeof id === 'string' && id !== '' ? id.replace(/^\d{4}-\d\d-\d\d-(?=[0-9a-f]{8}-)/, '') : null;
  } catch {
    return null;
  }
}

/** The sessions of all checkpoints, from the branch and from refs. */
async function sessionFiles(repository: string): Promise<SessionFiles[]> {
  const listed = await git(repository, 'for-each-ref', '--format=%(refname)');
  const names = listed.split('\n');
  const ofBranch = [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`].find((name) =>
    names.includes(name),
  );
  const ofRefs = names.filter((name) => refName.test(name));
  const sources = [...(ofBranch === undefined ? [] : [ofBranch]), ...ofRefs];
  if (sources.length === 0)
    throw importErrors.error(
      'IMPORT_NO_LOGS',
      `${repository} has no checkpoints: neither the branch ${branch} nor refs below ${refs}.`,
      { details: { path: repository } },
    );
  const found = new Map<string, SessionFiles>();
  for (const source of sources) {
    const writtenAt = Number(await git(repository, 'log', '-1', '--format=%ct', source));
    const entries = await git(repository, 'ls-tree', '-r', '-l', '-z', source);
    for (const entry of entries.split('\0')) {
      const [, object = '', size = '', path = ''] = /^\d+ blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(entry) ?? [];
      const [, start = '', rest = '', session = '', name = ''] = inTree.exec(path) ?? [];
      if (name === '') continue;
      const checkpoint = start === '' ? (source.split('/').at(-1) ?? '') : `${start}${rest}`;
      const key = `${checkpoint} ${session}`;
      const files = found.get(key) ?? { checkpoint, writtenAt, metadata: null, parts: [] };
      found.set(key, files);
      if (name === 'metadata.json') files.metadata = object;
      else files.parts.push({ name, object, bytes: Number(size) });
    }
  }
  for (const { parts } of found.values()) parts.sort((one, other) => (one.name < other.name ? -1 : 1));
  return [...found.values()];
}

/** The commits whose messages name a checkpoint, by its id. A squashed commit names several. */
async function commitsOf(repository: string): Promise<Map<string, string[]>> {
  const commits = new Map<string, string[]>();
  const log = await git(
    repository,
    ...['log', '--branches', '--remotes', '--tags', '--grep=Entire-Checkpoint:', '--format=%H%n%B%x00'],
  );
  for (const entry of log.split('\0')) {
    const [, commit = '', message = ''] = /^\n?([0-9a-f]{40,64})\n(.*)$/s.exec(entry) ?? [];
    for (const [, id = ''] of message.matchAll(named))
      commits.set(id, [...new Set([...(commits.get(id) ?? []), commit])].sort());
  }
  return commits;
}

/** The texts of objects, by their names. */
async function objectsOf(repository: string, objects: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  if (objects.length === 0) return texts;
  const child = spawn('git', ['-C', repository, 'cat-file', '--batch'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stdin.end(`${[...new Set(objects)].join('\n')}\n`);
  await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const all = Buffer.concat(pieces);
  for (let at = 0; at < all.length; ) {
    const end = all.indexOf(10, at);
    const [object = '', , size = '0'] = all.toString('latin1', at, end).split(' ');
    texts.set(object, all.toString('utf8', end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return texts;
}

function git(folder: string, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 512 * 1024 * 1024, encoding: 'utf8' } as const;
    execFile('git', ['-C', folder, ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else
        reject(
          importErrors.error(
            'IMPORT_GIT_FAILED',
            `git can't read ${folder}: ${stderr.trim().split('\n')[0] || messageOf(error)}`,
            { cause: error, details: { folder } },
          ),
        );
    });
  });
}

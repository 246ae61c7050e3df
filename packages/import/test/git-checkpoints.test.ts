import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importLogs, writeCheckpoints } from '../src/index.ts';

let folder: string;
let store: DispatchStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-git-'));
  store = openDispatchStore(createMemoryStore());
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const identity = ['-c', 'user.name=author', '-c', 'user.email=author@example.org'];

function git(...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const all = ['-C', join(folder, 'repo'), ...identity, ...args];
  return execFileSync('git', all, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

function commit(message: string): string {
  git('commit', '-q', '--allow-empty', '-m', message);
  return git('rev-parse', 'HEAD');
}

function put(path: string, content: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const session = (number: number) => `${number}b0c7c3e-3d52-4c0e-9a63-2f6f3f1f7a10`;

function rows(number: number, count: number, text = 'Go'): string[] {
  const uuid = (at: number) =>
    `${session(number).slice(0, 8)}-0000-4000-8000-${String(at).padStart(12, '0')}`;
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      ...{ type: 'user', uuid: uuid(at), parentUuid: at === 0 ? null : uuid(at - 1), isSidechain: false },
      ...{ cwd: '/work/shop', sessionId: session(number), timestamp: `2026-03-01T09:00:0${at}.000Z` },
      message: { role: 'user', content: `${text} ${at}` },
    }),
  );
}

const metadata = (number: number) => JSON.stringify({ session_id: session(number), agent: 'Claude Code' });

/** A repository with two commits, a squash of both, three checkpoints on the branch and one in a ref. */
function repository(): { first: string; second: string; squash: string } {
  mkdirSync(join(folder, 'repo'));
  git('init', '-q', '-b', 'main');
  const first = commit('One\n\nEntire-Checkpoint: 4f1c9a27be03');
  const second = commit('Two\n\nEntire-Checkpoint: a07d52e8c6b1');
  git('checkout', '-q', '--orphan', 'stable');
  const squash = commit(
    'Both\n\n* One\n\nEntire-Checkpoint: 4f1c9a27be03\n\n* Two\n\nEntire-Checkpoint: a07d52e8c6b1\n\nReviewed-by: ann',
  );
  git('checkout', '-q', '--orphan', 'entire/checkpoints/v1');
  put('repo/4f/1c9a27be03/0/metadata.json', metadata(1));
  put('repo/4f/1c9a27be03/0/full.jsonl', rows(1, 2).join('\n'));
  put('repo/a0/7d52e8c6b1/0/metadata.json', metadata(1));
  const [one = '', two = '', three = '', four = ''] = rows(1, 4);
  put('repo/a0/7d52e8c6b1/0/full.jsonl.002', `${three}\n${four}\n`);
  put('repo/a0/7d52e8c6b1/0/full.jsonl.001', `${one}\n${two}`);
  put('repo/a0/7d52e8c6b1/1/metadata.json', metadata(2));
  put('repo/a0/7d52e8c6b1/1/full.jsonl', rows(2, 2, 'REDACTED').join('\n'));
  put('repo/bb/7d52e8c6b1/0/metadata.json', metadata(3));
  git('add', '-A');
  commit('Checkpoint: a07d52e8c6b1');
  git('rm', '-q', '-r', '--cached', '.');
  rmSync(join(folder, 'repo/a0'), { recursive: true });
  put('repo/0/metadata.json', metadata(4));
  put('repo/0/full.jsonl', rows(4, 3).join('\n'));
  git('add', '0');
  const tree = git('write-tree');
  const ulid = '01KQ0000000000000000000ABC';
  git(
    'update-ref',
    `refs/entire/checkpoints/BC/${ulid}`,
    git('commit-tree', tree, '-m', `Checkpoint: ${ulid}`),
  );
  return { first, second, squash };
}

const written = () => {
  mkdirSync(join(folder, 'written'), { recursive: true });
  return writeCheckpoints(join(folder, 'repo'), join(folder, 'written'));
};

async function imported() {
  const checkpoints = await written();
  const items = [];
  for await (const item of importLogs(store, [...checkpoints.files.keys()], { checkpoints }))
    items.push(item);
  return { checkpoints, items };
}

async function sources() {
  const found: Record<string, unknown> = {};
  for await (const entry of store.dispatches())
    if (!('error' in entry)) {
      const { checkpoints, repository: from, files = [] } = entry.envelope.source ?? {};
      const name = files[0]?.name.slice(0, 1) ?? '';
      found[name] = { events: await entry.log.count(), checkpoints, from };
    }
  return found;
}

it('imports the longest copy of each session of the branch and of refs, and links the commits that name it', async () => {
  const { first, second, squash } = repository();
  const { checkpoints, items } = await imported();
  expect(checkpoints.without).toEqual(['bb7d52e8c6b1']);
  expect(items.map(({ kind }) => kind)).toEqual(['imported', 'imported', 'imported']);
  const from = join(folder, 'repo');
  const later = { id: 'a07d52e8c6b1', commits: [second, squash].sort() };
  expect(await sources()).toEqual({
    1: { events: 4, checkpoints: [{ id: '4f1c9a27be03', commits: [first, squash].sort() }, later], from },
    2: { events: 2, checkpoints: [later], from },
    4: { events: 3, checkpoints: [{ id: '01KQ0000000000000000000ABC', commits: [] }], from },
  });
  expect((await imported()).items.map(({ kind }) => kind)).toEqual(['unchanged', 'unchanged', 'unchanged']);
});

it('only links a session that the store has from its product, because a checkpoint lacks its secrets', async () => {
  repository();
  const own = put(`own/${session(2)}.jsonl`, `${rows(2, 3, 'whole').join('\n')}\n`);
  for await (const item of importLogs(store, [own])) void item;
  for (const _ of [1, 2]) await imported();
  const found = (await sources())[2];
  expect(found).toMatchObject({ events: 3, checkpoints: [{ id: 'a07d52e8c6b1' }], from: undefined });
  writeFileSync(own, `${readFileSync(own, 'utf8')}${rows(2, 4, 'whole').at(-1)}\n`);
  for await (const item of importLogs(store, [own])) void item;
  expect((await sources())[2]).toMatchObject({ events: 4, checkpoints: [{ id: 'a07d52e8c6b1' }] });
});

it('says that a repository has no checkpoints, and that a folder is not a repository', async () => {
  mkdirSync(join(folder, 'repo'));
  await expect(written()).rejects.toMatchObject({ code: 'IMPORT_GIT_FAILED' });
  git('init', '-q');
  commit('One');
  await expect(written()).rejects.toMatchObject({ code: 'IMPORT_NO_LOGS' });
});

import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findSubAgents } from '@hansard/claude';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import type { ImportItem } from '../src/index.ts';
import { importAll, LogFolder, lines } from './logs.ts';

const secret = 'THE-SECRET-KEY';
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const session = uuid(901);

const prompt = (number: number, content: unknown, fields: object = {}) => ({
  type: 'user',
  parentUuid: null,
  isSidechain: false,
  cwd: '/srv/shop',
  sessionId: session,
  message: { role: 'user', content },
  uuid: uuid(number),
  timestamp: `2026-03-01T09:30:${String(number % 60).padStart(2, '0')}.000Z`,
  ...fields,
});
const answer = (number: number, id: string, words: string, fields: object = {}) => ({
  ...prompt(number, '', fields),
  type: 'assistant',
  message: {
    id,
    role: 'assistant',
    model: 'claude-test',
    content: [{ type: 'text', text: words }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 5 },
  },
});
const side = (agentId: string) => ({ isSidechain: true, agentId });

/** A home with a key, in every form that a reader might take for its own, and a folder of sessions in it. */
class Home implements Disposable {
  readonly #folder = new LogFolder();
  readonly key = this.#folder.put('.ssh/id_rsa', lines(prompt(1, secret), answer(2, 'msg_1', secret)));
  readonly keyAsLog = this.#folder.put(
    '.ssh/id_rsa.jsonl',
    lines(prompt(1, secret, side('x')), answer(2, 'msg_1', secret)),
  );
  readonly keyAsSidecar = this.#folder.put('.ssh/id_rsa.json', JSON.stringify({ agentType: secret }));
  readonly ssh = dirname(this.key);
  readonly projects = join(this.#folder.path, 'projects');
  readonly links: string[] = [];

  put(name: string, ...records: readonly object[]): string {
    return this.#folder.put(join('projects', name), lines(...records));
  }

  link(name: string, target: string): string {
    const path = join(this.projects, name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
    this.links.push(path);
    return path;
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

/** All that a store has. */
async function contentOf(store: DispatchStore): Promise<string> {
  const all: unknown[] = [];
  for await (const listed of store.dispatches()) {
    if ('error' in listed) throw listed.error;
    all.push(listed.envelope, await store.getDispatchEvents(listed));
  }
  return JSON.stringify(all);
}

/** What an import names: failures by code and path, and diagnostics by code and message. */
function namedBy(items: readonly ImportItem[]): string[] {
  return items.flatMap((item) => {
    if (item.kind === 'failed') return [`${(item.error as { code?: string }).code} ${item.path}`];
    if (item.kind !== 'imported') return [];
    return item.diagnostics.map(({ code, message }) => `${code} ${message}`);
  });
}

describe('a hostile source', () => {
  it('names the links that lead out of it, and none is followed', async () => {
    using home = new Home();
    await using store = openDispatchStore(createMemoryStore());
    home.put(`-srv-shop/${session}.jsonl`, prompt(11, 'Hello'), answer(12, 'msg_1', 'Hi'));
    const subAgents = `-srv-shop/${session}/subagents`;
    home.put(
      `${subAgents}/agent-a.jsonl`,
      prompt(13, 'Look', side('a')),
      answer(14, 'msg_2', 'Seen', side('a')),
    );
    const sidecar = home.link(`${subAgents}/agent-a.meta.json`, home.keyAsSidecar);
    home.link('-srv-shop/key.jsonl', home.key);
    home.link('-srv-shop/agent-c.jsonl', home.keyAsLog);
    home.link(`${subAgents}/agent-b.jsonl`, home.keyAsLog);
    home.link('-srv-linked', home.ssh);
    home.link(`-srv-shop/${uuid(902)}/subagents`, home.ssh);
    const items = await importAll(store, [home.projects]);
    expect(await contentOf(store)).not.toContain(secret);
    expect(items.filter(({ kind }) => kind === 'imported')).toHaveLength(1);
    const others = home.links.filter((path) => path !== sidecar);
    expect(namedBy(items).sort()).toEqual(
      [
        ...others.map((path) => `IMPORT_LINK_OUTSIDE ${path}`),
        `sidecar_not_read ${sidecar} is a link to ${home.keyAsSidecar}, outside of ${dirname(dirname(dirname(sidecar)))}. It was left out.`,
      ].sort(),
    );
  });

  it('names them too if a single session of it is imported', async () => {
    using home = new Home();
    await using store = openDispatchStore(createMemoryStore());
    const path = home.put(`-srv-shop/${session}.jsonl`, prompt(11, 'Hello'), answer(12, 'msg_1', 'Hi'));
    home.link(`-srv-shop/${session}/subagents`, home.ssh);
    home.link('-srv-shop/agent-c.jsonl', home.keyAsLog);
    const items = await importAll(store, [path]);
    expect(await contentOf(store)).not.toContain(secret);
    expect(namedBy(items).sort()).toEqual(home.links.map((link) => `IMPORT_LINK_OUTSIDE ${link}`).sort());
    expect(findSubAgents(path)).toEqual([]);
  });

  it('names the file of a session beside its folder, if the file is such a link', async () => {
    using home = new Home();
    await using store = openDispatchStore(createMemoryStore());
    home.put(`-srv-shop/${session}/subagents/agent-a.jsonl`, prompt(13, 'Look', side('a')));
    const link = home.link(`-srv-shop/${session}.jsonl`, home.key);
    const folder = link.replace(/\.jsonl$/, '');
    expect(namedBy(await importAll(store, [folder]))).toEqual([`IMPORT_LINK_OUTSIDE ${folder}`]);
    expect(await contentOf(store)).toBe('[]');
  });

  it('reads no path that a record holds', async () => {
    using home = new Home();
    await using store = openDispatchStore(createMemoryStore());
    const { key } = home;
    const image = { type: 'image', source: { type: 'file', path: key, url: `file://${key}` } };
    const result = {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: `<persisted-output>${key}</persisted-output>`,
    };
    home.put(
      `-srv-shop/${session}.jsonl`,
      prompt(11, [image, { type: 'document', source: { path: key } }]),
      prompt(12, [result], { toolUseResult: { persistedOutputPath: key, outputFile: key, filePath: key } }),
      {
        type: 'file-history-delta',
        messageId: uuid(11),
        trackingPath: key,
        backup: { backupFileName: key },
        sessionId: session,
      },
      prompt(13, `[Image: source: ${key}]`, { isMeta: true, cwd: home.ssh, planFilePath: key }),
    );
    const items = await importAll(store, [home.projects]);
    expect(items.map(({ kind }) => kind)).toEqual(['imported']);
    const content = await contentOf(store);
    expect(content).toContain(key);
    expect(content).not.toContain(secret);
  });

  it('reads no session that a record names by a path', async () => {
    using home = new Home();
    await using store = openDispatchStore(createMemoryStore());
    home.put(
      `-srv-shop/${session}.jsonl`,
      prompt(11, 'Hello', { sessionId: '../../.ssh/id_rsa' }),
      answer(12, 'msg_1', 'Hi', { sessionId: '../../.ssh/id_rsa' }),
      prompt(13, 'Again'),
      answer(14, 'msg_1', 'Yes'),
    );
    await importAll(store, [home.projects]);
    // The key has this message, so that it would not count here.
    expect(await contentOf(store)).toContain('msg_1:inference');
  });
});

describe('a link', () => {
  it('is followed to a file of the source, and to what the user names', async () => {
    using home = new Home();
    await using store = openDispatchStore(createMemoryStore());
    const real = home.put(`elsewhere/${session}.jsonl`, prompt(11, 'Hello'));
    home.link('-srv-shop/same.jsonl', real);
    home.link('-srv-same', dirname(real));
    const items = await importAll(store, [home.projects]);
    expect(namedBy(items)).toEqual([]);
    const project = join(home.projects, '-srv-moved');
    symlinkSync(home.ssh, project);
    const named = await importAll(store, [project], { task: 'lab/tasks/named' });
    expect(named.map(({ kind }) => kind)).toEqual(['imported']);
  });

  it('to another project is named with its target (c61)', async () => {
    using home = new Home();
    await using store = openDispatchStore(createMemoryStore());
    home.put(`-srv-shop/${session}.jsonl`, prompt(11, 'plain'));
    const moved = home.link('-srv-moved', home.ssh);
    const items = await importAll(store, [home.projects]);
    expect(items.find(({ kind }) => kind === 'failed')).toMatchObject({
      path: moved,
      isOnly: false,
      error: {
        message: `${moved} is a link to ${home.ssh}, outside of ${home.projects}. The link was not followed.`,
      },
    });
  });
});

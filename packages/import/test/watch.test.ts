import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  excludeFromWatch,
  type ImportItem,
  includeInWatch,
  readWatchers,
  SourceWatcher,
  type WatchOptions,
} from '../src/index.ts';

let home: string;
let store: DispatchStore;
let items: ImportItem[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hansard-watch-'));
  store = openDispatchStore(createMemoryStore());
  items = [];
});
afterEach(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

function rows(id: string, from: number, count: number, cwd = '/work/shop'): string {
  const uuid = (at: number) => `${id.padEnd(8, '0')}-0000-4000-8000-${String(at).padStart(12, '0')}`;
  return Array.from({ length: count }, (_, at) => {
    const number = from + at;
    const isPrompt = number % 2 === 0;
    const message = isPrompt
      ? { role: 'user', content: `prompt ${number}` }
      : {
          id: `msg_${id}_${number}`,
          role: 'assistant',
          model: 'claude-opus-4-6',
          content: [{ type: 'text', text: `answer ${number}` }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 10, output_tokens: 5 },
        };
    return `${JSON.stringify({
      type: isPrompt ? 'user' : 'assistant',
      uuid: uuid(number),
      parentUuid: number === 0 ? null : uuid(number - 1),
      isSidechain: false,
      cwd,
      sessionId: id,
      timestamp: new Date(Date.UTC(2026, 2, 1, 9, 0, number)).toISOString(),
      message,
    })}\n`;
  }).join('');
}

const place = (id: string, project = '-work-shop') => join(home, `.claude/projects/${project}/${id}.jsonl`);

function put(path: string, content: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const watcherOf = (options: Partial<WatchOptions> = {}) =>
  SourceWatcher.open(store, {
    home,
    environment: {},
    machine: 'lab',
    settledAfterMs: 10,
    onItem: (item) => items.push(item),
    ...options,
  });

async function once(options: Partial<WatchOptions> = {}) {
  const watcher = await watcherOf(options);
  try {
    return await watcher.once();
  } finally {
    await watcher.close();
  }
}

interface Stored {
  readonly session: string;
  readonly events: number;
  readonly source: NonNullable<DispatchEnvelope['source']>;
  readonly status: string;
}

async function stored(): Promise<Stored[]> {
  const found: Stored[] = [];
  for await (const entry of store.dispatches()) {
    if ('error' in entry || entry.envelope.source === null) continue;
    const { source, status } = entry.envelope;
    const session = /([^/]+)\.jsonl/.exec(source.path ?? '')?.[1] ?? '';
    found.push({ session, events: await entry.log.count(), source, status });
  }
  return found.sort((one, other) => (one.session < other.session ? -1 : 1));
}

const names = async () => (await stored()).map(({ session }) => session);

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('It did not happen in time.');
    await wait(20);
  }
}

/** Runs a watcher during an action. */
async function watching(
  action: (watcher: SourceWatcher) => Promise<void>,
  options: Partial<WatchOptions> = {},
) {
  const stop = new AbortController();
  const watcher = await watcherOf({ signal: stop.signal, ...options });
  const running = watcher.run();
  try {
    await action(watcher);
  } finally {
    stop.abort();
    await running;
    await watcher.close();
  }
}

describe('one look', () => {
  it('imports what is new, and opens nothing when nothing has changed', async () => {
    put(place('one'), rows('one', 0, 4));
    put(join(home, 'documents/two.jsonl'), rows('two', 0, 4));
    expect(await once()).toMatchObject({ imported: 1, gone: 0 });
    const [session] = await stored();
    expect(session).toMatchObject({ session: 'one', source: { machine: 'lab', path: place('one') } });
    expect(session?.source.run).toBeUndefined();
    items = [];
    expect(await once()).toEqual({ imported: 0, gone: 0, isChanged: false });
    expect(items).toEqual([]);
    appendFileSync(place('one'), rows('one', 4, 2));
    expect(await once()).toMatchObject({ imported: 1 });
    expect((await stored())[0]?.events).toBeGreaterThan(session?.events ?? 0);
  });

  it('keeps what disappears, marked, and takes the mark back when it returns', async () => {
    put(place('one'), rows('one', 0, 4));
    put(place('two'), rows('two', 0, 4));
    await once();
    const [before] = await stored();
    rmSync(place('one'));
    expect(await once()).toMatchObject({ imported: 0, gone: 1 });
    expect(await stored()).toMatchObject([
      { session: 'one', events: before?.events, source: { gone: expect.any(String) } },
      { session: 'two' },
    ]);
    expect((await stored())[1]?.source.gone).toBeUndefined();
    put(place('one'), rows('one', 0, 6));
    expect(await once()).toMatchObject({ imported: 1, gone: 0 });
    expect((await stored())[0]?.source.gone).toBeUndefined();
  });

  it('takes the mark back when the same file returns to a watcher that knew it from one before', async () => {
    put(place('one'), rows('one', 0, 4));
    put(place('two'), rows('two', 0, 4));
    await once();
    const watcher = await watcherOf();
    try {
      expect(await watcher.once()).toMatchObject({ isChanged: false });
      renameSync(place('one'), join(home, 'elsewhere'));
      expect(await watcher.once()).toMatchObject({ gone: 1 });
      renameSync(join(home, 'elsewhere'), place('one'));
      await watcher.once();
      expect((await stored())[0]?.source.gone).toBeUndefined();
    } finally {
      await watcher.close();
    }
  });

  it('follows a session that moves, that is compressed, or that another file has, too', async () => {
    put(place('one'), rows('one', 0, 4));
    put(place('two'), rows('two', 0, 4));
    put(place('six'), rows('six', 0, 4));
    put(join(home, '.claude/projects/-backup/copy.jsonl'), rows('six', 0, 4));
    await once();
    mkdirSync(dirname(place('one', '-moved')), { recursive: true });
    renameSync(place('one'), place('one', '-moved'));
    put(`${place('two')}.gz`, gzipSync(readFileSync(place('two'))));
    rmSync(place('two'));
    rmSync(join(home, '.claude/projects/-backup/copy.jsonl'));
    expect(await once()).toMatchObject({ gone: 0 });
    const paths = (await stored()).map(({ source }) => source.path);
    expect(paths.sort()).toEqual([place('one', '-moved'), place('six'), `${place('two')}.gz`].sort());
  });

  it('says nothing of a folder that is away, or that left the products', async () => {
    put(place('one'), rows('one', 0, 4));
    await once();
    renameSync(join(home, '.claude'), join(home, 'elsewhere'));
    expect(await once()).toMatchObject({ imported: 0, gone: 0 });
    expect((await stored())[0]?.source.gone).toBeUndefined();
  });

  it('marks a session whose file has another session now', async () => {
    put(place('one'), rows('one', 0, 4));
    await once();
    put(place('one'), rows('other', 0, 4));
    expect(await once()).toMatchObject({ imported: 1, gone: 1 });
    const gone = (await stored()).map(({ source }) => source.gone !== undefined);
    expect(gone.sort()).toEqual([false, true]);
  });

  it('marks the session that a database no longer has, and no other one of it', async () => {
    const path = put(join(home, '.local/share/opencode/opencode.db'), '');
    using database = new DatabaseSync(path);
    database.exec(`
      CREATE TABLE session (id text, parent_id text, directory text, title text, time_created integer);
      CREATE TABLE message (id text, session_id text, time_created integer, data text);
      CREATE TABLE part (id text, message_id text, session_id text, time_created integer, data text);
    `);
    for (const id of ['a', 'b', 'c']) {
      database.exec(`INSERT INTO session VALUES ('${id}', NULL, '/work', '${id}', ${Date.UTC(2026, 2, 1)});
        INSERT INTO message VALUES ('m${id}', '${id}', ${Date.UTC(2026, 2, 1)}, '{"role":"user"}');
        INSERT INTO part VALUES ('p${id}', 'm${id}', '${id}', 1, '{"type":"text","text":"Go on."}')`);
    }
    expect(await once()).toMatchObject({ imported: 3 });
    database.exec(`DELETE FROM session WHERE id = 'b'; DELETE FROM message WHERE session_id = 'b'`);
    expect(await once()).toMatchObject({ gone: 1 });
    expect((await stored()).filter(({ source }) => source.gone !== undefined)).toHaveLength(1);
    rmSync(path);
    expect(await once()).toMatchObject({ gone: 2 });
  });

  it('follows no link to a folder, and ends where links lead in a circle', async () => {
    put(place('one'), rows('one', 0, 4));
    symlinkSync(join(home, '.claude/projects'), join(home, '.claude/projects/-work-shop/again'));
    symlinkSync(place('loop'), place('pool'));
    symlinkSync(place('pool'), place('loop'));
    expect(await once()).toMatchObject({ imported: 1 });
    expect(await names()).toEqual(['one']);
  });

  it('reads a file again that could not be imported only when it has changed, and names it', async () => {
    put(place('bad'), '{"some":"thing"}\n'.repeat(5));
    put(place('one'), rows('one', 0, 4));
    await once();
    expect(items.filter(({ kind }) => kind === 'failed')).toHaveLength(1);
    const { watchers } = await readWatchers(store);
    expect(watchers[0]?.state?.problems).toMatchObject([{ path: place('bad') }]);
    items = [];
    appendFileSync(place('one'), rows('one', 4, 2));
    await once();
    expect(items.filter(({ kind }) => kind === 'failed')).toHaveLength(0);
    appendFileSync(place('bad'), '{}\n');
    await once();
    expect(items.filter(({ kind }) => kind === 'failed')).toHaveLength(1);
  });

  it('ends a session when it is quiet, although nothing has changed', async () => {
    put(place('one'), rows('one', 0, 3));
    const at = Date.UTC(2026, 2, 1, 9, 10);
    await once({ now: () => at });
    expect((await stored())[0]?.status).toBe('running');
    await once({ now: () => at + 3_600_000 });
    expect((await stored())[0]?.status).toBe('crashed');
  });
});

describe('what is not imported', () => {
  it('is what was deleted from the store, also when it grows', async () => {
    put(place('one'), rows('one', 0, 4));
    await once();
    for await (const entry of store.dispatches()) if (!('error' in entry)) await store.deleteDispatch(entry);
    await once();
    appendFileSync(place('one'), rows('one', 4, 2));
    await once();
    expect(await stored()).toEqual([]);
  });

  it('is what a product, a project, a name or a path names, until it is taken back', async () => {
    put(place('one'), rows('one', 0, 4));
    put(place('two', '-work-web'), rows('two', 0, 4, '/work/web'));
    put(place('six', '-work-web-six'), rows('six', 0, 4, '/work/web/six'));
    for (const word of ['shop', '/work/web']) await excludeFromWatch(store, word);
    await excludeFromWatch(store, 'shop');
    await once();
    expect(await stored()).toEqual([]);
    expect((await readWatchers(store)).exclusions.map(({ word }) => word).sort()).toEqual([
      '/work/web',
      'shop',
    ]);
    expect(await includeInWatch(store, 'shop')).toBe(true);
    expect(await includeInWatch(store, 'shop')).toBe(false);
    await once();
    expect(await names()).toEqual(['one']);
    await includeInWatch(store, '/work/web');
    await excludeFromWatch(store, dirname(place('six', '-work-web-six')));
    await once();
    expect(await names()).toEqual(['one', 'two']);
    await excludeFromWatch(store, 'claude-code');
    appendFileSync(place('one'), rows('one', 4, 2));
    expect(await once()).toMatchObject({ imported: 0, gone: 0 });
    expect((await stored()).every(({ source }) => source.gone === undefined)).toBe(true);
  });
});

describe('a watcher that runs', () => {
  it('imports what grows, begins in a new folder, and disappears', async () => {
    put(place('one'), rows('one', 0, 4));
    await watching(async (watcher) => {
      await until(async () => (await names()).length === 1 && watcher.watches >= 2);
      const before = (await stored())[0]?.events ?? 0;
      appendFileSync(place('one'), rows('one', 4, 2));
      await until(async () => ((await stored())[0]?.events ?? 0) > before);
      put(place('two', '-work/deep/er'), rows('two', 0, 4));
      await until(async () => (await names()).length === 2);
      appendFileSync(place('two', '-work/deep/er'), rows('two', 4, 2));
      rmSync(place('one'));
      await until(async () => (await stored())[0]?.source.gone !== undefined);
      await excludeFromWatch(store, 'two');
      put(place('six'), rows('six', 0, 4));
      await until(async () => (await names()).length === 3);
      rmSync(join(home, '.claude/projects/-work'), { recursive: true });
      await until(
        async () => (await stored()).filter(({ source }) => source.gone !== undefined).length === 2,
      );
    });
    expect((await readWatchers(store)).watchers[0]).toMatchObject({
      state: { mode: 'events', machine: 'lab', home, failure: null },
      claim: null,
    });
  });

  it('is the only one for a store, a machine and a home folder', async () => {
    put(place('one'), rows('one', 0, 4));
    await watching(async () => {
      await expect(watcherOf()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
      const other = await watcherOf({ machine: 'other' });
      await other.close();
    });
    await once();
  });

  it('polls where it may not watch enough folders, and says why', async () => {
    put(place('one'), rows('one', 0, 4));
    put(place('two', '-other'), rows('two', 0, 4));
    await watching(
      async (watcher) => {
        await until(async () => (await names()).length === 2);
        await until(async () => {
          const [known] = (await readWatchers(store)).watchers;
          return known?.state?.mode === 'polling';
        });
        expect(watcher.watches).toBe(1);
        const [known] = (await readWatchers(store)).watchers;
        expect(known?.state?.pollsBecause).toBe('only 1 folders may be watched');
      },
      { mostWatches: 1 },
    );
  });

  it('continues when the store is away, and brings in what was written meanwhile', async () => {
    put(place('one'), rows('one', 0, 4));
    let isAway = false;
    const failures: unknown[] = [];
    const provider = createMemoryStore();
    const append = provider.appendEvents.bind(provider);
    provider.appendEvents = (...given) => {
      if (!isAway) return append(...given);
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    await store.close();
    store = openDispatchStore(provider);
    await watching(
      async () => {
        await until(async () => (await names()).length === 1);
        const before = (await stored())[0]?.events ?? 0;
        isAway = true;
        appendFileSync(place('one'), rows('one', 4, 2));
        await until(async () => failures.length > 0 || items.some(({ kind }) => kind === 'failed'));
        isAway = false;
        await until(async () => ((await stored())[0]?.events ?? 0) > before);
      },
      { onFailure: (error) => failures.push(error) },
    );
  });

  it('ends when the store was deleted, and the next one imports everything anew', async () => {
    put(place('one'), rows('one', 0, 4));
    let provider: DispatchStoreProvider = createMemoryStore();
    await store.close();
    const replaced = new Proxy({} as DispatchStoreProvider, {
      get: (_, name: keyof DispatchStoreProvider) => {
        const value = provider[name];
        return typeof value === 'function' ? value.bind(provider) : value;
      },
    });
    store = openDispatchStore(replaced);
    const watcher = await watcherOf();
    const running = watcher.run();
    await until(async () => (await names()).length === 1);
    provider = createMemoryStore();
    put(place('two'), rows('two', 0, 4));
    await expect(running).rejects.toMatchObject({
      code: 'STORE_DISPATCH_NOT_FOUND',
      message: expect.stringContaining('Start the watcher again'),
    });
    await watcher.close().catch(() => {});
    store = openDispatchStore(replaced);
    expect(await names()).toEqual([]);
    await once();
    expect(await names()).toEqual(['one', 'two']);
  });
});

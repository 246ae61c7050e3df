import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it } from 'vitest';
import { importAll, LogFolder } from './logs.ts';

const time = Date.parse('2026-03-01T09:30:00.000Z');
const tables = `
  CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, time_created integer, time_updated integer);
  CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
  CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
`;
const tokens = { input: 900, output: 10, reasoning: 2, cache: { read: 100, write: 0 } };

class Product implements Disposable {
  readonly database: DatabaseSync;

  constructor(path: string, mode: 'wal' | 'delete') {
    this.database = new DatabaseSync(path);
    this.database.exec(`PRAGMA journal_mode = ${mode}; ${tables}`);
    if (mode === 'wal') this.database.exec('PRAGMA wal_checkpoint');
  }

  session(id: string, parent: string | null = null): void {
    this.database
      .prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)')
      .run(id, parent, '/srv/shop', `Title of ${id}`, time, time);
  }

  message(id: string, session: string, data: object): void {
    this.database
      .prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)')
      .run(id, session, time, time, JSON.stringify(data));
  }

  part(id: string, message: string, session: string, data: object): void {
    this.database
      .prepare('INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)')
      .run(id, message, session, time, time, JSON.stringify(data));
  }

  [Symbol.dispose](): void {
    this.database.close();
  }
}

const bash = (state: object) => ({
  type: 'tool',
  tool: 'bash',
  callID: 'c-1',
  state: { input: { command: 'npm test' }, ...state },
});
const failed = {
  status: 'completed',
  output: '1 failed',
  metadata: { output: '1 failed', exit: 3 },
  title: 'npm test',
  time: { start: time, end: time + 20 },
};

function conversation(product: Product, session = 'ses_1', parent: string | null = null): void {
  product.session(session, parent);
  product.message(`msg_${session}1`, session, { role: 'user', time: { created: time } });
  product.part(`prt_${session}1`, `msg_${session}1`, session, { type: 'text', text: 'Run the tests.' });
  product.message(`msg_${session}2`, session, {
    role: 'assistant',
    modelID: 'claude-sonnet-4-5',
    time: { created: time },
    cost: 0,
    tokens,
  });
  product.part(
    `prt_${session}2`,
    `msg_${session}2`,
    session,
    bash({ status: 'running', time: { start: time } }),
  );
}

async function imported(folder: LogFolder, store = openDispatchStore(createMemoryStore())) {
  const items = await importAll(store, [folder.path], { prices: false });
  const found = [];
  for await (const listed of store.dispatches()) {
    if ('error' in listed) throw listed.error;
    const { taskDir, dispatchId, envelope } = listed;
    found.push({ taskDir, envelope, events: await store.getDispatchEvents(taskDir, dispatchId) });
  }
  return { items, found, store };
}

it('a database that its product has open is read with its log, and nothing of it is written or locked', async () => {
  using folder = new LogFolder();
  using product = new Product(join(folder.path, 'opencode.db'), 'wal');
  conversation(product);
  const before = readdirSync(folder.path).sort();
  product.database.exec('BEGIN IMMEDIATE');
  product.part('prt_ses_19', 'msg_ses_12', 'ses_1', { type: 'text', text: 'not committed' });
  const { found, items } = await imported(folder);
  product.database.exec('COMMIT');
  expect(items).toMatchObject([{ kind: 'imported', format: 'opencode' }]);
  expect(readdirSync(folder.path).sort()).toEqual(before);
  const types = found[0]?.events.map(({ type }) => type).filter((type) => !type.startsWith('system:'));
  expect(types).toEqual(['session:status', 'user:message', 'session:init', 'agent:tool_call']);
  expect(found[0]?.envelope.title).toBe('Title of ses_1');
});

it('a call gets its result in a later import; its exit code decides whether it failed; usage counts once', async () => {
  using folder = new LogFolder();
  using product = new Product(join(folder.path, 'opencode.db'), 'delete');
  conversation(product);
  const { store } = await imported(folder);
  product.part('prt_ses_12', 'msg_ses_12', 'ses_1', bash(failed));
  product.part('prt_ses_13', 'msg_ses_12', 'ses_1', {
    type: 'step-finish',
    reason: 'tool-calls',
    tokens,
    cost: 0,
  });
  const { found, items } = await imported(folder, store);
  expect(items).toMatchObject([{ kind: 'imported', added: 3 }]);
  const result = found[0]?.events.find(({ type }) => type === 'agent:tool_result');
  expect(result?.data).toMatchObject({
    status: 'error',
    error: 'The command exited with 3.',
    output: '1 failed',
    durationMs: 20,
    metadata: { exitCode: 3 },
  });
  expect(found[0]?.envelope.usage).toEqual({
    inputTokens: 900,
    outputTokens: 12,
    cacheReadTokens: 100,
    reasoningTokens: 2,
  });
  expect(found[0]?.envelope.cost).toBeNull();
  expect((await imported(folder, store)).items).toMatchObject([{ kind: 'unchanged' }]);
});

it('a text that has changed is another version, and a row that is gone stays', async () => {
  using folder = new LogFolder();
  using product = new Product(join(folder.path, 'opencode.db'), 'delete');
  conversation(product);
  product.part('prt_ses_14', 'msg_ses_12', 'ses_1', { type: 'text', text: 'One' });
  const { store } = await imported(folder);
  product.part('prt_ses_14', 'msg_ses_12', 'ses_1', { type: 'text', text: 'One test fails.' });
  product.database.exec("DELETE FROM part WHERE id = 'prt_ses_11'");
  const { found } = await imported(folder, store);
  const texts = found[0]?.events.filter(({ type }) => type === 'agent:text');
  expect(texts).toMatchObject([
    { id: 'prt_ses_14', data: { text: 'One' } },
    { data: { text: 'One test fails.' }, retracts: ['prt_ses_14'] },
  ]);
  expect(found[0]?.events.some(({ data }) => data.text === 'Run the tests.')).toBe(true);
});

it('a sub-agent names its parent, and its task is from an agent; a fork has no link', async () => {
  using folder = new LogFolder();
  using product = new Product(join(folder.path, 'opencode.db'), 'delete');
  conversation(product, 'ses_1');
  conversation(product, 'ses_2', 'ses_1');
  conversation(product, 'ses_3');
  const { found } = await imported(folder);
  const of = (title: string) => found.find(({ envelope }) => envelope.title === title);
  const [parent, child, fork] = ['Title of ses_1', 'Title of ses_2', 'Title of ses_3'].map(of);
  expect(child?.envelope.parentDispatchId).toBe(parent?.envelope.dispatchId);
  expect(child?.taskDir).toBe(parent?.taskDir);
  const prompt = child?.events.find(({ type }) => type === 'user:message');
  expect(prompt?.data.source).toEqual({ kind: 'agent', dispatchId: parent?.envelope.dispatchId });
  expect([fork?.envelope.parentDispatchId, fork?.envelope.forkedFrom ?? null]).toEqual([null, null]);
});

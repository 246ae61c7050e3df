import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type DispatchLog,
  type DispatchStore,
  type DispatchStream,
  openDispatchStore,
  replayDispatch,
} from '@hansard/dispatch';
import { isEventOf, newOutput, PrintedForm, reviveSnapshot } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { openSqliteStore } from '@hansard/store-sqlite';
import { appendEvent, createDispatch, updateDispatch } from '@hansard/testing';
import { afterAll, describe, expect, it } from 'vitest';

const taskDir = 'lab/tasks/observe';
const dispatchId = 'D1';
const folder = mkdtempSync(join(tmpdir(), 'hansard-observed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The stores, each with what opens it as a later process would, where there can be one. */
const stores: readonly (readonly [string, () => DispatchStoreProvider, 'durable' | 'memory'])[] = [
  ['memory', () => createMemoryStore(), 'memory'],
  ['JSON-file', () => openJsonFileStore({ root: join(folder, 'files') }), 'durable'],
  ['SQLite', () => openSqliteStore({ path: join(folder, 'log.db') }), 'durable'],
];

function cycle(): { self?: unknown; name: string } {
  const node: { self?: unknown; name: string } = { name: 'cycle' };
  node.self = node;
  return node;
}

/** Values that come back as they were. Made anew by each call, so that one copy can be changed. */
const makeValues = () => [
  'text with \u0000, \u2028 and an emoji 🪿',
  { rows: [1, null, { deep: true }] },
  new Map<unknown, unknown>([['list', [1, 2]]]),
  new Set([1, 'a', null]),
  new Date(86_400_000),
  12345678901234567890n,
  new Float64Array([1.5, Number.NaN]),
  cycle(),
  { mediaType: 'image/png', bytes: new Uint8Array([137, 80, 78, 71, 0, 255]) },
];

/** The observed values that a stream gives, up to its end, with the bytes that the log keeps beside them. */
async function valuesOf(log: DispatchLog, stream: DispatchStream = replayDispatch(log)): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { event } of stream) {
    if (!isEventOf(event, 'agent:output')) continue;
    for (const part of event.data.parts) {
      const { sha256 } = part as { readonly sha256?: string };
      const base64 = sha256 === undefined ? null : await log.readContent(sha256);
      values.push(reviveSnapshot(base64 === null ? part : ({ ...part, base64 } as typeof part)));
    }
  }
  return values;
}

async function begin(provider: DispatchStoreProvider): Promise<DispatchStore> {
  const store = openDispatchStore(provider);
  await createDispatch(store, taskDir, { role: 'observer', dispatchId, fidelity: 'full' });
  return store;
}

describe.each(stores)('observed values in the %s store', (_, open, kind) => {
  it('come back as they were on replay, as in the stream, though the objects changed meanwhile', async () => {
    let store = await begin(open());
    const opened = await store.openDispatch(taskDir, dispatchId);
    const live = valuesOf(opened, opened.stream());
    const values = makeValues();
    const recording = appendEvent(store, taskDir, dispatchId, newOutput(values));
    for (const value of values) change(value);
    await recording;
    for (const value of values) change(value);
    await updateDispatch(store, taskDir, dispatchId, { status: 'completed' });
    expect(await live).toEqual(makeValues());
    if (kind === 'durable') {
      await store.close();
      store = openDispatchStore(open());
    }
    const log = await store.openDispatch(taskDir, dispatchId);
    const replayed = await valuesOf(log);
    expect(replayed).toEqual(await live);
    const [node] = replayed.filter((value) => (value as { name?: string }).name === 'cycle');
    expect((node as { self?: unknown }).self).toBe(node);
    await store.close();
  });
});

it('a database handle, a function and what throws when it is read become their printed form, marked', async () => {
  const store = await begin(createMemoryStore());
  const database = new DatabaseSync(':memory:');
  const throwing = {
    name: 'kept',
    get column() {
      throw new Error('no such column');
    },
  };
  const no = () => {
    throw new Error('no');
  };
  const silent = new Proxy({}, { get: no, ownKeys: no });
  const values = [database, function compute() {}, { database, rows: 3 }, throwing, silent];
  await appendEvent(store, taskDir, dispatchId, newOutput(values));
  database.close();
  const back = await valuesOf(await store.openDispatch(taskDir, dispatchId));
  expect(back).toEqual([
    new PrintedForm(expect.stringContaining('DatabaseSync') as never),
    new PrintedForm(expect.stringContaining('compute') as never),
    { database: new PrintedForm(expect.stringContaining('DatabaseSync') as never), rows: 3 },
    { name: 'kept', column: new PrintedForm(expect.stringContaining('no such column') as never) },
    expect.any(PrintedForm),
  ]);
});

it('a huge value is kept whole', async () => {
  const store = await begin(openSqliteStore({ path: join(folder, 'huge.db') }));
  const huge = new Map(Array.from({ length: 50_000 }, (_, index) => [index, 'x'.repeat(100)]));
  await appendEvent(store, taskDir, dispatchId, newOutput([huge, 'y'.repeat(5_000_000)]));
  const [map, text] = await valuesOf(await store.openDispatch(taskDir, dispatchId));
  expect(map).toEqual(huge);
  expect(text).toHaveLength(5_000_000);
  await store.close();
});

function change(value: unknown): void {
  if (value instanceof Map || value instanceof Set) value.clear();
  else if (value instanceof Date) value.setTime(0);
  else if (value instanceof Float64Array) value.fill(0);
  else if (typeof value === 'object' && value !== null) {
    if ('bytes' in value) (value.bytes as Uint8Array).fill(0);
    for (const key of Object.keys(value)) delete (value as Record<string, unknown>)[key];
  }
}

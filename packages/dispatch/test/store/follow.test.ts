import {
  type DispatchStore,
  type FollowItem,
  type FollowOptions,
  openDispatchStore,
} from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { type DispatchStoreProvider, type StoreError, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvents, createDispatch, followDispatch, ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';

const task = 'lab/tasks/route-models';
const id = 'D1';

async function open(provider: DispatchStoreProvider = createMemoryStore(), clock = new ManualClock()) {
  const store = openDispatchStore(provider, { clock, pollIntervalMs: 100 });
  await createDispatch(store, task, { role: 'worker', dispatchId: id });
  return store;
}

async function say(store: DispatchStore, ...texts: readonly string[]): Promise<void> {
  await appendEvents(
    store,
    task,
    id,
    texts.map((text) => newEvent('agent:text', { text })),
  );
}

/** An item in a word: `0:text` or `caught up at 0`. */
function inWords(item: FollowItem): string {
  return item.kind === 'event' ? `${item.position}:${item.event.data.text}` : `caught up at ${item.position}`;
}

/** Gathers what a follower gives, in the background. */
function gather(store: DispatchStore, options: FollowOptions = {}) {
  const stop = new AbortController();
  const items: string[] = [];
  const done = (async () => {
    const signal = options.signal ?? stop.signal;
    for await (const item of followDispatch(store, task, id, { ...options, signal }))
      items.push(inWords(item));
  })();
  return { items, done, stop: () => stop.abort() };
}

/** A memory store that can't watch, or one whose watching can be seen. */
function watchlessStore(): DispatchStoreProvider {
  const capabilities = { ...createMemoryStore().capabilities, watch: false };
  return changedStore(() => ({ capabilities }));
}

function away(): StoreError {
  return storeErrors.error('STORE_UNAVAILABLE', 'The store is away.', { isTransient: true });
}

function fails(): never {
  throw away();
}

describe('a follower', () => {
  it('gets all that is stored, one marker, then what is appended, each once and in order', async () => {
    const store = await open();
    await say(store, 'a', 'b');
    const follower = gather(store);
    await turn();
    expect(follower.items).toEqual(['0:a', '1:b', 'caught up at 1']);
    await say(store, 'c');
    await turn();
    await say(store, 'd', 'e');
    await turn();
    expect(follower.items.slice(3)).toEqual(['2:c', '3:d', '4:e']);
    follower.stop();
    await follower.done;
  });

  it('begins after its cursor', async () => {
    const store = await open();
    await say(store, 'a', 'b', 'c');
    const follower = gather(store, { after: 1 });
    const atTheEnd = gather(store, { after: 2 });
    await turn();
    expect(follower.items).toEqual(['2:c', 'caught up at 2']);
    expect(atTheEnd.items).toEqual(['caught up at 2']);
  });

  it('of an empty dispatch is caught up before the first event', async () => {
    const store = await open();
    const follower = gather(store);
    await turn();
    await say(store, 'a');
    await turn();
    expect(follower.items).toEqual(['caught up at -1', '0:a']);
  });

  it('loses nothing and gets nothing twice beside a writer, whatever the sizes of page and batch', async () => {
    const store = await open();
    const followers = [1, 2, 7, 256].map((pageSize) => gather(store, { pageSize }));
    const expected: string[] = [];
    for (let size = 0; size < 40; size += 1) {
      const texts = Array.from({ length: size % 5 }, (_, index) => `${size}-${index}`);
      for (const text of texts) expected.push(`${expected.length}:${text}`);
      await say(store, ...texts);
      if (size % 3 === 0) await turn();
    }
    for (let waited = 0; waited < 100; waited += 1) await turn();
    for (const { items } of followers) {
      expect(items.filter((item) => !item.startsWith('caught up'))).toEqual(expected);
      expect(items.filter((item) => item.startsWith('caught up'))).toHaveLength(1);
    }
  });

  it('hears of appends past the facade where the store watches', async () => {
    const provider = createMemoryStore();
    const store = await open(provider);
    const follower = gather(store);
    await turn();
    await say(openDispatchStore(provider), 'from another facade');
    await turn();
    expect(follower.items).toEqual(['caught up at -1', '0:from another facade']);
  });

  it('looks by the clock where the store cannot watch', async () => {
    const clock = new ManualClock();
    const provider = watchlessStore();
    const store = await open(provider, clock);
    const follower = gather(store);
    await turn();
    await say(openDispatchStore(provider), 'from another facade');
    clock.advance(99);
    await turn();
    expect(follower.items).toEqual(['caught up at -1']);
    clock.advance(1);
    await turn();
    expect(follower.items).toEqual(['caught up at -1', '0:from another facade']);
    follower.stop();
    await follower.done;
    expect(clock.timers).toBe(0);
  });

  it('hears of appends through its own facade without waiting for the clock', async () => {
    const store = await open(watchlessStore());
    const follower = gather(store);
    await turn();
    await say(store, 'a');
    await turn();
    expect(follower.items).toEqual(['caught up at -1', '0:a']);
  });

  it('hears a little later of an append that the watching of the store missed', async () => {
    const clock = new ManualClock();
    const provider = changedStore(() => ({ watch: () => () => {} }));
    const store = await open(provider, clock);
    const follower = gather(store);
    await turn();
    await say(openDispatchStore(provider), 'from another process');
    clock.advance(5_000);
    await turn();
    expect(follower.items).toEqual(['caught up at -1', '0:from another process']);
    follower.stop();
    await follower.done;
    expect(clock.timers).toBe(0);
  });

  it('that is slow holds no more than a page', async () => {
    const limits: (number | undefined)[] = [];
    const provider = changedStore((store) => ({
      readEvents(taskDir, dispatchId, options) {
        limits.push(options?.limit);
        return store.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = await open(provider);
    const log = await store.openDispatch(task, id);
    const items = log.follow({ pageSize: 2 })[Symbol.asyncIterator]();
    await say(store, 'a');
    await items.next();
    for (let count = 0; count < 50; count += 1) await say(store, 'more');
    expect(limits).toEqual([2]);
    await items.return?.();
  });

  it('ends when its signal aborts, also before it began and in the middle of a page', async () => {
    const store = await open();
    await say(store, 'a', 'b', 'c');
    const waiting = gather(store);
    await turn();
    waiting.stop();
    await waiting.done;

    const early = gather(store, { signal: AbortSignal.abort() });
    await early.done;
    expect(early.items).toEqual([]);

    const stop = new AbortController();
    const seen: string[] = [];
    for await (const item of followDispatch(store, task, id, { signal: stop.signal })) {
      seen.push(inWords(item));
      if (seen.length === 2) stop.abort();
    }
    expect(seen).toEqual(['0:a', '1:b']);
  });

  it.each([
    ['hangs', () => new Promise<never>(() => {})],
    ['fails for a while', () => Promise.reject(away())],
    ['fails at once for a while', fails],
  ])('ends at once when its signal aborts while the store %s', async (_, call) => {
    for (const method of ['watch', 'readEvents'] as const) {
      let calls = 0;
      const asked = new Gate();
      const hang = () => {
        calls += 1;
        asked.open();
        return call();
      };
      const provider = changedStore(() => ({ [method]: hang }));
      const store = await open(provider);
      const waiting = gather(store);
      await asked.opened;
      await turn();
      waiting.stop();
      // No timer has run: the time of this clock stands still.
      await waiting.done;
      expect([method, calls]).toEqual([method, 1]);
    }
  });

  it('that ended before the store could watch stops that watch', async () => {
    const gate = new Gate();
    const stopped = new Gate();
    const provider = changedStore(() => ({
      watch: () => gate.opened.then(() => stopped.open),
    }));
    const waiting = gather(await open(provider));
    await turn();
    waiting.stop();
    await waiting.done;
    gate.open();
    await stopped.opened;
  });

  it('ends when the store closes, also while it reads', async () => {
    const gate = new Gate();
    const provider = changedStore((store) => ({
      async readEvents(taskDir, dispatchId, options) {
        if (options?.after === 0) await gate.opened;
        return store.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = await open(provider);
    const log = await store.openDispatch(task, id);
    const waiting = gather(store);
    await turn();
    await say(store, 'a');
    await turn();
    await store.close();
    gate.open();
    await waiting.done;
    expect(waiting.items).toEqual(['caught up at -1', '0:a']);
    expect(() => log.follow()).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }));
  });

  it('ends where the store was closed before the first item was asked for', async () => {
    const store = await open();
    const items = (await store.openDispatch(task, id)).follow();
    await store.close();
    for await (const item of items) throw new Error(`got ${inWords(item)}`);
  });

  it('that leaves, in the loop or while it waits, frees what watched for it', async () => {
    let watching = 0;
    const provider = changedStore((store) => ({
      async watch(scope, onChange) {
        const stop = await store.watch?.(scope, onChange);
        watching += 1;
        return () => {
          watching -= 1;
          stop?.();
        };
      },
    }));
    const store = await open(provider);
    const log = await store.openDispatch(task, id);
    for await (const _ of log.follow()) {
      expect(watching).toBe(1);
      break;
    }
    expect(watching).toBe(0);

    const items = log.follow()[Symbol.asyncIterator]();
    await items.next();
    const waiting = items.next();
    await items.return?.();
    expect(await waiting).toMatchObject({ done: true });
    expect(watching).toBe(0);
  });

  it('rejects for an unknown dispatch, a cursor after the end, and a store that fails', async () => {
    const store = await open();
    const log = await store.openDispatch(task, id);
    await expect(gather(store, { after: 5 }).done).rejects.toMatchObject({ code: 'STORE_INVALID_CURSOR' });
    const wrongCursor = () => log.follow({ after: -2 });
    expect(wrongCursor).toThrow(expect.objectContaining({ code: 'STORE_INVALID_CURSOR' }));
    expect(() => log.follow({ pageSize: 0 })).toThrow(TypeError);

    const follower = gather(store);
    await turn();
    await store.deleteDispatch({ taskDir: task, dispatchId: id });
    await expect(follower.done).rejects.toMatchObject({ code: 'STORE_DISPATCH_NOT_FOUND' });
    const late = log.follow()[Symbol.asyncIterator]();
    await expect(late.next()).rejects.toMatchObject({ code: 'STORE_DISPATCH_NOT_FOUND' });
  });
});

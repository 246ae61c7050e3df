import { type Dispatch, type DispatchStore, openDispatchStore, type TaskFollowItem } from '@hansard/dispatch';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { turn } from '../support/gate.ts';
import { say, task } from '../support/route-models.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

function open(
  provider: DispatchStoreProvider = createMemoryStore(),
  clock = new ManualClock(),
): DispatchStore {
  return openDispatchStore(provider, { clock, pollIntervalMs: 100 });
}

const begin = (store: DispatchStore, dispatchId: string) =>
  store.beginDispatch(task, { role: 'worker', dispatchId });

/** An item in a word: `d1 begins`, `d1:0:text`, `caught up`. */
function inWords(item: TaskFollowItem): string {
  if (item.kind === 'caught_up') return 'caught up';
  if (item.kind === 'dispatch') return `${item.dispatch.dispatchId} begins`;
  if (item.kind === 'unreadable') return `${item.dispatchId ?? 'the task'} is ${item.error.code}`;
  return `${item.dispatchId}:${item.position}:${item.event.data.text}`;
}

/** Gathers what the follower of a task gives, in the background. */
function gather(store: DispatchStore, options: { after?: Record<string, number>; pageSize?: number } = {}) {
  const stop = new AbortController();
  const items: string[] = [];
  const done = (async () => {
    for await (const item of store.follow({ taskDir: task }, { ...options, signal: stop.signal }))
      items.push(inWords(item));
  })();
  return { items, done, stop: () => stop.abort() };
}

async function turns(count = 20): Promise<void> {
  for (let waited = 0; waited < count; waited += 1) await turn();
}

describe('the follower of a task', () => {
  it('gets what is stored, a marker, then new events and new dispatches, of any process', async () => {
    const provider = createMemoryStore();
    const store = open(provider);
    const one = await begin(store, 'd1');
    await one.append([say('a'), say('b')]);
    const follower = gather(store);
    await turns();
    expect(follower.items).toEqual(['d1 begins', 'd1:0:a', 'd1:1:b', 'caught up']);
    const two = await begin(open(provider), 'd2');
    await two.append(say('c'));
    await turns();
    await one.append(say('d'));
    await turns();
    expect(follower.items.slice(4)).toEqual(['d2 begins', 'd2:0:c', 'd1:2:d']);
    follower.stop();
    await follower.done;
  });

  it('may begin before the task exists', async () => {
    const store = open();
    const follower = gather(store);
    await turns();
    await (await begin(store, 'd1')).append(say('a'));
    await turns();
    expect(follower.items).toEqual(['caught up', 'd1 begins', 'd1:0:a']);
    await store.close();
    await follower.done;
  });

  it('gets a late event of an ended dispatch, also with the time of the event before', async () => {
    const provider = createMemoryStore();
    const clock = new ManualClock();
    const store = open(provider, clock);
    const one = await begin(store, 'd1');
    await one.append(say('a'));
    await one.end({ status: 'completed' });
    const follower = gather(store);
    await turns();
    const late = await store.openDispatch(one, { write: true });
    await late.append(say('b'));
    await turns();
    expect(follower.items.at(-1)).toBe('d1:1:b');
    await late.release();
    const other = await open(provider, clock).openDispatch(one, { write: true });
    await other.append(say('c'));
    await turns();
    clock.advance(5_000);
    await turns();
    expect(follower.items.slice(-2)).toEqual(['d1:1:b', 'd1:2:c']);
    follower.stop();
  });

  it('looks by the clock where the store cannot watch', async () => {
    const provider = changedStore((inner) => ({ capabilities: { ...inner.capabilities, watch: false } }));
    const clock = new ManualClock();
    const follower = gather(open(provider, clock));
    await turns();
    await (await begin(open(provider), 'd1')).append(say('a'));
    clock.advance(99);
    await turns();
    expect(follower.items).toEqual(['caught up']);
    clock.advance(1);
    await turns();
    expect(follower.items).toEqual(['caught up', 'd1 begins', 'd1:0:a']);
    follower.stop();
  });

  it('begins after the cursors of dispatches', async () => {
    const store = open();
    for (const id of ['d1', 'd2', 'd3']) await (await begin(store, id)).append([say('a'), say('b')]);
    const follower = gather(store, { after: { d1: 0, d2: 1 } });
    await turns();
    expect(follower.items).toEqual('d1 begins,d1:1:b,d2 begins,d3 begins,d3:0:a,d3:1:b,caught up'.split(','));
    follower.stop();
  });

  it('reports a dispatch that cannot be read once, follows the others, and then that one', async () => {
    let isDamaged = true;
    const provider = changedStore((inner) => ({
      readEvents(taskDir, dispatchId, options) {
        if (isDamaged && dispatchId === 'd1') throw storeErrors.error('STORE_CORRUPT', 'd1 is damaged.');
        return inner.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = open(provider);
    const one = await begin(store, 'd1');
    const two = await begin(store, 'd2');
    await one.append(say('a'));
    const follower = gather(store);
    await turns();
    await two.append(say('b'));
    await turns();
    expect(follower.items).toEqual(['d1 begins', 'd1 is STORE_CORRUPT', 'd2 begins', 'caught up', 'd2:0:b']);
    isDamaged = false;
    await two.append(say('c'));
    await turns();
    expect(follower.items.slice(5)).toEqual(['d1:0:a', 'd2:1:c']);
    follower.stop();
  });

  it('reports a task whose dispatches cannot be listed, and forgets none of them meanwhile', async () => {
    let isDamaged = false;
    const error = storeErrors.error('STORE_CORRUPT', 'The list is damaged.');
    const unlisted = { taskDir: task, dispatchId: null, envelope: null, lastActiveAt: null, error };
    const provider = changedStore((inner) => ({
      listDispatches: (options) =>
        isDamaged ? { dispatches: [unlisted], next: null } : inner.listDispatches(options),
    }));
    const store = open(provider);
    const one = await begin(store, 'd1');
    await one.append(say('a'));
    const follower = gather(store);
    await turns();
    isDamaged = true;
    await one.append(say('b'));
    await turns();
    await one.append(say('c'));
    await turns();
    expect(follower.items.slice(2)).toEqual(['caught up', 'the task is STORE_CORRUPT']);
    isDamaged = false;
    await one.append(say('d'));
    await turns();
    expect(follower.items.slice(4)).toEqual(['d1:1:b', 'd1:2:c', 'd1:3:d']);
    follower.stop();
  });

  it.each([
    ['shorter', [0]],
    ['as long', [0, 2, 3]],
  ])('leaves a log that is another one after damage, %s than before, and says so', async (_, kept) => {
    let state: 'whole' | 'damaged' | 'other' = 'whole';
    const provider = changedStore((inner) => ({
      async readEvents(taskDir, dispatchId, options = {}) {
        if (dispatchId !== 'd1' || state === 'whole') return inner.readEvents(taskDir, dispatchId, options);
        if (state === 'damaged') throw storeErrors.error('STORE_CORRUPT', 'd1 is damaged.');
        const all = await inner.getDispatchEvents(taskDir, dispatchId);
        const events = kept.flatMap((at) => all[at] ?? []);
        const { after = -1, last } = options;
        if (last === 0) return { events: [], first: events.length, next: events.length - 1 };
        return { events: events.slice(after + 1), first: after + 1, next: events.length - 1 };
      },
    }));
    const store = open(provider);
    const one = await begin(store, 'd1');
    const two = await begin(store, 'd2');
    await one.append([say('a'), say('b'), say('c')]);
    const follower = gather(store);
    await turns();
    state = 'damaged';
    await one.append(say('d'));
    await turns();
    state = 'other';
    await two.append(say('e'));
    await turns();
    await two.append(say('f'));
    await turns();
    expect(follower.items.slice(-4)).toEqual([
      'd1 is STORE_CORRUPT',
      'd1 is STORE_INVALID_CURSOR',
      'd2:0:e',
      'd2:1:f',
    ]);
    follower.stop();
  });

  it('reads a dispatch that was deleted and begun again from its beginning', async () => {
    const store = open();
    const one = await begin(store, 'd1');
    await one.append(say('a'));
    await one.end({ status: 'completed' });
    const follower = gather(store);
    await turns();
    await store.deleteDispatch(one);
    await turns();
    await (await begin(store, 'd1')).append(say('b'));
    await turns();
    expect(follower.items).toEqual(['d1 begins', 'd1:0:a', 'caught up', 'd1 begins', 'd1:0:b']);
    follower.stop();
  });

  it('can be left at any item, and while it waits', async () => {
    const store = open();
    await (await begin(store, 'd1')).append([say('a'), say('b')]);
    for await (const item of store.follow({ taskDir: task })) if (item.kind === 'event') break;
    const iterator = store.follow({ taskDir: task })[Symbol.asyncIterator]();
    for (let at = 0; at < 4; at += 1) await iterator.next();
    const waiting = iterator.next();
    await turns();
    await iterator.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it('is not kept waiting by a store that hangs', async () => {
    const provider = changedStore(() => ({ listDispatches: () => new Promise(() => {}) }));
    const follower = gather(open(provider));
    await turns();
    follower.stop();
    await follower.done;
    expect(follower.items).toEqual([]);
  });

  it('does not keep other dispatches waiting for a busy writer', async () => {
    const store = open();
    const busy = await begin(store, 'd1');
    await busy.append(say('0'));
    await (await begin(store, 'd2')).append(say('a'));
    const items: string[] = [];
    for await (const item of store.follow({ taskDir: task }, { pageSize: 1 })) {
      items.push(inWords(item));
      await busy.append(say(`${items.length}`));
      if (item.kind === 'event' && item.dispatchId === 'd2') break;
      expect(items.length).toBeLessThan(10);
    }
  });

  it('of a reference follows that dispatch alone', async () => {
    const store = open();
    const one = await begin(store, 'd1');
    await begin(store, 'd2');
    await one.append([say('a'), say('b')]);
    const items: unknown[] = [];
    for await (const item of store.follow(one, { after: 0 })) {
      items.push(item.kind === 'event' ? item.position : item.kind);
      if (item.kind === 'caught_up') break;
    }
    expect(items).toEqual([1, 'caught_up']);
    const absent = store.follow({ taskDir: task, dispatchId: 'none' })[Symbol.asyncIterator]();
    expect(await codeOf(absent.next())).toBe('STORE_DISPATCH_NOT_FOUND');
  });

  it('refuses wrong cursors, page sizes and paths, and a closed store', async () => {
    const store = open();
    expect(() => store.follow({ taskDir: task }, { after: { d1: -2 } })).toThrow(/-2/);
    expect(() => store.follow({ taskDir: task }, { pageSize: 0 })).toThrow(TypeError);
    expect(() => store.follow({ taskDir: '../out' })).toThrow(
      expect.objectContaining({ code: 'STORE_INVALID_PATH' }),
    );
    await store.close();
    expect(() => store.follow({ taskDir: task })).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }));
  });
});

/** A task that several openings write at random, and the truth about it. */
class RandomTask {
  readonly #random: () => number;
  readonly #stores: readonly DispatchStore[];
  readonly #open = new Map<string, Dispatch>();
  readonly #ended: string[] = [];
  #count = 0;
  /** The texts of each dispatch, by position. */
  readonly truth = new Map<string, string[]>();

  constructor(random: () => number, stores: readonly DispatchStore[]) {
    this.#random = random;
    this.#stores = stores;
  }

  /** One to three steps at the same time. */
  async act(): Promise<void> {
    const steps = Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => this.#step());
    await Promise.all(steps);
  }

  async #step(): Promise<void> {
    const chance = this.#random();
    const store = this.#pick(this.#stores) as DispatchStore;
    const dispatch = this.#pick([...this.#open.values()]);
    const ended = chance < 0.35 ? this.#ended.shift() : undefined;
    if (ended !== undefined) {
      const late = await store.openDispatch({ taskDir: task, dispatchId: ended }, { write: true });
      this.#open.set(ended, late);
    } else if (dispatch === undefined || chance < 0.15) {
      const id = `d${this.truth.size}`;
      this.truth.set(id, []);
      this.#open.set(id, await begin(store, id));
    } else if (chance < 0.45) {
      this.#open.delete(dispatch.dispatchId);
      await dispatch.end({ status: 'completed' });
      this.#ended.push(dispatch.dispatchId);
    } else {
      // Many equal texts, so that only positions and ids tell the events apart.
      const texts = Array.from({ length: 1 + Math.floor(this.#random() * 4) }, () => `${this.#count++ % 7}`);
      this.truth.get(dispatch.dispatchId)?.push(...texts);
      await dispatch.append(texts.map(say));
    }
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }
}

describe(`followers of a random task (HANSARD_SEED=${seed})`, () => {
  it.each([true, false])(
    'get each event of each dispatch once and in order; the store watches: %s',
    async (watch) => {
      for (let round = 0; round < 25; round += 1) {
        const random = randomFrom(seed + round);
        const provider = changedStore((inner) => ({ capabilities: { ...inner.capabilities, watch } }));
        const clock = new ManualClock();
        const stores = [open(provider, clock), open(provider, clock), open(provider, clock)];
        const written = new RandomTask(random, stores);
        const followers: {
          readonly after: Record<string, number>;
          readonly gathered: ReturnType<typeof gather>;
        }[] = [];
        for (let step = 0; step < 40; step += 1) {
          if (random() < 0.15) {
            const after: Record<string, number> = {};
            for (const [id, texts] of written.truth)
              if (random() < 0.4) after[id] = Math.floor(random() * texts.length);
            for (const [id, texts] of written.truth) if (texts.length === 0) delete after[id];
            const pageSize = 1 + Math.floor(random() * 5);
            const store = stores[Math.floor(random() * stores.length)] as DispatchStore;
            followers.push({ after, gathered: gather(store, { after, pageSize }) });
          }
          await written.act();
          if (random() < 0.5) await turns(Math.floor(random() * 4));
          if (random() < 0.3) clock.advance(Math.floor(random() * 200));
        }
        // A follower that is busy at one advance waits for the next.
        for (let advanced = 0; advanced < 6; advanced += 1) {
          await turns(80);
          clock.advance(5_000);
        }
        await turns(80);
        for (const { after, gathered } of followers) {
          const where = `HANSARD_SEED=${seed}, round ${round}, after ${JSON.stringify(after)}`;
          for (const [id, texts] of written.truth) {
            const own = gathered.items.filter((item) => item.startsWith(`${id}:`) || item === `${id} begins`);
            const expected = texts.map((text, at) => `${id}:${at}:${text}`).slice((after[id] ?? -1) + 1);
            expect(own, where).toEqual([`${id} begins`, ...expected]);
          }
          expect(
            gathered.items.filter((item) => item === 'caught up'),
            where,
          ).toHaveLength(1);
          gathered.stop();
          await gathered.done;
        }
      }
    },
  );
});

import { openDispatchStore, type StoreOutage } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { failingStore, lost } from '../support/failing-store.ts';
import { turn } from '../support/gate.ts';

const taskDir = 'lab/tasks/route-models';
const begin = { role: 'worker', model: 'model-a' };
const text = (words: string) => newEvent('agent:text', { text: words });

/** Advances the clock in small steps until the work is done, and fails when it takes longer than `limit` milliseconds. */
async function during<T>(clock: ManualClock, work: Promise<T>, limit = 200_000): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  const start = clock.monotonic();
  while (!isDone) {
    for (let turns = 0; turns < 3 && !isDone; turns += 1) await turn();
    if (!isDone) clock.advance(25);
    if (clock.monotonic() - start > limit) throw new Error(`The work was not done in ${limit} ms.`);
  }
  return done;
}

const away = () => storeErrors.error('STORE_UNAVAILABLE', lost, { isTransient: true });

describe('a store that fails at random, before a call has its effect or after it', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('loses, doubles and reorders nothing (seed %d)', async (seed) => {
    const clock = new ManualClock();
    const { provider, inner, failures } = failingStore(seed);
    const store = openDispatchStore(provider, { clock });
    const random = randomFrom(seed + 1_000);
    failures.rate = 0.4;
    /** The oracle: the texts of each dispatch in the order of the calls. */
    const said = new Map<string, string[]>();
    const deleted: string[] = [];
    const work = Array.from({ length: 4 }, async (_, writer) => {
      for (let round = 0; round < 3; round += 1) {
        const dispatch = await store.beginDispatch(taskDir, { ...begin, role: `writer-${writer}` });
        const texts: string[] = [];
        const pending: Promise<unknown>[] = [];
        for (let step = 0; step < 12; step += 1) {
          const words = Array.from(
            { length: 1 + Math.floor(random() * 3) },
            (_, n) => `${writer}.${round}.${step}.${n}`,
          );
          texts.push(...words);
          const events = words.map(text);
          const [only] = events;
          pending.push(
            events.length === 1 && only !== undefined ? dispatch.append(only) : dispatch.append(events),
          );
          if (random() < 0.3) await Promise.all(pending.splice(0));
        }
        await Promise.all(pending);
        await dispatch.update({ title: texts.at(-1) ?? null });
        await dispatch.end({ status: 'completed' });
        said.set(dispatch.dispatchId, texts);
        if (random() < 0.3) {
          await store.deleteDispatch(dispatch);
          said.delete(dispatch.dispatchId);
          deleted.push(dispatch.dispatchId);
        }
      }
    });
    await during(clock, Promise.all(work));
    expect(failures.counts.before).toBeGreaterThan(20);
    expect(failures.counts.after).toBeGreaterThan(20);
    const listed = (await inner.getDispatchEnvelopes(taskDir)).map(({ dispatchId }) => dispatchId);
    expect(listed.sort()).toEqual([...said.keys()].sort());
    for (const [dispatchId, texts] of said) {
      const events = await inner.getDispatchEvents(taskDir, dispatchId);
      expect(events.map(({ data }) => (data as { text: string }).text)).toEqual(texts);
      const envelope = await inner.getDispatchEnvelope(taskDir, dispatchId);
      expect(envelope).toMatchObject({ status: 'completed', title: texts.at(-1) });
      expect(envelope?.completedAt).not.toBeNull();
    }
    expect(deleted.length + said.size).toBe(12);
  });
});

describe('an outage', () => {
  const prepare = async (options = {}) => {
    const clock = new ManualClock();
    const { provider, inner, failures } = failingStore(1);
    const store = openDispatchStore(provider, { clock, ...options });
    const dispatch = await store.beginDispatch(taskDir, begin);
    const stored = async () =>
      (await inner.getDispatchEvents(taskDir, dispatch.dispatchId)).map(
        ({ data }) => (data as { text: string }).text,
      );
    return { clock, failures, store, dispatch, stored };
  };

  it('that ends within retryMs is only a delay, and the events keep their order', async () => {
    const { clock, failures, dispatch, stored } = await prepare();
    failures.isAway = true;
    const words = ['a', 'b', 'c', 'd'];
    const appends = Promise.all(words.map((word) => dispatch.append(text(word))));
    clock.after(29_900, () => {
      failures.isAway = false;
    });
    await during(clock, appends);
    expect(clock.monotonic()).toBeLessThanOrEqual(30_025);
    expect(await stored()).toEqual(words);
  });

  it('that is longer fails with the code and the cause of the last failure, how long and how often', async () => {
    const { clock, failures, dispatch, stored } = await prepare({ retryMs: 10_000 });
    failures.isAway = true;
    const before = failures.counts.before;
    const error = await during(
      clock,
      dispatch.append(text('a')).catch((failure: unknown) => failure),
    );
    if (!storeErrors.is(error, 'STORE_UNAVAILABLE')) throw error;
    // After 0, 50, 150, 350, 750, 1,550 and 3,150 ms, then after each 2,000 ms, and at the limit.
    expect(failures.counts.before - before).toBe(11);
    expect(error.details).toMatchObject({ tries: 11, triedMs: 10_000 });
    expect(error.message).toBe(`${lost} It was tried 11 times; the store has failed for 10.0 s.`);
    expect(error.cause).toEqual(new Error('ECONNRESET'));
    expect(error.isTransient).toBe(true);
    failures.isAway = false;
    expect(await stored()).toEqual([]);
  });

  it('that is longer fails the appends that wait for the first one with it, and not each after its own limit', async () => {
    const { clock, failures, dispatch } = await prepare({ retryMs: 10_000 });
    failures.isAway = true;
    const appends = ['a', 'b', 'c'].map((word) => codeOf(dispatch.append(text(word))));
    expect(await during(clock, Promise.all(appends))).toEqual(Array(3).fill('STORE_UNAVAILABLE'));
    expect(clock.monotonic()).toBeLessThanOrEqual(10_050);
  });

  it('gives later calls the whole time again, once the store has answered', async () => {
    const { clock, failures, dispatch, stored } = await prepare({ retryMs: 10_000 });
    for (const word of ['a', 'b', 'c']) {
      failures.isAway = true;
      clock.after(9_000, () => {
        failures.isAway = false;
      });
      await during(clock, dispatch.append(text(word)));
    }
    expect(await stored()).toEqual(['a', 'b', 'c']);
  });

  it('that was too long gives the next one the whole time, once a first call has been answered', async () => {
    const { clock, failures, dispatch, stored } = await prepare({ retryMs: 10_000 });
    failures.isAway = true;
    expect(await during(clock, codeOf(dispatch.append(text('lost'))))).toBe('STORE_UNAVAILABLE');
    failures.isAway = false;
    await during(clock, dispatch.append(text('a')));
    failures.isAway = true;
    clock.after(9_000, () => {
      failures.isAway = false;
    });
    await during(clock, dispatch.append(text('b')));
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('is reported once, and its end once, whatever the number of calls and of failures', async () => {
    const reports: (string | null)[] = [];
    const onOutage = (outage: StoreOutage | null) =>
      void reports.push(outage && `${outage.error.code}, ${outage.retryMs}`);
    const { clock, failures, store, dispatch } = await prepare({ retryMs: 10_000, onOutage });
    const other = await store.beginDispatch(taskDir, begin);
    const append = () => Promise.allSettled([dispatch, other].map((one) => one.append(text('a'))));
    expect(reports).toEqual([]);
    failures.isAway = true;
    clock.after(3_000, () => {
      failures.isAway = false;
    });
    await during(clock, append());
    const first = ['STORE_UNAVAILABLE, 10000', null];
    expect(reports).toEqual(first);

    failures.isAway = true;
    for (let round = 0; round < 2; round += 1) await during(clock, append());
    expect(reports).toEqual([...first, 'STORE_UNAVAILABLE, 10000']);
    failures.isAway = false;
    await during(clock, append());
    expect(reports).toEqual([...first, ...first]);
    await during(clock, append());
    expect(reports).toEqual([...first, ...first]);
  });

  it('ends with an error that is not transient, too, whatever the listener throws', async () => {
    const reports: unknown[] = [];
    const onOutage = (outage: unknown) => {
      reports.push(outage);
      throw new Error('A fault of the listener.');
    };
    const { clock, failures, store, dispatch } = await prepare({ retryMs: 1_000, onOutage });
    failures.isAway = true;
    expect(await during(clock, codeOf(dispatch.append(text('a'))))).toBe('STORE_UNAVAILABLE');
    failures.isAway = false;
    const missing = store.getDispatchEvents(taskDir, 'none');
    expect(await during(clock, codeOf(missing))).toBe('STORE_DISPATCH_NOT_FOUND');
    const outage = expect.objectContaining({ retryMs: 1_000 });
    expect(reports).toEqual([outage, null]);

    failures.isAway = true;
    clock.after(500, () => {
      failures.isAway = false;
    });
    const missingThen = codeOf(store.getDispatchEvents(taskDir, 'none'));
    expect(await during(clock, missingThen)).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(reports).toEqual([outage, null, outage, null]);
  });

  it('lets events wait up to retryBytes, and fails an append beyond it at once', async () => {
    const { clock, failures, dispatch, stored } = await prepare({ retryBytes: 2_000 });
    failures.isAway = true;
    const first = dispatch.append(text('first'));
    for (let turns = 0; turns < 3; turns += 1) await turn();
    const waiting = dispatch.append(text('x'.repeat(1_000)));
    const refused = await dispatch.append(text('y'.repeat(1_000))).catch((error: unknown) => error);
    if (!storeErrors.is(refused, 'STORE_UNAVAILABLE')) throw refused;
    expect(refused.message).toContain('2000 bytes (retryBytes)');
    failures.isAway = false;
    await during(clock, Promise.all([first, waiting]));
    // The bytes are free again.
    failures.isAway = true;
    const again = dispatch.append(text('again'));
    for (let turns = 0; turns < 3; turns += 1) await turn();
    const more = dispatch.append(text('z'.repeat(1_000)));
    failures.isAway = false;
    await during(clock, Promise.all([again, more]));
    expect(await stored()).toEqual(['first', 'x'.repeat(1_000), 'again', 'z'.repeat(1_000)]);
  });

  it('does not repeat calls with retryMs 0, nor errors that are not transient', async () => {
    const { failures, dispatch } = await prepare({ retryMs: 0 });
    failures.isAway = true;
    const before = failures.counts.before;
    expect(await codeOf(dispatch.append(text('a')))).toBe('STORE_UNAVAILABLE');
    expect(failures.counts.before).toBe(before + 1);

    let calls = 0;
    const refusing = changedStore(() => ({
      listTasks() {
        calls += 1;
        throw storeErrors.error('STORE_UNAVAILABLE', 'There is no space.');
      },
    }));
    expect(await codeOf(openDispatchStore(refusing).listTasks())).toBe('STORE_UNAVAILABLE');
    expect(calls).toBe(1);
  });

  it('is a delay for reads, listings, searches and watching too', async () => {
    const clock = new ManualClock();
    const store = openDispatchStore(
      eachFirst('listDispatches', 'searchEvents', 'watch', 'listTasks', 'readEvents'),
      {
        clock,
      },
    );
    const dispatch = await during(clock, store.beginDispatch(taskDir, begin));
    await dispatch.append(text('walrus'));
    expect((await during(clock, store.listDispatches())).dispatches).toHaveLength(1);
    expect(await during(clock, store.searchEvents('walrus'))).toHaveLength(1);
    expect(await during(clock, store.listTasks())).toHaveLength(1);
    expect(await during(clock, dispatch.count())).toBe(1);
    (
      await during(
        clock,
        store.watch({}, () => {}),
      )
    )();
  });
});

/** A store in which the first call of each of these methods throws a transient error. */
function eachFirst(...names: readonly (keyof DispatchStoreProvider)[]): DispatchStoreProvider {
  const inner = createMemoryStore();
  const failed = new Set<PropertyKey>();
  return new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]) => {
        if ((names as readonly PropertyKey[]).includes(key) && !failed.has(key)) {
          failed.add(key);
          throw away();
        }
        return member.apply(target, args);
      };
    },
  });
}

describe('an error that is not STORE_UNAVAILABLE', () => {
  it.each(['STORE_LOCKED', 'STORE_CORRUPT', 'STORE_DISPATCH_NOT_FOUND'] as const)(
    'is thrown at once, even if the store marks it as transient: %s',
    async (code) => {
      const clock = new ManualClock();
      let calls = 0;
      const provider = changedStore(() => ({
        findTask() {
          calls += 1;
          throw storeErrors.error(code, 'Marked by mistake.', { isTransient: true });
        },
      }));
      const store = openDispatchStore(provider, { clock });
      expect(await codeOf(store.findTask(taskDir))).toBe(code);
      expect([calls, clock.monotonic()]).toEqual([1, new ManualClock().monotonic()]);
    },
  );
});

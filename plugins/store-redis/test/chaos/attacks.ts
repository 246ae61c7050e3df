import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type CapturedEvent, type DispatchEnvelope, storeErrors } from '@hansard/provider';
import { randomFrom } from '@hansard/testing';
import { startProxy } from '@hansard/testing/cutting-proxy';
import type { TestRedis } from '@hansard/testing/redis';
import { envelope, growingEvents, idsOf, taskDir } from '@hansard/testing/store-samples';
import { openRedisStore, type RedisStore, type RedisStoreOptions } from '../../src/index.ts';
import { command } from '../server/keys.ts';

/*
 * Attacks on a store and its server, for the tests and for `pnpm campaign:reliability`. Each throws if something acknowledged is
 * lost, doubled or out of order, and returns what it did.
 */

/** Milliseconds. */
const longestOutage = 30_000;

let prefixes = 0;

export function newPrefix(): string {
  prefixes += 1;
  return `attack-${process.pid}-${prefixes}`;
}

/** Makes a call as the facade does: again after an error that may pass. @returns how many calls failed */
async function untilDone(call: () => Promise<unknown>): Promise<number> {
  const end = performance.now() + longestOutage;
  for (let failures = 0; ; failures += 1) {
    try {
      await call();
      return failures;
    } catch (error) {
      if (!storeErrors.is(error) || !error.isTransient || performance.now() > end) throw error;
      await pause(failures < 3 ? 0 : 10);
    }
  }
}

/** Made again after a lost answer, it has the same content. */
const rewrite = {
  envelope: (one: DispatchEnvelope): DispatchEnvelope => one,
  event: (one: CapturedEvent): CapturedEvent => ({ ...one, data: { text: 'rewritten' } }),
};

/** Several dispatches, to which an attacked store appends batches and writes titles, and which it rewrites, until the attack is over. */
class Writers {
  readonly counts = [0, 0, 0];
  failures = 0;
  rewrites = 0;
  #isOver = false;
  #progress = (): void => {};
  readonly #store: RedisStore;
  readonly #working: Promise<unknown>;

  constructor(store: RedisStore, seed: number) {
    this.#store = store;
    const random = randomFrom(seed);
    this.#working = Promise.all(this.counts.map((_, index) => this.#write(index, random)));
    this.#working.catch(() => this.#progress());
  }

  static async start(store: RedisStore, seed: number): Promise<Writers> {
    for (const index of [0, 1, 2]) await store.createDispatch(taskDir, envelope({ dispatchId: `d${index}` }));
    return new Writers(store, seed);
  }

  get acknowledged(): number {
    return this.counts.reduce((sum, count) => sum + count);
  }

  /** Waits until `by` more events are acknowledged. */
  async grown(by: number): Promise<void> {
    for (const wanted = this.acknowledged + by; this.acknowledged < wanted; ) {
      const next = new Promise<void>((resolve) => {
        this.#progress = resolve;
      });
      await Promise.race([next, this.#working]);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#working;
  }

  /** Every dispatch has what was acknowledged, once and in order, for a store of another process. */
  async check(reader: RedisStore): Promise<void> {
    for (const [index, count] of this.counts.entries()) {
      const id = `d${index}`;
      assert.deepEqual(idsOf(await reader.getDispatchEvents(taskDir, id)), idsOf(growingEvents(count)), id);
      assert.deepEqual((await reader.verifyDispatch(taskDir, id)).damages, []);
      const title = (await reader.getDispatchEnvelope(taskDir, id))?.title ?? null;
      assert.equal(title, count === 0 ? null : `after ${count}`);
    }
  }

  async #write(index: number, random: () => number): Promise<void> {
    const id = `d${index}`;
    while (!this.#isOver) {
      const count = this.counts[index] ?? 0;
      const batch = growingEvents(1 + Math.floor(random() * 4), count);
      const title = `after ${count + batch.length}`;
      this.failures += await untilDone(() => this.#store.appendEvents(taskDir, id, batch));
      this.failures += await untilDone(() => this.#store.updateDispatch(taskDir, id, { title }));
      this.counts[index] = count + batch.length;
      if (random() < 0.1) {
        this.failures += await untilDone(() => this.#store.rewriteDispatch(taskDir, id, rewrite));
        this.rewrites += 1;
      }
      this.#progress();
    }
  }
}

async function attack<Done extends object>(
  url: string,
  seed: number,
  options: Partial<RedisStoreOptions>,
  work: (writers: Writers, prefix: string) => Promise<Done>,
) {
  const prefix = newPrefix();
  await using store = await openRedisStore({ url, prefix, ...options });
  const writers = await Writers.start(store, seed);
  const done = await work(writers, prefix);
  await using reader = await openRedisStore({ url, prefix });
  await writers.check(reader);
  return {
    ...done,
    'calls repeated': writers.failures,
    'dispatches rewritten': writers.rewrites,
    'events acknowledged': writers.acknowledged,
  };
}

/** SIGKILL to the server, again and again, while a store appends. After each start everything acknowledged so far is there. */
export function killServer(server: TestRedis, seed: number, kills = 5) {
  return attack(server.url(), seed, { connectTimeout: 1_000 }, async (writers, prefix) => {
    for (let kill = 0; kill < kills; kill += 1) {
      await writers.grown(20);
      await server.kill();
      const before = [...writers.counts];
      await server.start();
      await using reader = await openRedisStore({ url: server.url(), prefix });
      for (const [index, count] of before.entries()) {
        const { first } = await reader.readEvents(taskDir, `d${index}`, { last: 0 });
        assert.ok(first >= count, `d${index} had ${count} events and has ${first}`);
      }
    }
    await writers.grown(20);
    await writers.stop();
    return { 'servers killed': kills };
  });
}

/** The server ends the connections of a store again and again. */
export function endConnections(server: TestRedis, seed: number) {
  return attack(server.url(), seed, {}, async (writers) => {
    let ended = 0;
    for (let round = 0; round < 25; round += 1) {
      await writers.grown(5);
      ended += Number(await command(server.url(), 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
    }
    await writers.stop();
    return { 'connections ended': ended };
  });
}

/** Drops answers of the server and resets their connections: the store cannot know whether its command was run. */
export async function loseAnswers(server: TestRedis, seed: number) {
  const random = randomFrom(seed);
  const proxy = await startProxy(server.port);
  try {
    return await attack(server.url(), seed, {}, async (writers, prefix) => {
      await writers.stop();
      await using store = await openRedisStore({ url: `redis://127.0.0.1:${proxy.port}`, prefix });
      const id = 'lost';
      await store.createDispatch(taskDir, envelope({ dispatchId: id }));
      proxy.shouldCut = () => random() < 0.06;
      let given = 0;
      let failures = 0;
      // Some seeds cut few of the first 100.
      for (let batch = 0; batch < 100 || (proxy.cuts < 8 && batch < 1_500); batch += 1) {
        const count = 1 + Math.floor(random() * 5);
        failures += await untilDone(() => store.appendEvents(taskDir, id, growingEvents(count, given)));
        given += count;
        failures += await untilDone(() => store.updateDispatch(taskDir, id, { title: `after ${given}` }));
        if (batch % 3 === 2) failures += await untilDone(() => store.rewriteDispatch(taskDir, id, rewrite));
      }
      proxy.shouldCut = () => false;
      await using reader = await openRedisStore({ url: server.url(), prefix });
      assert.deepEqual(idsOf(await reader.getDispatchEvents(taskDir, id)), idsOf(growingEvents(given)));
      assert.deepEqual((await reader.verifyDispatch(taskDir, id)).damages, []);
      return { 'answers lost': proxy.cuts, 'appends repeated': failures, 'events of lost answers': given };
    });
  } finally {
    proxy.close();
  }
}

/** The server goes back to an earlier state, as after a failover to a replica that was behind. */
export async function loseTail(server: TestRedis, seed: number) {
  const random = randomFrom(seed);
  const prefix = newPrefix();
  const url = server.url();
  await using store = await openRedisStore({ url, prefix });
  const id = 'tail';
  await store.createDispatch(taskDir, envelope({ dispatchId: id }));
  const count = 2 + Math.floor(random() * 40);
  const left = Math.floor(random() * count);
  if (left > 0) await store.appendEvents(taskDir, id, growingEvents(left));
  const keys = [`{${prefix}}:d:${taskDir}/${id}`, `{${prefix}}:e:1`, `{${prefix}}:i:1`];
  const copy = (from: readonly string[], to: readonly string[]) =>
    Promise.all(from.map((key, at) => command(url, 'COPY', key, to[at] ?? '', 'REPLACE')));
  const copies = keys.map((key) => `${key}-before`);
  await copy(keys, copies);
  await store.appendEvents(taskDir, id, growingEvents(count - left, left));
  for (const key of keys) await command(url, 'DEL', key);
  await copy(copies, keys);
  const refusals = [
    () => store.appendEvents(taskDir, id, growingEvents(1, count)),
    () => store.appendEvents(taskDir, id, growingEvents(count - left, left)),
    () => store.getDispatchEvents(taskDir, id),
  ];
  for (const call of refusals) await assert.rejects(call, { code: 'STORE_CORRUPT' });
  assert.equal(await command(url, 'XLEN', `{${prefix}}:e:1`), left);
  return { 'tails lost': 1, 'calls refused as STORE_CORRUPT': refusals.length };
}

/** Ends the connection that subscribes, and appends at once: the follower waits for calls only, and sees every event. */
export async function endListeners(server: TestRedis) {
  const options = { url: server.url(), prefix: newPrefix() };
  await using writer = await openRedisStore(options);
  await using follower = await openRedisStore(options);
  const dispatchId = 'followed';
  await writer.createDispatch(taskDir, envelope({ dispatchId }));
  let changed = Promise.withResolvers<void>();
  const stop = await follower.watch({ taskDir, dispatchId }, () => {
    changed.resolve();
    changed = Promise.withResolvers();
  });
  const rounds = 10;
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0) await command(server.url(), 'CLIENT', 'KILL', 'TYPE', 'pubsub');
    await writer.appendEvents(taskDir, dispatchId, growingEvents(1, round));
    for (;;) {
      const next = changed.promise;
      if ((await follower.readEvents(taskDir, dispatchId, { last: 0 })).first === round + 1) break;
      await next;
    }
  }
  stop();
  return { 'listening connections ended': rounds - 1, 'events seen': rounds };
}

import assert from 'node:assert/strict';
import { randomFrom } from '@hansard/testing';
import { startProxy } from '@hansard/testing/cutting-proxy';
import type { TestServer } from '@hansard/testing/postgres';
import { dispatchId, envelope, growingEvents, idsOf, taskDir } from '@hansard/testing/store-samples';
import { AttackedDatabase, appendUntilStored, Signal } from './attacked-database.ts';

/*
 * Attacks on a store and its server, for the tests and for `pnpm campaign:reliability`. Each throws if something acknowledged is
 * lost, doubled or out of order, and returns what it did.
 */

const ofStores = "application_name = 'hansard'";

/** Drops answers of the server and resets their connections: the store cannot know whether its statement was committed. */
export async function loseAnswers(server: TestServer, seed: number) {
  await using database = new AttackedDatabase(server);
  const random = randomFrom(seed);
  const proxy = await startProxy(server.port);
  try {
    const store = await database.open({ url: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres` });
    await store.createDispatch(taskDir, envelope());
    proxy.shouldCut = () => random() < 0.06;
    let given = 0;
    let failures = 0;
    // Some seeds cut few of the first 150.
    for (let batch = 0; batch < 150 || (proxy.cuts < 8 && batch < 1_500); batch += 1) {
      const count = 1 + Math.floor(random() * 5);
      failures += await appendUntilStored(store, dispatchId, growingEvents(count, given));
      given += count;
    }
    proxy.shouldCut = () => false;
    const reader = await database.open();
    assert.deepEqual(idsOf(await reader.getDispatchEvents(taskDir, dispatchId)), idsOf(growingEvents(given)));
    assert.deepEqual((await reader.verifyDispatch(taskDir, dispatchId)).damages, []);
    return { 'answers lost': proxy.cuts, 'appends repeated': failures, 'events acknowledged': given };
  } finally {
    proxy.close();
  }
}

/** The server ends the connections of a store again and again, while it appends to four dispatches. */
export async function endConnections(server: TestServer) {
  await using database = new AttackedDatabase(server);
  const store = await database.open();
  const ids = Array.from({ length: 4 }, (_, index) => `dispatch-${index}`);
  for (const id of ids) await store.createDispatch(taskDir, envelope({ dispatchId: id }));
  let isOver = false;
  const writers = ids.map(async (id) => {
    let count = 0;
    for (; !isOver; count += 1) await appendUntilStored(store, id, growingEvents(1, count));
    return count;
  });
  let ended = 0;
  for (let round = 0; round < 25; round += 1) {
    const { rows } = await database.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofStores}`,
    );
    ended += rows.length;
  }
  isOver = true;
  const counts = await Promise.all(writers);
  for (const [index, id] of ids.entries())
    assert.deepEqual(
      idsOf(await store.getDispatchEvents(taskDir, id)),
      idsOf(growingEvents(counts[index] ?? 0)),
      `dispatch ${id}`,
    );
  return { 'connections ended': ended, 'events acknowledged': counts.reduce((sum, each) => sum + each) };
}

/** SIGKILL to the process that serves a store, after which the server restarts itself, and then to the whole server. */
export async function killServer(server: TestServer) {
  await using database = new AttackedDatabase(server);
  const store = await database.open({ connectTimeout: 1_000 });
  await store.createDispatch(taskDir, envelope());
  const appended = new Signal();
  let [count, failures, isOver] = [0, 0, false];
  const writer = (async () => {
    for (; !isOver; count += 1, appended.send())
      failures += await appendUntilStored(store, dispatchId, growingEvents(1, count));
  })();
  const grown = async (by: number): Promise<void> => {
    for (const wanted = count + by; count < wanted; ) await Promise.race([appended.next(), writer]);
  };
  await grown(50);
  const { rows } = await database.sql(`SELECT pid FROM pg_stat_activity WHERE ${ofStores}`);
  process.kill(rows[0]?.pid, 'SIGKILL');
  await grown(50);
  await server.kill();
  await server.start();
  await grown(50);
  isOver = true;
  await writer;
  const reader = await database.open();
  assert.deepEqual(idsOf(await reader.getDispatchEvents(taskDir, dispatchId)), idsOf(growingEvents(count)));
  return { 'servers killed': 2, 'appends repeated': failures, 'events acknowledged': count };
}

/** Ends the connection that listens, and appends at once: the follower waits for notifications only, and sees every event. */
export async function endListeners(server: TestServer) {
  await using database = new AttackedDatabase(server);
  const [writer, follower] = [await database.open(), await database.open()];
  await writer.createDispatch(taskDir, envelope());
  const changed = new Signal();
  const stop = await follower.watch({ taskDir, dispatchId }, changed.send);
  let slowest = 0;
  const rounds = 4;
  for (let round = 0; round < rounds; round += 1) {
    // The connection that listens has that as its last statement, or the one that keeps it alive.
    if (round > 0)
      await database.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'",
      );
    await writer.appendEvents(taskDir, dispatchId, growingEvents(1, round));
    const acknowledged = performance.now();
    for (;;) {
      const next = changed.next();
      if ((await follower.readEvents(taskDir, dispatchId, { last: 0 })).first === round + 1) break;
      await next;
    }
    slowest = Math.max(slowest, performance.now() - acknowledged);
  }
  stop();
  return { 'listening connections ended': rounds - 1, 'events seen': rounds, slowest };
}

/** Twenty stores open a database without tables at the same time. */
export async function openAtOnce(server: TestServer) {
  await using database = new AttackedDatabase(server);
  const count = 20;
  const stores = await Promise.all(Array.from({ length: count }, () => database.open({ connections: 2 })));
  await Promise.all(
    stores.map((store, index) =>
      store.createDispatch(taskDir, envelope({ dispatchId: `dispatch-${index}` })),
    ),
  );
  assert.equal((await stores[0]?.getDispatchEnvelopes(taskDir))?.length, count);
  assert.deepEqual((await database.sql('SELECT version FROM S.meta')).rows, [{ version: 1 }]);
  return { 'openings at once': count };
}

/** The server loses the last acknowledged events, as after a failover to a standby that was behind. */
export async function loseTail(server: TestServer, seed: number) {
  await using database = new AttackedDatabase(server);
  const random = randomFrom(seed);
  const store = await database.open();
  await store.createDispatch(taskDir, envelope());
  const count = 2 + Math.floor(random() * 40);
  await store.appendEvents(taskDir, dispatchId, growingEvents(count));
  const left = Math.floor(random() * count);
  await database.sql(`DELETE FROM S.events WHERE position >= ${left}`);
  const refusals = [
    () => store.appendEvents(taskDir, dispatchId, growingEvents(1, count)),
    () => store.appendEvents(taskDir, dispatchId, growingEvents(count - left, left)),
    () => store.getDispatchEvents(taskDir, dispatchId),
  ];
  for (const call of refusals) await assert.rejects(call, { code: 'STORE_CORRUPT' });
  const { rows } = await database.sql('SELECT count(*)::int AS rows FROM S.events');
  assert.deepEqual(rows, [{ rows: left }]);
  return { 'tails lost': 1, 'calls refused as STORE_CORRUPT': refusals.length };
}

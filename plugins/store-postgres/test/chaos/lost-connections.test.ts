import { startProxy } from '@hansard/testing/cutting-proxy';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeOf, newStores } from '../server/stores.ts';
import { endConnections, endListeners, loseAnswers } from './attacks.ts';

const server = useServer();
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

describe('a store whose connections are lost', () => {
  it(`stores each event once and in order, though answers of the server are lost (HANSARD_SEED=${seed})`, async () => {
    // Otherwise nothing was tested.
    expect((await loseAnswers(server(), seed))['answers lost']).toBeGreaterThan(5);
  });

  it('loses nothing when the server ends its connections, also several at once', async () => {
    expect((await endConnections(server()))['connections ended']).toBeGreaterThan(20);
  });

  it('continues to report changes after the end of the connection that listens, and misses none', async () => {
    expect((await endListeners(server()))['events seen']).toBe(4);
  });

  it('closes within five seconds while the server does not answer, and fails the calls under way', async () => {
    const stores = newStores(server());
    const proxy = await startProxy(server().port);
    onTestFinished(proxy.close);
    const store = await stores.open({ url: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres` });
    await store.createDispatch(taskDir, envelope());
    const stop = await store.watch({ taskDir, dispatchId }, () => {});
    proxy.block();
    const append = codeOf(store.appendEvents(taskDir, dispatchId, growingEvents(1)));
    const start = performance.now();
    await store.close();
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(await append).toBe('STORE_UNAVAILABLE');
    expect(await codeOf(store.listTasks())).toBe('STORE_CLOSED');
    stop();
  });
});

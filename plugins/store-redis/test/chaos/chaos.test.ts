import { describeWithRedis, useRedis } from '@hansard/testing/redis-in-tests';
import { expect, it } from 'vitest';
import { endConnections, endListeners, killServer, loseAnswers, loseTail } from './attacks.ts';

const server = useRedis();
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

describeWithRedis(`a store whose server or connections fail (HANSARD_SEED=${seed})`, () => {
  it('has every acknowledged event once and in order after kills of the server', async () => {
    expect((await killServer(server(), seed, 3))['calls repeated']).toBeGreaterThan(0);
  });

  it('stores each event once and in order, though answers of the server are lost', async () => {
    expect((await loseAnswers(server(), seed))['answers lost']).toBeGreaterThan(5);
  });

  it('loses nothing when the server ends its connections', async () => {
    expect((await endConnections(server(), seed))['connections ended']).toBeGreaterThan(20);
  });

  it('gets STORE_CORRUPT, and leaves no gap, when the server has lost acknowledged events', async () => {
    expect(await loseTail(server(), seed)).toEqual({ 'tails lost': 1, 'calls refused as STORE_CORRUPT': 3 });
  });

  it('continues to report changes after the end of the connection that subscribes, and misses none', async () => {
    expect((await endListeners(server()))['events seen']).toBe(10);
  });
});

import { startServer, type TestServer } from '@hansard/testing/postgres';
import { startRedis, type TestRedis } from '@hansard/testing/redis';
import {
  endConnections,
  endListeners,
  killServer,
  loseAnswers,
  loseTail,
  openAtOnce,
} from '../../../plugins/store-postgres/test/chaos/attacks.ts';
import * as redisAttacks from '../../../plugins/store-redis/test/chaos/attacks.ts';
import type { Attack, Figures } from './attack.ts';

let started: Promise<TestServer> | undefined;
let startedRedis: Promise<TestRedis> | undefined;

/** The PostgreSQL server of a campaign. */
export function serverOfAttacks(): Promise<TestServer> {
  started ??= startServer();
  return started;
}

export async function stopServer(): Promise<void> {
  await (await started)?.stop();
  await (await startedRedis)?.stop();
}

type Rounds<Server> = (server: Server, seed: number) => Promise<Figures>;

/** An attack on each of the servers. */
function onServer(
  unit: string,
  count: number,
  onPostgres: Rounds<TestServer>,
  onRedis: Rounds<TestRedis> | null,
): (store: string) => Attack {
  return (store) => ({
    unit,
    count,
    round: async (seed) => {
      if (store !== 'redis' || onRedis === null) return onPostgres(await serverOfAttacks(), seed);
      startedRedis ??= startRedis();
      return onRedis(await startedRedis, seed);
    },
  });
}

export const answers = onServer('answers lost', 2_000, loseAnswers, redisAttacks.loseAnswers);
export const connections = onServer(
  'connections ended',
  2_000,
  (server) => endConnections(server),
  redisAttacks.endConnections,
);
export const servers = onServer(
  'servers killed',
  200,
  (server) => killServer(server),
  redisAttacks.killServer,
);
export const tails = onServer('tails lost', 1_000, loseTail, redisAttacks.loseTail);
export const openings = onServer('openings at once', 2_000, (server) => openAtOnce(server), null);
export const listeners = onServer(
  'listening connections ended',
  300,
  async (server) => {
    // The sum of the slowest times says nothing.
    const { slowest: _, ...figures } = await endListeners(server);
    return figures;
  },
  redisAttacks.endListeners,
);

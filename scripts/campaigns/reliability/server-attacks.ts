import { startServer, type TestServer } from '@hansard/testing/postgres';
import {
  endConnections,
  endListeners,
  killServer,
  loseAnswers,
  loseTail,
  openAtOnce,
} from '../../../plugins/store-postgres/test/chaos/attacks.ts';
import type { Attack, Figures } from './attack.ts';

let started: Promise<TestServer> | undefined;

/** The PostgreSQL server of a campaign. */
export function serverOfAttacks(): Promise<TestServer> {
  started ??= startServer();
  return started;
}

export async function stopServer(): Promise<void> {
  await (await started)?.stop();
}

function onServer(
  unit: string,
  count: number,
  attack: (server: TestServer, seed: number) => Promise<Figures>,
): () => Attack {
  return () => ({ unit, count, round: async (seed) => attack(await serverOfAttacks(), seed) });
}

export const answers = onServer('answers lost', 2_000, loseAnswers);
export const connections = onServer('connections ended', 2_000, (server) => endConnections(server));
export const servers = onServer('servers killed', 200, (server) => killServer(server));
export const tails = onServer('tails lost', 1_000, loseTail);
export const openings = onServer('openings at once', 2_000, (server) => openAtOnce(server));
export const listeners = onServer('listening connections ended', 300, async (server) => {
  // The sum of the slowest times says nothing.
  const { slowest: _, ...figures } = await endListeners(server);
  return figures;
});

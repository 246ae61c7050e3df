import { setTimeout as pause } from 'node:timers/promises';
import type { RemainsScope } from '@hansard/provider';
import type { DispatchRow } from './dispatch-row.ts';
import type { DispatchTable } from './dispatch-table.ts';
import { isForbidden, unavailable } from './server/redis-errors.ts';
import { scripts } from './server/scripts.ts';
import { infoOf, type Server } from './server/server.ts';

/** Milliseconds: the server has so long to write its files again. */
const longestRewrite = 600_000;

/** Where a server can have the content of a rewrite, a change or a deletion. `removeRemains` removes some of it. */
export function placesAfterRewrite(server: Server, row?: DispatchRow): string[] {
  const places = [
    `The append-only file and the snapshot of ${server.name}: \`hansard store verify\` does not see them. BGREWRITEAOF and BGSAVE of the server write both again.`,
    `The slow log of ${server.name}, which has the beginnings of commands: SLOWLOG RESET empties it.`,
    ...placesElsewhere(server),
  ];
  if (row !== undefined && row.losses.length > 0)
    places.push(
      `The damaged events of ${row.losses.length} accepted losses, in ${server.name}: delete the dispatch to remove them.`,
    );
  return places;
}

function placesElsewhere(server: Server): string[] {
  return [
    `The replicas and the backups of ${server.name}, and memory that it has freed and not used again: write the files of each replica again, delete old backups, and restart the server.`,
  ];
}

/** What belongs to no readable dispatch, task or claim, found in every key of the store. */
export async function findRemains(
  server: Server,
  table: DispatchTable,
  { taskDir, dispatchId }: RemainsScope,
): Promise<string[]> {
  const { base } = server;
  const places: string[] = [];
  const used = new Set<string>();
  for (const internal of [false, true])
    for await (const { row } of table.namesOf({ internal })) {
      if (row === null) continue;
      for (const number of [row.number, ...row.losses]) used.add(number);
      if (taskDir !== undefined && row.taskDir !== taskDir) continue;
      if (dispatchId !== undefined && row.dispatchId !== dispatchId) continue;
      for (const number of row.losses)
        places.push(
          `The damaged events of dispatch ${row.dispatchId} of ${row.taskDir}, key ${base}e:${number} of ${server.name}: delete the dispatch to remove them.`,
        );
    }
  for (const [number, owner] of await stagedOf(server)) {
    used.add(number);
    const name = owner.slice(owner.indexOf(' ') + 1);
    const at = name.lastIndexOf('/');
    if (taskDir !== undefined && name.slice(0, at) !== taskDir) continue;
    if (dispatchId !== undefined && name.slice(at + 1) !== dispatchId) continue;
    if (await isUnderWay(server, owner)) continue;
    for (const kind of ['e', 'i'])
      places.push(
        `What an interrupted rewrite of ${name} has left, key ${base}${kind}:${number} of ${server.name}: \`UNLINK ${base}${kind}:${number}\` removes it.`,
      );
  }
  if (taskDir !== undefined) return places;
  for await (const key of keysOf(server)) {
    const [, kind, number] = /^([ei]):(\d+)$/.exec(key.slice(base.length)) ?? [];
    if (kind !== undefined && number !== undefined && !used.has(number))
      places.push(`Events of no dispatch, key ${key} of ${server.name}: \`UNLINK ${key}\` removes them.`);
  }
  return places;
}

/** Removes what interrupted rewrites have left, and old content from the files and the slow log of the server. */
export async function removeRemains(server: Server): Promise<string[]> {
  for (const [number, owner] of await stagedOf(server))
    if (!(await isUnderWay(server, owner))) await server.repeatable(scripts.unstage, [number]);
  try {
    await server.repeatableCommand(['SLOWLOG', 'RESET']);
    await rewriteFiles(server);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return placesAfterRewrite(server);
  }
  return placesElsewhere(server);
}

/** Writes the append-only file and the snapshot again, where the server has them. @throws STORE_UNAVAILABLE */
async function rewriteFiles(server: Server): Promise<void> {
  const before = await persistenceOf(server);
  const hasAppends = before.get('aof_enabled') === '1';
  const hasSnapshot = Number(before.get('rdb_last_save_time') ?? 0) > 0;
  if (hasAppends) {
    await begin(server, 'BGREWRITEAOF');
    const after = await settled(server, ['aof_rewrite_in_progress', 'aof_rewrite_scheduled']);
    if (after.get('aof_last_bgrewrite_status') !== 'ok')
      throw unavailable(server.name, 'could not write its append-only file again. See its log', false);
  }
  if (hasSnapshot) {
    await begin(server, 'BGSAVE');
    const after = await settled(server, ['rdb_bgsave_in_progress']);
    if (after.get('rdb_last_bgsave_status') !== 'ok')
      throw unavailable(server.name, 'could not write its snapshot again. See its log', false);
  }
}

/** Begins to write a file when the server writes no other one. Another client can be first, so it tries again. */
async function begin(server: Server, command: 'BGREWRITEAOF' | 'BGSAVE'): Promise<void> {
  for (const end = performance.now() + longestRewrite; ; ) {
    await settled(server, ['aof_rewrite_in_progress', 'aof_rewrite_scheduled', 'rdb_bgsave_in_progress']);
    try {
      await server.repeatableCommand([command]);
      return;
    } catch (error) {
      const isBusy = /in progress|child process is active/.test((error as Error).message);
      if (!isBusy || performance.now() > end) throw error;
    }
  }
}

/** Waits until nothing of this is in progress. */
async function settled(server: Server, fields: readonly string[]): Promise<ReadonlyMap<string, string>> {
  for (const end = performance.now() + longestRewrite; ; ) {
    const now = await persistenceOf(server);
    if (fields.every((field) => now.get(field) !== '1')) return now;
    if (performance.now() > end)
      throw unavailable(server.name, 'did not write its files again in time. Try again', true);
    await pause(20);
  }
}

async function persistenceOf(server: Server): Promise<ReadonlyMap<string, string>> {
  return infoOf(await server.repeatableCommand(['INFO', 'persistence']));
}

/** The numbers that rewrites fill, with the token of the opening and the name of the dispatch. */
async function stagedOf(server: Server): Promise<readonly (readonly [string, string])[]> {
  const found = (await server.repeatableCommand(['HGETALL', `${server.base}g`])) as readonly string[];
  return found.flatMap((number, at) => (at % 2 === 0 ? [[number, found[at + 1] ?? ''] as const] : []));
}

/** Whether the lease of the opening that rewrites has not ended. */
async function isUnderWay(server: Server, owner: string): Promise<boolean> {
  const token = owner.slice(0, owner.indexOf(' '));
  return (await server.repeatableCommand(['EXISTS', `${server.base}o:${token}`])) === 1;
}

async function* keysOf(server: Server): AsyncGenerator<string> {
  const pattern = `${server.base.replace(/[\\*?[\]]/g, '\\$&')}[ei]:*`;
  let cursor = '0';
  do {
    const args = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', '1000'];
    const [next, keys] = (await server.repeatableCommand(args)) as [string, readonly string[]];
    yield* keys;
    cursor = next;
  } while (cursor !== '0');
}

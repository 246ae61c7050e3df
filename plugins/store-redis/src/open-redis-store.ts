import { type Clock, storeErrors, systemClock } from '@hansard/provider';
import { defaultLeaseMs } from '@hansard/store-kit';
import { RedisStore } from './redis-store.ts';
import { toStoreError } from './server/redis-errors.ts';
import { Server } from './server/server.ts';
import { parseServerAddress } from './server/server-address.ts';

export interface RedisStoreOptions {
  /** The server: `redis://USER:PASSWORD@HOST:PORT/DATABASE`, or `rediss:` for TLS, which is verified. */
  readonly url: string;
  /** A file with the certificates of the authority of the server, where Node does not know it. */
  readonly tlsCa?: string;
  /** The beginning of each key. Stores with different prefixes share a database. Default `hansard`. */
  readonly prefix?: string;
  /**
   * The failures that an acknowledged append survives: `disk` (the default), also a crash of the server, which must have `appendonly yes` and
   * `appendfsync always`; `process`, the end of this process, while a crash of the server can lose what its settings allow.
   */
  readonly durability?: 'process' | 'disk';
  /** Milliseconds: the time limit of a connection. Default 4,000. */
  readonly connectTimeout?: number;
  /** Milliseconds: the time limit of a command. Default 10,000. */
  readonly commandTimeout?: number;
  /**
   * The time in milliseconds for which an opening that does not renew its claims keeps them. The server ends them after that time, and before a third more
   * of it has passed. The opening renews them three times in that time. Default 15,000.
   */
  readonly leaseMs?: number;
}

/**
 * Opens the store in a Redis or Valkey server: connects, and checks the version and the settings of the server. Writes nothing.
 * @throws STORE_UNAVAILABLE if the server cannot be reached or used, or has a store of a newer version
 */
export async function openRedisStore(
  {
    url,
    tlsCa,
    prefix = 'hansard',
    durability = 'disk',
    connectTimeout = 4_000,
    commandTimeout = 10_000,
    leaseMs = defaultLeaseMs,
  }: RedisStoreOptions,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<RedisStore> {
  if (!/^[\w.:-]{1,64}$/.test(prefix))
    throw storeErrors.error(
      'STORE_UNAVAILABLE',
      'The prefix of the Redis store cannot be used: it has 1 to 64 characters of A-Z a-z 0-9 _ . : -.',
      { details: { reason: 'prefix' } },
    );
  const address = parseServerAddress(url, tlsCa);
  const needsDisk = durability === 'disk';
  const server = new Server({ address, base: `{${prefix}}:`, needsDisk, connectTimeout, commandTimeout });
  try {
    await server.repeatableCommand(['PING']);
  } catch (error) {
    server.cut();
    throw toStoreError(error, server.name);
  }
  return new RedisStore({ server, durability, leaseMs, clock });
}

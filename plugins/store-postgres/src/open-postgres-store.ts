import { type Clock, systemClock } from '@hansard/provider';
import { defaultLeaseMs } from '@hansard/store-kit';
import { ChangeWatch } from './change-watch.ts';
import { Database } from './database/database.ts';
import { toStoreError } from './database/postgres-errors.ts';
import { quoteName } from './database/schema.ts';
import { parseServerAddress } from './database/server-address.ts';
import { Tables } from './database/tables.ts';
import { PostgresStore } from './postgres-store.ts';

export interface PostgresStoreOptions {
  /**
   * The database: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`. TLS is used and verified, except for this machine or with
   * `sslmode=disable`.
   */
  readonly url: string;
  /** A file with the certificates of the authority of the server, where Node does not know it. */
  readonly tlsCa?: string;
  /**
   * The URL for the connection that listens to changes, if `url` leads to a pooler; false to look at intervals instead. Default: `url`.
   * Where notifications do not arrive, the store notices that and looks at intervals.
   */
  readonly listenUrl?: string | false;
  /** The schema with the tables. Stores with different schemas share a database. Default `hansard`. */
  readonly schema?: string;
  /** Whether the first write creates the tables. Default true. */
  readonly createTables?: boolean;
  /**
   * The failures that an acknowledged append survives: `disk` (the default), also a crash of the server; `process`, the end of this
   * process, while a crash of the server can lose the last moments.
   */
  readonly durability?: 'process' | 'disk';
  /** Whether an append also waits until the synchronous standbys have applied it. Default false. */
  readonly replicas?: boolean;
  /** The greatest number of connections, at least 2. One more listens while there are listeners. Default 8. */
  readonly connections?: number;
  /** Whether statements are prepared by name. False for poolers that do not support it. Default true. */
  readonly prepare?: boolean;
  /** Milliseconds: the time limit of a connection. Default 4,000. */
  readonly connectTimeout?: number;
  /** Milliseconds: the time limit of a statement. Default 30,000. */
  readonly statementTimeout?: number;
  /** Milliseconds between two looks for changes, where the store cannot listen. Default 250. */
  readonly pollInterval?: number;
  /**
   * The time in milliseconds for which another opening must see no heartbeat of a claim's owner before it may take the claim over.
   * The owner renews its heartbeat three times as often. Default 15,000.
   */
  readonly leaseMs?: number;
}

/**
 * Opens the store in a database: connects, and checks the server and the version of the tables. Reading creates nothing.
 * @throws STORE_UNAVAILABLE if the server cannot be reached or used, or the tables were written by a newer version
 */
export async function openPostgresStore(
  {
    url,
    tlsCa,
    listenUrl = url,
    schema = 'hansard',
    createTables = true,
    durability = 'disk',
    replicas = false,
    connections = 8,
    prepare = true,
    connectTimeout = 4_000,
    statementTimeout = 30_000,
    pollInterval = 250,
    leaseMs = defaultLeaseMs,
  }: PostgresStoreOptions,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<PostgresStore> {
  quoteName(schema);
  const addressOf = (of: string) =>
    parseServerAddress({ url: of, ...(tlsCa === undefined ? {} : { tlsCa }) });
  const address = addressOf(url);
  const limits = { connections, prepare, connectTimeout, statementTimeout };
  const database = new Database(address, limits);
  const commit = durability === 'process' ? 'off' : replicas ? 'remote_apply' : 'on';
  const tables = new Tables({ database, schema, createTables, commit });
  const listen = listenUrl === false ? null : addressOf(listenUrl).client;
  const listenConfig = listen === null ? null : { ...listen, connectionTimeoutMillis: connectTimeout };
  const watch = new ChangeWatch({ tables, listen: listenConfig, channel: schema, pollInterval, clock });
  try {
    await tables.check();
  } catch (error) {
    await database.close(0);
    throw toStoreError(error, address.name);
  }
  return new PostgresStore({ tables, watch, durability, leaseMs, clock });
}

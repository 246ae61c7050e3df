import { Socket } from 'node:net';
import { Pool, type PoolClient } from 'pg';
import { isConnectionUsable, isLostConnection } from './postgres-errors.ts';
import type { ServerAddress } from './server-address.ts';

/** A statement with named parameters of SQL and the type of its rows. */
export interface Statement<Row = never> {
  readonly name: string;
  readonly text: string;
  /** Only for the type of the rows. */
  readonly row?: Row;
}

export type Value = string | number | null;

export interface Result<Row> {
  readonly rows: Row[];
  /** The number of rows that were read or written. */
  readonly count: number;
}

/** Runs statements on one connection. */
export interface Session {
  run<Row>(statement: Statement<Row>, values?: readonly Value[]): Promise<Result<Row>>;
}

export interface DatabaseOptions {
  /** The greatest number of connections. */
  readonly connections: number;
  /** Whether statements are prepared by name. */
  readonly prepare: boolean;
  /** Milliseconds: the time limit of a connection. */
  readonly connectTimeout: number;
  /** Milliseconds: the time limit of a statement. */
  readonly statementTimeout: number;
}

/** Statements run on connections of a pool. A lost connection is replaced once; nothing else is repeated. */
export class Database {
  readonly name: string;
  readonly #pool: Pool;
  readonly #options: DatabaseOptions;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  constructor({ name, client }: ServerAddress, options: DatabaseOptions) {
    this.name = name;
    this.#options = options;
    this.#pool = new Pool({
      ...client,
      max: options.connections,
      connectionTimeoutMillis: options.connectTimeout,
      query_timeout: options.statementTimeout,
      keepAlive: true,
      allowExitOnIdle: true,
      stream: () => this.#newSocket(),
    });
    // An event `error` without a listener would end the process, also that of a connection in use.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => void client.on('error', () => {}));
  }

  /** Runs a statement that may be repeated after a lost connection. */
  run<Row>(statement: Statement<Row>, values: readonly Value[] = []): Promise<Result<Row>> {
    return reconnectOnce(() => this.runOnce(statement, values));
  }

  /** Runs a statement once. After a lost connection its outcome is unknown. */
  runOnce<Row>(statement: Statement<Row>, values: readonly Value[] = []): Promise<Result<Row>> {
    return this.#withClient((session) => session.run(statement, values));
  }

  /**
   * Runs `work` in one transaction. An error rolls it back. It is repeated after a lost connection only if nothing but its start
   * was sent.
   */
  async transaction<T>(
    work: (session: Session) => Promise<T>,
    commit: 'on' | 'off' | 'remote_apply' = 'on',
  ): Promise<T> {
    let hasStarted = false;
    const once = () =>
      this.#withClient(async (session) => {
        await session.run(beginning(commit, this.#options.statementTimeout));
        hasStarted = true;
        try {
          const result = await work(session);
          await session.run(commitStatement);
          return result;
        } catch (error) {
          if (isConnectionUsable(error)) await session.run(rollbackStatement);
          throw error;
        }
      });
    return reconnectOnce(once, () => !hasStarted);
  }

  /** Ends all connections. Those that do not end within `deadline` milliseconds are cut. */
  async close(deadline: number): Promise<void> {
    const cut = setTimeout(() => this.cut(), deadline);
    try {
      await this.#pool.end();
    } finally {
      clearTimeout(cut);
    }
  }

  /** Cuts all connections and opens no other one, so that statements under way fail. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  }

  async #withClient<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#isCut) throw new Error('Connection terminated');
    const client = await this.#pool.connect();
    let failure: unknown;
    try {
      return await work(this.#session(client));
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      client.release(failure !== undefined && !isConnectionUsable(failure));
    }
  }

  #session(client: PoolClient): Session {
    const { prepare } = this.#options;
    return {
      async run<Row>({ name, text }: Statement<Row>, values: readonly Value[] = []) {
        const isNamed = prepare && name !== '';
        const result = await client.query({ ...(isNamed ? { name } : {}), text, values: [...values] });
        return { rows: (result.rows ?? []) as Row[], count: result.rowCount ?? 0 };
      },
    };
  }
}

/**
 * One request that also limits how long the server keeps the locks of a client that it lost. The isolation is that for which the statements
 * are written: each sees what was committed before it, such as the tables that another process created while this one waited.
 */
function beginning(commit: string, timeout: number): Statement {
  const seconds = Math.ceil(timeout / 1_000);
  const text = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = ${commit}; SET LOCAL idle_in_transaction_session_timeout = '${seconds}s'`;
  return { name: '', text };
}

const commitStatement: Statement = { name: '', text: 'COMMIT' };
const rollbackStatement: Statement = { name: '', text: 'ROLLBACK' };

async function reconnectOnce<T>(work: () => Promise<T>, isAllowed: () => boolean = () => true): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isLostConnection(error) || !isAllowed()) throw error;
    return work();
  }
}

import { dispatchNotFound } from '@hansard/store-kit';
import { assertNamed } from '../tables/decode.ts';
import type { Database, Session, Statement, Value } from './database.ts';
import { Schema } from './schema.ts';
import { type ClaimedRow, type LockedRow, type Statements, statementsFor } from './statements.ts';

/** What of the committed work survives: `off` nothing of the last moments before the server crashes, `on` all, `remote_apply` also a failover. */
export type Commit = 'off' | 'on' | 'remote_apply';

export interface TablesSetup {
  readonly database: Database;
  /** The name of the schema. */
  readonly schema: string;
  readonly createTables: boolean;
  readonly commit: Commit;
}

const serverVersion: Statement<{ readonly version: string }> = {
  name: '',
  text: "SELECT current_setting('server_version') AS version",
};

/** The tables of one store in a database. Where they do not exist, reads find nothing. */
export class Tables {
  readonly database: Database;
  readonly statements: Statements;
  readonly commit: Commit;
  /** For messages. */
  readonly name: string;
  readonly #schema: Schema;

  constructor({ database, schema, createTables, commit }: TablesSetup) {
    this.database = database;
    this.commit = commit;
    this.#schema = new Schema(database, schema, createTables);
    this.statements = statementsFor(this.#schema.quoted);
    this.name = `${database.name}, schema ${schema}`;
  }

  /** Connects, and checks the server and the tables. @throws STORE_UNAVAILABLE */
  async check(): Promise<void> {
    await this.#schema.isReady();
  }

  /** Such as `PostgreSQL 18.4`. One round trip. */
  async serverVersion(): Promise<string> {
    const { rows } = await this.database.run(serverVersion);
    return `PostgreSQL ${rows[0]?.version.split(' ')[0]}`;
  }

  create(): Promise<void> {
    return this.#schema.create();
  }

  exist(): Promise<boolean> {
    return this.#schema.isReady();
  }

  /** The name of the schema, in quotes. */
  get quoted(): string {
    return this.#schema.quoted;
  }

  /** The statement that appends, whose parameters are the same for every role. @returns the number of rows */
  async append(session: Pick<Session, 'run'>, values: readonly Value[]): Promise<number> {
    const { append, callAppend } = this.statements;
    if (this.#schema.mayInsert) return (await session.run(append, values)).count;
    return (await session.run(callAppend, values)).rows[0]?.added ?? 0;
  }

  async rows<Row>(statement: Statement<Row>, values: readonly Value[]): Promise<Row[]> {
    if (!(await this.#schema.isReady())) return [];
    return (await this.database.run(statement, values)).rows;
  }

  /** Runs a change that may be repeated after a lost connection. @returns the number of changed rows */
  async repeatable(statement: Statement, values: readonly Value[]): Promise<number> {
    if (!(await this.#schema.isReady())) return 0;
    return (await this.database.run(statement, values)).count;
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.database.transaction(work, this.commit);
  }

  /** Asks for the version of the tables again: another process may have changed them. @throws STORE_UNAVAILABLE for a newer one */
  async assertVersion(session: Session): Promise<void> {
    const { rows } = await session.run(this.statements.tablesVersion, []);
    this.#schema.assertVersion(rows[0]?.tablesVersion);
  }

  /**
   * One transaction that has the row of a dispatch locked, in tables of this version.
   * @throws STORE_DISPATCH_NOT_FOUND; STORE_MISPLACED; STORE_UNAVAILABLE if a newer version has changed the tables
   */
  change<T>(
    taskDir: string,
    dispatchId: string,
    work: (session: Session, row: ClaimedRow) => Promise<T>,
  ): Promise<T> {
    return this.changeAny(taskDir, dispatchId, (session, row) => {
      assertNamed(row, this.name);
      return work(session, row);
    });
  }

  /** The same, under whatever name the dispatch was written. */
  async changeAny<T>(
    taskDir: string,
    dispatchId: string,
    work: (session: Session, row: ClaimedRow) => Promise<T>,
  ): Promise<T> {
    if (!(await this.#schema.isReady())) throw dispatchNotFound(taskDir, dispatchId);
    return this.transaction(async (session) => {
      const row = await this.#lock(session, [taskDir, dispatchId]);
      if (row === null) throw dispatchNotFound(taskDir, dispatchId);
      this.#schema.assertVersion(row.tablesVersion);
      return work(session, row);
    });
  }

  /** A rewrite gives a dispatch a new row. A transaction that has waited for the lock of the old row finds none, and looks for the new one. */
  async #lock(session: Session, name: readonly string[]): Promise<LockedRow | null> {
    const { lockDispatch, getDispatch } = this.statements;
    for (;;) {
      const { rows } = await session.run(lockDispatch, name);
      const [row] = rows;
      if (row !== undefined) return row;
      if ((await session.run(getDispatch, name)).rows.length === 0) return null;
    }
  }
}

import { DatabaseSync, type DatabaseSyncOptions, type StatementSync } from 'node:sqlite';

/** Makes one step: does `work`, or what the scheduler decides in its place. */
export type Step = <T>(work: () => T, database?: DatabaseSync) => T;

/** Changes the text of a statement, to plant a fault. */
export type ChangeSql = (sql: string) => string;

/** A connection to a real database, of which each statement that runs is one step. */
export class SimulatedDatabase extends DatabaseSync {
  readonly #step: Step;
  readonly #change: ChangeSql;

  constructor(location: URL, options: DatabaseSyncOptions, step: Step, change: ChangeSql) {
    super(location, options);
    this.#step = step;
    this.#change = change;
  }

  override exec(sql: string): void {
    this.#step(() => super.exec(this.#change(sql)), this);
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(this.#change(sql));
    const stepped =
      <Arguments extends unknown[], T>(call: (...values: Arguments) => T) =>
      (...values: Arguments) =>
        this.#step(() => call.apply(statement, values), this);
    const steps = {
      get: stepped(statement.get),
      all: stepped(statement.all),
      run: stepped(statement.run),
      iterate: stepped(statement.iterate),
    };
    return steps as unknown as StatementSync;
  }

  /** Rolls back without a step, as SQLite does after some errors, and as a database that is opened after a crash does. */
  rollBack(): void {
    if (this.isTransaction) super.exec('ROLLBACK');
  }
}

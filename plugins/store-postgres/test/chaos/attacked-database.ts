import { setTimeout as pause } from 'node:timers/promises';
import type { CapturedEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import type { TestServer } from '@hansard/testing/postgres';
import { taskDir } from '@hansard/testing/store-samples';
import { Client, type QueryResult } from 'pg';
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from '../../src/index.ts';
import { newSchema } from '../server/new-schema.ts';

/** Milliseconds. */
const longestOutage = 30_000;

/** A schema of its own with the stores that an attack opens in it. */
export class AttackedDatabase implements AsyncDisposable {
  readonly schema = newSchema();
  readonly #server: TestServer;
  readonly #opened: AsyncDisposable[] = [];

  constructor(server: TestServer) {
    this.#server = server;
  }

  async open(options: Partial<PostgresStoreOptions> = {}): Promise<PostgresStore> {
    const url = this.#server.url();
    const store = await openPostgresStore({ url, schema: this.schema, connections: 4, ...options });
    this.#opened.push({ [Symbol.asyncDispose]: async () => store.close() });
    return store;
  }

  /** Runs a statement as the superuser. `S.` stands for the schema. */
  async sql(text: string): Promise<QueryResult> {
    const client = new Client(this.#server.url());
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.query(text.replaceAll('S.', `"${this.schema}".`));
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#opened) await store[Symbol.asyncDispose]();
  }
}

/** Appends as the facade does: the same call again after an error that may pass. @returns how many calls failed */
export async function appendUntilStored(
  store: PostgresStore,
  id: string,
  batch: readonly CapturedEvent[],
): Promise<number> {
  const end = performance.now() + longestOutage;
  for (let failures = 0; ; failures += 1) {
    try {
      await store.appendEvents(taskDir, id, batch);
      return failures;
    } catch (error) {
      if (!storeErrors.is(error) || !error.isTransient || performance.now() > end) throw error;
      await pause(failures < 3 ? 0 : 10);
    }
  }
}

/** Calls those who wait when something changed. */
export class Signal {
  #waiting: (() => void)[] = [];

  readonly send = (): void => {
    for (const resolve of this.#waiting.splice(0)) resolve();
  };

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

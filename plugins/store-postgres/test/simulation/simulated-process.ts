import { type Clock, storeErrors } from '@hansard/provider';
import {
  type ContractAnswer,
  callStore,
  type OpeningState,
  runLater,
  type SimulatedCall,
  withContractFault,
} from '@hansard/testing/simulation';
import { Client, type ClientConfig, type QueryConfig, type QueryResult } from 'pg';
import { ChangeWatch } from '../../src/change-watch.ts';
import { Database } from '../../src/database/database.ts';
import { parseServerAddress } from '../../src/database/server-address.ts';
import { Tables } from '../../src/database/tables.ts';
import { PostgresStore } from '../../src/postgres-store.ts';
import { type PlantedFault, plantInClock, plantInStatement } from './planted-faults.ts';

/**
 * What happens to a statement. `lost before`: the connection ends before the server has it; `lost reply`: afterwards, and the process does not learn
 * the result; `full disk`: the server refuses it.
 */
export const faults = ['crash before', 'crash after', 'lost before', 'lost reply', 'full disk'] as const;
export type Fault = (typeof faults)[number];

/** The result of a call. */
export type Outcome =
  | { readonly kind: 'returned'; readonly answer: ContractAnswer }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'crashed' };

/** What a process uses of the simulation. */
export interface Machine {
  readonly url: string;
  readonly schema: string;
  readonly leaseMs: number;
  readonly planted?: PlantedFault | undefined;
  readonly contractFault?: string | undefined;
  /** Milliseconds. */
  time(): number;
  /** A listener was called. */
  heard(process: SimulatedProcess, watch: number): void;
  /** Resolves when the process may run a statement, with what happens to it. */
  waitForTurn(process: SimulatedProcess, statement: QueryConfig): Promise<Fault | null>;
  /** A connection is made, or the server runs a statement. */
  busy(process: SimulatedProcess, backend: () => number | null, work: Promise<unknown>): void;
  /** Resolves when these processes of the server have ended. */
  ended(backends: readonly number[]): Promise<void>;
}

/** Nothing continues after a crash. */
const never = new Promise<never>(() => {});

/** Milliseconds between two looks of a listener. */
export const watchMs = 400;

interface Life {
  hasEnded: boolean;
  readonly clients: Set<SteppedClient>;
}

type PgClient = Client & {
  readonly processID: number | null;
  readonly connection: { readonly stream: { destroy(): void } };
};
type SteppedClient = PgClient;

/** A process with at most one open store, each of whose statements is one step. */
export class SimulatedProcess {
  readonly number: number;
  readonly #machine: Machine;
  #life: Life = { hasEnded: false, clients: new Set() };
  #lives = 0;
  #store: PostgresStore | null = null;
  #state: OpeningState = { cursors: new Map(), watches: 0, onHeard: () => undefined };
  #timers = new Set<{ readonly due: number; readonly action: () => void }>();

  constructor(number: number, machine: Machine) {
    this.number = number;
    this.#machine = machine;
  }

  /** Names this life. */
  get token(): string {
    return `process ${this.number} life ${this.#lives}`;
  }

  get isOpen(): boolean {
    return this.#store !== null;
  }

  /** The time of its next timer, or infinity. */
  get nextTimer(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#timers].map(({ due }) => due));
  }

  /** Calls the timers that are due. */
  runTimers(): void {
    for (const timer of [...this.#timers])
      if (timer.due <= this.#machine.time() && this.#timers.delete(timer)) timer.action();
  }

  async perform(call: SimulatedCall): Promise<Outcome> {
    try {
      return { kind: 'returned', answer: await this.#call(call) };
    } catch (error) {
      if (storeErrors.is(error)) return { kind: 'failed', code: error.code, message: error.message };
      throw error;
    }
  }

  /** Ends this life without releasing anything, and begins another one. What the server had begun for it is rolled back. */
  async crash(): Promise<void> {
    const { clients } = this.#life;
    this.#life.hasEnded = true;
    this.#life = { hasEnded: false, clients: new Set() };
    this.#lives += 1;
    this.#store = null;
    this.#timers = new Set();
    const backends = [...clients].flatMap(({ processID }) => processID ?? []);
    for (const client of clients) client.connection.stream.destroy();
    await this.#machine.ended(backends);
  }

  async #call(call: SimulatedCall): Promise<ContractAnswer> {
    if (call.kind === 'close') {
      const store = this.#store;
      this.#store = null;
      await store?.close();
      // A copy of a database is the work of its server.
    } else if (call.kind !== 'copy' && call.kind !== 'timers') {
      this.#store ??= this.#open();
      return runLater(callStore(this.#store as never, call, this.#state));
    }
    return { kind: 'nothing' };
  }

  /** As `openPostgresStore`, on connections whose statements are steps. */
  #open(): PostgresStore {
    this.#state = { cursors: new Map(), watches: 0, onHeard: (watch) => this.#machine.heard(this, watch) };
    const { url, schema, leaseMs, planted, contractFault } = this.#machine;
    const life = this.#life;
    const clock: Clock = plantInClock(planted, {
      now: () => 1_700_000_000_000 + this.#machine.time(),
      monotonic: () => this.#machine.time(),
      after: (ms, action) => {
        const timer = { due: this.#machine.time() + ms, action };
        if (!life.hasEnded) this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
    });
    const { name, client } = parseServerAddress({ url });
    // The class that the pool of `pg` makes its connections with.
    const address = { name, client: { ...client, Client: this.#clientClass(life) } };
    const limits = { connections: 3, prepare: true, connectTimeout: 60_000, statementTimeout: 60_000 };
    const database = new Database(address, limits);
    const tables = new Tables({ database, schema, createTables: true, commit: 'off' });
    const watch = new ChangeWatch({ tables, listen: null, channel: schema, pollInterval: watchMs, clock });
    const store = new PostgresStore({ tables, watch, durability: 'process', leaseMs, clock });
    return withContractFault(store, contractFault, true);
  }

  #clientClass(life: Life): typeof Client {
    const step = (client: SteppedClient, run: RunQuery, statement: QueryConfig) =>
      this.#step(life, client, run, statement);
    const busy = (client: SteppedClient, work: Promise<unknown>) =>
      this.#machine.busy(this, () => client.processID, work);
    return class extends Client {
      constructor(config?: string | ClientConfig) {
        super(config);
        const client = this as unknown as SteppedClient;
        const run = super.query.bind(this) as unknown as RunQuery;
        life.clients.add(client);
        this.once('end', () => life.clients.delete(client));
        if (life.hasEnded) this.connect = (() => never) as Client['connect'];
        else busy(client, new Promise<void>((done) => this.once('connect', done).once('end', done)));
        this.query = ((statement: QueryConfig) => step(client, run, statement)) as unknown as Client['query'];
      }
    };
  }

  async #step(life: Life, client: SteppedClient, run: RunQuery, given: QueryConfig): Promise<QueryResult> {
    if (life.hasEnded) return never;
    const { planted } = this.#machine;
    const statement = { ...given, text: plantInStatement(planted, given.text) };
    const chosen = await this.#machine.waitForTurn(this, statement);
    if (life.hasEnded) return never;
    // A server that cannot write can still roll back.
    const fault = chosen === 'full disk' && statement.text === 'ROLLBACK' ? null : chosen;
    const cut = async (): Promise<never> => {
      const { processID } = client;
      client.connection.stream.destroy();
      if (processID !== null) await this.#machine.ended([processID]);
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    };
    if (fault === 'lost before') return cut();
    if (fault === 'crash before') {
      await this.crash();
      return never;
    }
    const work = run(fault === 'full disk' ? { text: fullDisk } : statement);
    this.#machine.busy(this, () => client.processID, work);
    const result = await work;
    if (life.hasEnded) return never;
    if (fault === 'lost reply') return cut();
    if (fault !== 'crash after') return result;
    await this.crash();
    return never;
  }
}

type RunQuery = (statement: QueryConfig) => Promise<QueryResult>;

/** An error of the server itself, which aborts its transaction. */
const fullDisk = "DO $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$";

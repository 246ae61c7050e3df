import type { DatabaseSync } from 'node:sqlite';
import { type Clock, storeErrors } from '@hansard/provider';
import type { Processes, ProcessOwner } from '@hansard/store-kit';
import {
  type ContractAnswer,
  callStore,
  type OpeningState,
  runNow,
  withContractFault,
} from '@hansard/testing/simulation';
import { SqliteStore } from '../../src/sqlite-store.ts';
import { openConnection, type StoreConnection } from '../../src/store-connection.ts';
import { type PlantedFault, plantInStatements, plantInSystem } from './planted-faults.ts';
import type { Fault, Operation } from './schedule.ts';
import { SimulatedDatabase, type Step } from './simulated-database.ts';

/** The result of a call. */
export type Outcome =
  | { readonly kind: 'returned'; readonly answer: ContractAnswer }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'crashed' };

/** What a process uses of the simulation. */
export interface Machine {
  readonly path: string;
  readonly leaseMs: number;
  readonly planted: PlantedFault | undefined;
  readonly contractFault: string | undefined;
  /** Milliseconds. */
  time(): number;
  wallClock(host: string): number;
  isRunning(owner: ProcessOwner): boolean;
  /** A listener was called. */
  heard(process: SimulatedProcess, watch: number): void;
  /** Copies the files of the database as they are, and reads the copy. */
  readCopy(): ContractAnswer;
  /** Returns when the process may make its next step, with what happens to it. */
  waitForTurn(process: SimulatedProcess): Fault | null;
}

class Crash extends Error {}

/** Milliseconds between two looks of a listener. */
export const watchMs = 400;

const sqliteErrors: Partial<Record<Fault, readonly [errcode: number, message: string]>> = {
  'full disk': [13, 'database or disk is full'],
  'failing disk': [10, 'disk I/O error'],
};

/** A process with at most one open store, whose calls are made of steps. */
export class SimulatedProcess {
  readonly number: number;
  readonly #machine: Machine;
  #owner: ProcessOwner;
  #connection: StoreConnection | null = null;
  #store: SqliteStore | null = null;
  #state: OpeningState = { cursors: new Map(), watches: 0, onHeard: () => undefined };
  #hasCrashed = false;
  #timers = new Set<{ readonly due: number; readonly action: () => void }>();
  readonly #clock: Clock = {
    now: () => this.#machine.wallClock(this.#owner.host),
    monotonic: () => this.#step(() => this.#machine.time()),
    after: (ms, action) => {
      const timer = { due: this.#machine.time() + ms, action };
      this.#timers.add(timer);
      return () => this.#timers.delete(timer);
    },
  };

  constructor(number: number, owner: ProcessOwner, machine: Machine) {
    this.number = number;
    this.#owner = owner;
    this.#machine = machine;
  }

  /** Its identity, which changes with each life. */
  get owner(): ProcessOwner {
    return this.#owner;
  }

  /** The time of its next timer, or infinity. */
  get nextTimer(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#timers].map(({ due }) => due));
  }

  perform(operation: Operation): Outcome {
    this.#hasCrashed = false;
    let outcome: Outcome;
    try {
      outcome = { kind: 'returned', answer: this.#call(operation) };
    } catch (error) {
      if (storeErrors.is(error)) outcome = { kind: 'failed', code: error.code, message: error.message };
      else if (error instanceof Crash) outcome = { kind: 'crashed' };
      else throw error;
    }
    // Checked here, because a heartbeat that fails throws to nobody.
    return this.#hasCrashed ? { kind: 'crashed' } : outcome;
  }

  /** Ends this life without releasing anything, and begins another one. */
  restart(owner: ProcessOwner): void {
    this.#hasCrashed = true;
    this.#owner = owner;
    this.#timers = new Set();
    this.#store = null;
    if (this.#connection !== null) {
      const { database, lengths } = this.#connection.current();
      if (database.isOpen) database.close();
      lengths.close();
    }
    this.#connection = null;
  }

  #call(operation: Operation): ContractAnswer {
    if (operation.kind === 'timers') this.#runTimers();
    else if (operation.kind === 'close') {
      const store = this.#store;
      this.#store = null;
      store?.close();
      this.#connection = null;
    } else if (operation.kind === 'copy') return this.#machine.readCopy();
    else {
      this.#store ??= this.#open();
      return runNow(callStore(this.#store, operation, this.#state));
    }
    return { kind: 'nothing' };
  }

  #open(): SqliteStore {
    this.#state = { cursors: new Map(), watches: 0, onHeard: (watch) => this.#machine.heard(this, watch) };
    const { path, leaseMs, planted } = this.#machine;
    const processes: Processes = {
      current: () => this.#owner,
      whyUnchecked: (owner) => whyUnchecked(owner, this.#owner),
      isRunning: (owner) => processes.whyUnchecked(owner) !== null || this.#machine.isRunning(owner),
    };
    const connection = openConnection({
      file: path,
      durability: 'process',
      // A process that was interrupted in a transaction does not end it while another one waits.
      busyTimeout: 0,
      fileSystemOf: () => null,
      leaseMs,
      access: 'private',
      ...plantInSystem(planted, { clock: this.#clock, processes }),
      openDatabase: (location, options) =>
        new SimulatedDatabase(location, options, this.#step, plantInStatements(planted)),
    });
    this.#connection = connection;
    const store = new SqliteStore({
      connection,
      file: path,
      durability: 'process',
      processes,
      watchInterval: watchMs,
      clock: this.#clock,
    });
    return withContractFault(store, this.#machine.contractFault);
  }

  readonly #step: Step = <T>(work: () => T, database?: DatabaseSync): T => {
    if (this.#hasCrashed) throw new Crash();
    const fault = this.#machine.waitForTurn(this);
    const error = sqliteErrors[fault ?? 'crash before'];
    if (error !== undefined && database instanceof SimulatedDatabase) {
      database.rollBack();
      throw Object.assign(new Error(error[1]), { code: 'ERR_SQLITE_ERROR', errcode: error[0] });
    }
    const result = fault === 'crash before' ? null : work();
    if (fault !== 'crash before' && fault !== 'crash after') return result as T;
    this.#hasCrashed = true;
    if (database instanceof SimulatedDatabase) database.rollBack();
    throw new Crash();
  };

  /** Runs the timers that are due. */
  #runTimers(): void {
    const now = this.#machine.time();
    for (const timer of [...this.#timers]) {
      if (timer.due > now || !this.#timers.delete(timer)) continue;
      timer.action();
    }
  }
}

/** As on real machines: a process number identifies a process within one boot and one namespace only. */
export function whyUnchecked(owner: ProcessOwner, viewer: ProcessOwner): string | null {
  if (owner.host !== viewer.host) return 'another host';
  if (owner.bootId !== viewer.bootId) return 'another boot of the machine';
  return owner.pidNamespace === viewer.pidNamespace ? null : 'another PID namespace';
}

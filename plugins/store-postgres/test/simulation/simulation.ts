import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import {
  type BegunCall,
  BrokenPromise,
  ContractOracle,
  RandomCalls,
  randomFrom,
  type SimulatedCall,
} from '@hansard/testing/simulation';
import { Client, type QueryConfig } from 'pg';
import { setupSql } from '../../src/database/schema.ts';
import { censusOf } from '../census.ts';
import type { PlantedFault } from './planted-faults.ts';
import {
  type Fault,
  faults,
  type Machine,
  type Outcome,
  SimulatedProcess,
  watchMs,
} from './simulated-process.ts';
import { emptySnapshot, readSnapshot, TableOracle } from './table-oracle.ts';

/** One decision of the scheduler. A decision that is not possible when its turn comes is skipped. */
export type Decision =
  /** A process without a call begins one. */
  | { readonly kind: 'start'; readonly process: number; readonly call: SimulatedCall }
  /** A process runs this number of statements; something happens to the last one. */
  | { readonly kind: 'run'; readonly process: number; readonly steps: number; readonly fault: Fault | null }
  | { readonly kind: 'stop'; readonly process: number }
  | { readonly kind: 'continue'; readonly process: number }
  | { readonly kind: 'crash'; readonly process: number }
  /** Time passes. The timers of processes that are not stopped are called. */
  | { readonly kind: 'wait'; readonly ms: number };

export interface SimulationOptions {
  /** Of a server whose `deadlock_timeout` is short. */
  readonly url: string;
  readonly schema: string;
  readonly processes: number;
  readonly dispatches: number;
  readonly leaseMs: number;
  readonly planted?: PlantedFault | undefined;
  /** The name of a fault of `contract-faults.ts`. */
  readonly contractFault?: string | undefined;
}

const noCounts = {
  /** Statements that the server ran. */
  steps: 0,
  calls: 0,
  /** Statements that waited for the lock of another connection. */
  blocked: 0,
  acknowledged: 0,
  refused: 0,
  /** Claims that were taken from an opening that had not released them. */
  takeovers: 0,
  crashes: 0,
  faults: 0,
  reads: 0,
  rewrites: 0,
  deletions: 0,
};

export type SimulationCounts = typeof noCounts;

const decisions = 120;
const toTheEnd = 1_000;

function run(process: number, steps: number, fault: Fault | null = null): Decision {
  return { kind: 'run', process, steps, fault };
}

/** A process makes a whole call, after the one that it makes. */
function made(process: number, call: SimulatedCall): Decision[] {
  return [run(process, toTheEnd), { kind: 'start', process, call }, run(process, toTheEnd)];
}

/** Decisions that are the same for the same seed. */
export function randomSchedule(
  seed: number,
  { processes, dispatches, leaseMs }: SimulationOptions,
): Decision[] {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const calls = new RandomCalls({ random, processes, dispatches, longest: 0 });
  const decide = (): Decision => {
    const chance = random();
    const process = below(processes);
    if (chance < 0.45) return { kind: 'start', process, call: calls.next(process) };
    if (chance < 0.6) return run(process, 1 + below(6));
    if (chance < 0.79) return run(process, toTheEnd);
    if (chance < 0.87) return run(process, 1 + below(8), faults[below(faults.length)] as Fault);
    if (chance < 0.89) return { kind: 'stop', process };
    if (chance < 0.93) return { kind: 'continue', process };
    if (chance < 0.99) return { kind: 'wait', ms: Math.floor(random() * leaseMs * 1.2) };
    return { kind: 'crash', process };
  };
  const pattern = () =>
    calls
      .pattern(below(processes))
      .flatMap(([process, call]): Decision[] => [{ kind: 'continue', process }, ...made(process, call)]);
  /** An owner is stopped past its lease, and another process takes its dispatch. */
  const overtaken = (): Decision[] => {
    const owner = below(processes);
    const other = (owner + 1 + below(processes - 1)) % processes;
    const dispatch = calls.focus(owner);
    const taken = made(other, { kind: 'claim', dispatch });
    const late = () => `p${owner}-${9_000 + schedule.length}`;
    return [
      ...made(owner, { kind: 'claim', dispatch }),
      ...made(owner, calls.append(owner, 1)),
      { kind: 'stop', process: owner },
      { kind: 'continue', process: other },
      ...taken,
      { kind: 'wait', ms: leaseMs * 1.1 },
      ...taken,
      { kind: 'continue', process: owner },
      ...made(owner, { kind: 'append', dispatch, ids: [late()], isSensible: false }),
    ];
  };
  const schedule: Decision[] = [];
  while (schedule.length < decisions) {
    const chance = random();
    const one = below(processes);
    const actors = { one, other: (one + 1 + below(processes - 1)) % processes };
    if (chance < 0.02) schedule.push(...pattern());
    else if (chance < 0.035) schedule.push(...overtaken());
    else if (chance < 0.05)
      schedule.push(...rare(calls, actors, { below, leaseMs, mark: `${9_000 + schedule.length}` }));
    else schedule.push(decide());
  }
  return schedule;
}

/** Calls of two processes that meet too rarely among the others. */
function rare(
  calls: RandomCalls,
  { one, other }: { readonly one: number; readonly other: number },
  { below, leaseMs, mark }: RareOptions,
): Decision[] {
  const dispatch = calls.focus(one);
  const claim = { kind: 'claim', dispatch } as const;
  const ready: Decision[] = [one, other].map((process) => ({ kind: 'continue', process }));
  const ids = [`p${one}-${mark}`];
  const append = { kind: 'append', dispatch, ids, isSensible: false } as const;
  switch (below(5)) {
    // Both want a dispatch that is free.
    case 0:
      return [
        ...[...ready, ...made(one, claim), ...made(one, { kind: 'release', dispatch })],
        ...[
          run(other, toTheEnd),
          { kind: 'start', process: one, call: claim } as const,
          run(one, 1 + below(5)),
        ],
        { kind: 'start', process: other, call: below(2) === 0 ? claim : calls.rewrite(other, dispatch) },
        ...[run(other, 1 + below(8)), run(one, toTheEnd), run(other, toTheEnd), ...made(one, append)],
      ];
    // An owner is stopped for less than its lease.
    case 1:
      return [
        ...[...ready, ...made(one, claim), { kind: 'stop', process: one } as const, ...made(other, claim)],
        ...[
          { kind: 'wait', ms: leaseMs * 0.7 } as const,
          ...made(other, claim),
          ...ready,
          ...made(one, append),
        ],
      ];
    case 2:
      return [
        ...[...ready, ...made(one, claim), ...made(one, append)],
        ...made(one, { kind: 'conflict', dispatch, id: ids[0] as string }),
      ];
    case 3:
      return [
        ...[...ready, ...made(one, { kind: 'put task', task: 2, mark, isNewer: true })],
        ...made(other, { kind: 'put task', task: 2, mark: `${mark} again`, isNewer: false }),
      ];
    default:
      return [
        ...[...ready, ...made(one, { kind: 'send letter', dispatch, id: `letter_p${one}-${mark}` })],
        ...made(other, { kind: 'list', scope: 'store', limit: 50, order: 'oldest', status: null }),
      ];
  }
}

interface RareOptions {
  readonly below: (limit: number) => number;
  readonly leaseMs: number;
  /** For ids and texts of their own. */
  readonly mark: string;
}

interface Gate {
  readonly statement: QueryConfig;
  readonly pass: (fault: Fault | null) => void;
}

interface Running {
  readonly backend: () => number | null;
  isBlocked: boolean;
  isDone: boolean;
  readonly done: Promise<unknown>;
}

interface ProcessState {
  readonly process: SimulatedProcess;
  begun: BegunCall | null;
  /** The statements that wait for the scheduler. */
  gates: Gate[];
  /** What the server does for it. */
  running: Set<Running>;
  isStopped: boolean;
}

/**
 * Several processes that share one schema of a real server. Each statement of each of their connections waits for the scheduler, and is then run
 * by the server, where it can wait for the lock of another connection. A step ends when the server has answered, or waits for such a lock.
 */
export class Simulation implements Machine, AsyncDisposable {
  readonly counts: SimulationCounts = { ...noCounts };
  readonly url: string;
  readonly schema: string;
  readonly leaseMs: number;
  readonly planted: PlantedFault | undefined;
  readonly contractFault: string | undefined;
  readonly #options: SimulationOptions;
  readonly #monitor: Client;
  #states: ProcessState[] = [];
  #time = 0;
  #contract: ContractOracle;
  #tables: TableOracle;
  #problem: unknown = null;
  /** The calls that ran since the last look at the tables. */
  #calls: BegunCall[] = [];
  /** Whether something that is not a read has run since then. */
  #mayCommit = false;

  private constructor(options: SimulationOptions, monitor: Client) {
    this.#options = options;
    this.url = options.url;
    this.schema = options.schema;
    this.leaseMs = options.leaseMs;
    this.planted = options.planted;
    this.contractFault = options.contractFault;
    this.#monitor = monitor;
    this.#contract = new ContractOracle(options.dispatches);
    this.#tables = new TableOracle(options.leaseMs);
  }

  static async start(options: SimulationOptions): Promise<Simulation> {
    const monitor = new Client(options.url);
    await monitor.connect();
    await monitor.query(setupSql({ schema: options.schema }));
    return new Simulation(options, monitor);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.#states) await process.crash();
    await this.#monitor.query(`DROP SCHEMA "${this.schema}" CASCADE`);
    await this.#monitor.end();
  }

  /** Runs a schedule from the start, on empty tables. @throws BrokenPromise */
  async run(schedule: readonly Decision[]): Promise<void> {
    await this.#reset();
    for (const decision of schedule) {
      await this.#decide(decision);
      this.#assertKept();
    }
    await this.#settle();
  }

  time(): number {
    return this.#time;
  }

  heard(process: SimulatedProcess, watch: number): void {
    this.#contract.heard(process.token, watch);
  }

  waitForTurn(process: SimulatedProcess, statement: QueryConfig): Promise<Fault | null> {
    this.#tables.note(process.token, statement);
    return new Promise((pass) => this.#stateOf(process).gates.push({ statement, pass }));
  }

  busy(process: SimulatedProcess, backend: () => number | null, work: Promise<unknown>): void {
    const { running } = this.#stateOf(process);
    const one: Running = { backend, isBlocked: false, isDone: false, done: work.catch(() => undefined) };
    running.add(one);
    void one.done.then(() => {
      one.isDone = true;
      running.delete(one);
    });
  }

  async ended(backends: readonly number[]): Promise<void> {
    if (backends.length === 0) return;
    const text = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY($1)';
    while ((await this.#monitor.query(text, [backends])).rows.length > 0) await pause(1);
  }

  #stateOf({ number }: SimulatedProcess): ProcessState {
    return this.#states[number] as ProcessState;
  }

  #assertKept(): void {
    if (this.#problem !== null) throw this.#problem;
  }

  async #reset(): Promise<void> {
    for (const { process } of this.#states) await process.crash();
    const tables = ['tasks', 'openings', 'dispatches', 'events', 'event_words', 'accepted_losses'];
    await this.#monitor.query(tables.map((table) => `DELETE FROM "${this.schema}".${table}`).join('; '));
    this.#time = 1_000;
    this.#problem = null;
    this.#calls = [];
    this.#contract = new ContractOracle(this.#options.dispatches);
    this.#tables = new TableOracle(this.leaseMs);
    this.#tables.observe([], emptySnapshot, 0);
    this.#states = Array.from({ length: this.#options.processes }, (_, number) => ({
      process: new SimulatedProcess(number, this),
      begun: null,
      gates: [],
      running: new Set(),
      isStopped: false,
    }));
  }

  async #decide(decision: Decision): Promise<void> {
    if (decision.kind === 'wait') {
      await this.#wait(decision.ms);
      return;
    }
    const state = this.#states[decision.process] as ProcessState;
    if (decision.kind === 'stop') state.isStopped = true;
    else if (decision.kind === 'continue') state.isStopped = false;
    else if (decision.kind === 'crash') await this.#crash(state);
    else if (state.isStopped) return;
    else if (decision.kind === 'start') {
      if (state.begun === null) await this.#begin(state, this.#sensible(state, decision.call));
    } else await this.#run(state, decision.steps, decision.fault);
  }

  #sensible({ process }: ProcessState, call: SimulatedCall): SimulatedCall {
    if (call.kind !== 'append' || !call.isSensible) return call;
    const { dispatch } = call;
    const claim = this.#tables.latest.dispatches.get(`d${dispatch}`);
    if (claim === undefined) return { kind: 'create', dispatch, mark: `${call.ids[0]}` };
    return this.#tables.isOf(claim.writer, process.token) ? call : { kind: 'claim', dispatch };
  }

  async #begin(state: ProcessState, call: SimulatedCall): Promise<void> {
    if (call.kind === 'close' && !state.process.isOpen) return;
    const begun = this.#contract.begin(state.process.token, call);
    state.begun = begun;
    this.#calls.push(begun);
    this.#tables.begin(begun, this.#time);
    this.counts.calls += 1;
    void state.process.perform(call).then(
      (outcome) => this.#end(state, begun, outcome),
      (error) => {
        this.#problem ??= error;
      },
    );
    await this.#quiet();
  }

  #end(state: ProcessState, begun: BegunCall, outcome: Outcome): void {
    if (state.begun !== begun) return;
    state.begun = null;
    const { call } = begun;
    try {
      if (outcome.kind === 'failed' && outcome.code === 'STORE_UNAVAILABLE' && !begun.isDisturbed)
        throw new BrokenPromise(`${call.kind} of ${begun.token} failed without a reason: ${outcome.message}`);
      if (call.kind !== 'copy') this.#contract.end(begun, outcome);
      if (call.kind === 'close') this.#contract.ended(begun.token);
    } catch (error) {
      this.#problem ??= error;
    }
    this.#count(call, outcome);
  }

  #count(call: SimulatedCall, outcome: Outcome): void {
    const { counts } = this;
    if (outcome.kind === 'failed') counts.refused += 1;
    if (outcome.kind !== 'returned') return;
    if (call.kind === 'append') counts.acknowledged += call.ids.length;
    else if (call.kind === 'read') counts.reads += 1;
    else if (call.kind === 'rewrite') counts.rewrites += 1;
    else if (call.kind === 'delete') counts.deletions += 1;
  }

  /** Runs statements of a process, unless they wait for a lock. @returns how many */
  async #run(state: ProcessState, steps: number, fault: Fault | null): Promise<number> {
    let ran = 0;
    while (ran < steps && !state.isStopped) {
      const gate = state.gates.shift();
      if (gate === undefined) break;
      ran += 1;
      this.counts.steps += 1;
      const chosen = ran === steps ? fault : null;
      if (chosen !== null) this.counts.faults += 1;
      if (chosen !== null && state.begun !== null) state.begun.isDisturbed = true;
      const isCrash = chosen === 'crash before' || chosen === 'crash after';
      // The process itself ends its connections when the statement has run.
      if (isCrash) this.#forget(state);
      this.#mayCommit ||= chosen !== null || !/^(SELECT|BEGIN|ROLLBACK)/.test(gate.statement.text.trim());
      gate.pass(chosen);
      await this.#quiet();
      if (chosen === null) this.#tables.ran(gate.statement, this.#time);
      this.#assertKept();
    }
    return ran;
  }

  async #crash(state: ProcessState): Promise<void> {
    this.#forget(state);
    await state.process.crash();
    await this.#quiet();
  }

  #forget(state: ProcessState): void {
    const { begun, process } = state;
    this.counts.crashes += 1;
    state.begun = null;
    state.gates = [];
    state.isStopped = false;
    if (begun !== null) this.#contract.end(begun, { kind: 'crashed' });
    this.#contract.ended(process.token);
  }

  /** Resolves when every process waits: for the scheduler, for a lock, or for its next call. Then the tables are judged. */
  async #quiet(): Promise<void> {
    for (const { running } of this.#states) for (const one of running) one.isBlocked = false;
    for (let rounds = 0; ; rounds += 1) {
      await setImmediate();
      await setImmediate();
      const open = this.#states.flatMap(({ running }) => [...running].filter(({ isBlocked }) => !isBlocked));
      if (open.length === 0 && this.#problem !== null) return;
      if (open.length === 0 && this.#states.every(isWaiting)) break;
      if (rounds > 20_000) throw new BrokenPromise('a call does not end');
      await Promise.race([...open.map(({ done }) => done), pause(2)]);
      await this.#findBlocked(open.filter(({ isDone }) => !isDone));
    }
    if (!this.#mayCommit) return;
    this.#mayCommit = this.#states.some(({ running }) => running.size > 0);
    const calls = this.#calls;
    this.#calls = this.#states.flatMap(({ begun }) => begun ?? []);
    const snapshot = await readSnapshot(this.#monitor, this.schema);
    try {
      this.counts.takeovers += this.#tables.observe(calls, snapshot, this.#time);
    } catch (error) {
      this.#problem ??= error;
    }
  }

  async #findBlocked(open: readonly Running[]): Promise<void> {
    const pids = open.flatMap(({ backend }) => backend() ?? []);
    if (pids.length === 0) return;
    const text = 'SELECT pid FROM unnest($1::int[]) AS p (pid) WHERE cardinality(pg_blocking_pids(pid)) > 0';
    const blocked = new Set((await this.#monitor.query(text, [pids])).rows.map(({ pid }) => pid));
    for (const one of open) {
      one.isBlocked = blocked.has(one.backend());
      if (one.isBlocked) this.counts.blocked += 1;
    }
  }

  /** Time passes. What timers send is run at once by a process that makes no call. */
  async #wait(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      const ready = this.#states.filter(({ isStopped }) => !isStopped);
      const due = Math.min(...ready.map(({ process }) => process.nextTimer), Number.POSITIVE_INFINITY);
      if (due > end) break;
      this.#time = Math.max(this.#time, due);
      for (const state of ready) {
        state.process.runTimers();
        await this.#quiet();
        if (state.begun === null) await this.#run(state, toTheEnd, null);
      }
    }
    this.#time = end;
  }

  /** Every call ends, and every store is closed. Then one process must get every dispatch, after a lease at most. */
  async #settle(): Promise<void> {
    for (const state of this.#states) state.isStopped = false;
    await this.#finishAll();
    if (this.#contract.isOwed) await this.#wait(2 * watchMs);
    this.#contract.assertHeard();
    for (const state of this.#states) await this.#complete(state, { kind: 'close' });
    const [reader] = this.#states as [ProcessState];
    for (let dispatch = 0; dispatch < this.#options.dispatches; dispatch += 1) {
      if (!this.#tables.latest.dispatches.has(`d${dispatch}`)) continue;
      await this.#complete(reader, { kind: 'claim', dispatch });
      await this.#wait(this.leaseMs);
      for (const kind of ['claim', 'read', 'verify', 'release'] as const)
        await this.#complete(reader, { kind, dispatch });
      if (this.#tables.latest.dispatches.get(`d${dispatch}`)?.writer !== null)
        throw new BrokenPromise(`d${dispatch} is never free`);
    }
    await this.#complete(reader, { kind: 'close' });
    const [place] = (await censusOf(this.url, this.schema)).filter((one) => one.startsWith('rows of'));
    if (place !== undefined) throw new BrokenPromise(`${place} stay`);
  }

  async #complete(state: ProcessState, call: SimulatedCall): Promise<void> {
    await this.#begin(state, call);
    await this.#finishAll();
  }

  async #finishAll(): Promise<void> {
    for (
      let rounds = 0;
      this.#states.some(({ begun, gates }) => begun !== null || gates.length > 0);
      rounds += 1
    ) {
      let ran = 0;
      for (const state of this.#states) ran += await this.#run(state, toTheEnd, null);
      // The server ends a deadlock after a moment.
      if (ran === 0) await pause(5);
      if (ran === 0) await this.#quiet();
      if (rounds > 1_000) throw new BrokenPromise('a call does not end');
    }
    this.#assertKept();
  }
}

function isWaiting({ begun, gates, running }: ProcessState): boolean {
  return begun === null || gates.length > 0 || running.size > 0;
}

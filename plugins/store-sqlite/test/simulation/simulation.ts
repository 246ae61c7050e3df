import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { storeErrors } from '@hansard/provider';
import type { ProcessOwner } from '@hansard/store-kit';
import {
  type BegunCall,
  BrokenPromise,
  type ContractAnswer,
  ContractOracle,
  type EventText,
  taskDir,
} from '@hansard/testing/simulation';
import { openSqliteStore } from '../../src/index.ts';
import { LeaseOracle, type Opening } from './lease-oracle.ts';
import { type CallInProgress, LogOracle } from './log-oracle.ts';
import type { PlantedFault } from './planted-faults.ts';
import type { Decision, Fault, Operation } from './schedule.ts';
import { type Machine, type Outcome, SimulatedProcess, watchMs } from './simulated-process.ts';
import { SnapshotReader } from './snapshot.ts';

const startOfWallClock = Date.UTC(2026, 0, 1);

export interface SimulationOptions {
  readonly processes: number;
  readonly dispatches: number;
  readonly leaseMs: number;
  readonly planted?: PlantedFault;
  /** The name of a fault of `contract-faults.ts`. */
  readonly contractFault?: string;
}

const noCounts = {
  /** Statements that ran, and clocks that were read. */
  steps: 0,
  calls: 0,
  /** Calls in the middle of which another process, or time, had its turn. */
  interruptions: 0,
  acknowledged: 0,
  refused: 0,
  /** Claims that were taken from an opening that had not ended. */
  takeovers: 0,
  crashes: 0,
  faults: 0,
  reads: 0,
};

export type SimulationCounts = typeof noCounts;

interface ProcessState {
  readonly process: SimulatedProcess;
  host: string;
  namespace: string;
  life: { hasEnded: boolean };
  opening: Opening | null;
  call: CallInProgress | null;
  begun: BegunCall | null;
  /** The steps that it may make before another process has its turn. */
  steps: number;
  /** What happens to the last one. */
  fault: Fault | null;
  isStopped: boolean;
}

/**
 * Several processes that open one real database. A process that is interrupted in a call waits until the processes that have begun
 * a call since have ended it: calls are nested, as those of a stack.
 */
export class Simulation implements Disposable, Machine {
  readonly counts: SimulationCounts = { ...noCounts };
  readonly path: string;
  readonly leaseMs: number;
  readonly planted: PlantedFault | undefined;
  readonly contractFault: string | undefined;
  readonly #folder: string;
  readonly #template: string;
  readonly #options: SimulationOptions;
  #states: ProcessState[] = [];
  #machines = new Map<string, { boot: number; clockOffset: number }>();
  #time = 0;
  #lives = 0;
  #reader: SnapshotReader | null = null;
  #oracle: LogOracle;
  #contract: ContractOracle;
  #microtasks: (() => void)[] = [];
  #copies = 0;
  #schedule: readonly Decision[] = [];
  #next = 0;
  #problem: BrokenPromise | null = null;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.leaseMs = options.leaseMs;
    this.planted = options.planted;
    this.contractFault = options.contractFault;
    this.#folder = mkdtempSync(
      join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hansard-sqlite-simulation-'),
    );
    this.path = join(this.#folder, 'hansard.sqlite');
    this.#template = join(this.#folder, 'template.sqlite');
    this.#oracle = new LogOracle(new LeaseOracle(this.leaseMs));
    this.#contract = new ContractOracle(options.dispatches);
    const store = openSqliteStore({ path: this.#template });
    store.putTask(taskDir, { createdAt: '2026-01-01T00:00:00.000Z' } as never);
    store.close();
  }

  /** Runs a schedule from the start, on a database without dispatches. @throws BrokenPromise */
  run(schedule: readonly Decision[]): void {
    const { queueMicrotask } = globalThis;
    // The calls of listeners: a schedule runs without a pause.
    globalThis.queueMicrotask = (work) => void this.#microtasks.push(work);
    try {
      this.#reset();
      this.#schedule = schedule;
      for (let decision = this.#take(); decision !== undefined; decision = this.#take())
        this.#decide(decision);
      this.#settle();
      this.#assertKept();
    } finally {
      globalThis.queueMicrotask = queueMicrotask;
    }
  }

  heard(process: SimulatedProcess, watch: number): void {
    this.#contract.heard(tokenOf(process), watch);
  }

  readCopy(): ContractAnswer {
    this.#copies += 1;
    const path = join(this.#folder, `copy-${this.#copies}.sqlite`);
    for (const suffix of ['', '-wal', '-lengths'])
      if (existsSync(`${this.path}${suffix}`)) copyFileSync(`${this.path}${suffix}`, `${path}${suffix}`);
    const store = openSqliteStore({ path });
    const dispatches = Array.from({ length: this.#options.dispatches }, (_, dispatch) => {
      try {
        const events = store.getDispatchEvents(taskDir, `d${dispatch}`);
        return events.map(({ id, data }): EventText => [id, (data as { text: string }).text]);
      } catch (error) {
        if (storeErrors.is(error)) return error.code;
        throw error;
      }
    });
    store.close();
    for (const suffix of ['', '-wal', '-shm', '-lengths']) rmSync(`${path}${suffix}`, { force: true });
    return { kind: 'copy', dispatches };
  }

  [Symbol.dispose](): void {
    this.#closeAll();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  time(): number {
    return this.#time;
  }

  wallClock(host: string): number {
    return startOfWallClock + this.#time + this.#machine(host).clockOffset;
  }

  isRunning(owner: ProcessOwner): boolean {
    return this.#states.some(({ process }) => isDeepStrictEqual(process.owner, owner));
  }

  waitForTurn(process: SimulatedProcess): Fault | null {
    const state = this.#states[process.number] as ProcessState;
    if (state.steps === 0) {
      this.#keepProblem(() => this.#observe(state));
      this.counts.interruptions += 1;
    }
    while (state.steps === 0 && this.#problem === null) {
      const decision = this.#take();
      if (decision === undefined) state.steps = Number.POSITIVE_INFINITY;
      else if (!('process' in decision) || decision.process !== process.number)
        this.#keepProblem(() => this.#decide(decision));
      else if (decision.kind === 'crash') return 'crash before';
      else if (decision.kind === 'run' && !state.isStopped)
        Object.assign(state, { steps: decision.steps, fault: decision.fault });
      else this.#keepProblem(() => this.#decide(decision));
    }
    if (this.#problem !== null) return 'crash before';
    state.steps -= 1;
    this.counts.steps += 1;
    if (state.steps > 0 || state.fault === null) return null;
    const { fault } = state;
    state.fault = null;
    this.counts.faults += 1;
    if (state.call !== null) state.call.isDisturbed = true;
    if (state.begun !== null) state.begun.isDisturbed = true;
    return fault;
  }

  #take(): Decision | undefined {
    this.#assertKept();
    this.#next += 1;
    return this.#schedule[this.#next - 1];
  }

  /** A broken promise must not pass through the code of a store, which could catch it. */
  #keepProblem(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof BrokenPromise)) throw error;
      this.#problem ??= error;
    }
  }

  #assertKept(): void {
    if (this.#problem !== null) throw this.#problem;
  }

  #decide(decision: Decision): void {
    if (decision.kind === 'wait') {
      this.#wait(decision.ms);
      return;
    }
    const state = this.#states[decision.process];
    if (state === undefined) return;
    switch (decision.kind) {
      case 'start':
        if (state.call === null && !state.isStopped)
          this.#begin(state, this.#sensible(state, decision.operation), decision.steps);
        break;
      case 'stop':
      case 'continue':
        state.isStopped = decision.kind === 'stop';
        break;
      case 'crash':
        if (state.call === null) this.#restart(state);
        break;
      case 'move':
        if (state.call !== null) break;
        if (decision.to === 'host') state.host = state.host === 'one' ? 'two' : 'one';
        else state.namespace = state.namespace === 'first' ? 'second' : 'first';
        this.#restart(state);
        break;
      case 'reboot': {
        const ofHost = this.#states.filter(({ host }) => host === state.host);
        if (ofHost.some(({ call }) => call !== null)) break;
        this.#machine(state.host).boot += 1;
        for (const one of ofHost) this.#restart(one);
        break;
      }
      case 'set clock':
        this.#machine(state.host).clockOffset += decision.byMs;
        break;
    }
  }

  #sensible({ opening }: ProcessState, operation: Operation): Operation {
    if (operation.kind !== 'append' || !operation.isSensible) return operation;
    const { dispatch } = operation;
    if (this.#oracle.hasClaimed(opening, `d${dispatch}`)) return operation;
    if (this.#oracle.latest.dispatches.has(`d${dispatch}`)) return { kind: 'claim', dispatch };
    return { kind: 'create', dispatch, mark: `${operation.ids[0]}` };
  }

  #begin(state: ProcessState, operation: Operation, steps: number): Outcome | null {
    const isOfOpening = operation.kind === 'timers' || operation.kind === 'close';
    if (isOfOpening && state.opening === null) return null;
    const { process } = state;
    state.opening ??= {
      process: process.number,
      owner: process.owner,
      bornAt: this.#time,
      isClosed: false,
      life: state.life,
      hinderedAt: Number.NEGATIVE_INFINITY,
      refusals: new Map(),
    };
    const { opening } = state;
    const call: CallInProgress = {
      opening,
      operation,
      beganAt: this.#time,
      before: this.#oracle.latest,
      isAbandoned: 'dispatch' in operation && this.#oracle.isAbandoned(opening, `d${operation.dispatch}`),
      isDisturbed: this.#states.some((other) => other.call !== null),
      hasEffect: false,
    };
    Object.assign(state, { call, steps, fault: null });
    this.counts.calls += 1;
    const token = tokenOf(process);
    state.begun = this.#contract.begin(token, operation);
    const outcome = process.perform(operation);
    this.#runMicrotasks();
    this.#assertKept();
    this.#observe(state);
    state.call = null;
    if (operation.kind === 'timers' && call.isDisturbed) opening.hinderedAt = this.#time;
    if (outcome.kind === 'crashed') this.#restart(state);
    else if (operation.kind === 'close') {
      opening.isClosed = true;
      state.opening = null;
    }
    this.#count(operation, outcome);
    this.#oracle.end(call, outcome, this.#time);
    this.#contract.end(state.begun, outcome);
    state.begun = null;
    if (outcome.kind === 'crashed' || operation.kind === 'close') this.#contract.ended(token);
    return outcome;
  }

  #runMicrotasks(): void {
    const works = this.#microtasks;
    this.#microtasks = [];
    for (const work of works) work();
  }

  #count(operation: Operation, outcome: Outcome): void {
    if (outcome.kind === 'failed') this.counts.refused += 1;
    else if (outcome.kind === 'returned' && operation.kind === 'append')
      this.counts.acknowledged += operation.ids.length;
    else if (outcome.kind === 'returned' && operation.kind === 'read') this.counts.reads += 1;
  }

  /** Judges what the process has committed in its turn. */
  #observe({ call }: ProcessState): void {
    if (call === null || this.#reader === null) return;
    const before = this.#oracle.takeovers;
    this.#oracle.observe(call, this.#reader.read(), this.#time);
    this.counts.takeovers += this.#oracle.takeovers - before;
  }

  /** Time passes. Only processes that run and have no call in progress call their timers. */
  #wait(ms: number): void {
    const end = this.#time + ms;
    for (;;) {
      const ready = this.#states.filter((state) => !isHindered(state));
      const due = Math.min(...ready.map(({ process }) => process.nextTimer), Number.POSITIVE_INFINITY);
      if (due > end) break;
      this.#time = Math.max(this.#time, due);
      for (const state of ready)
        if (state.process.nextTimer <= this.#time) this.#begin(state, { kind: 'timers' }, Infinity);
    }
    this.#time = end;
    for (const state of this.#states)
      if (state.opening !== null && isHindered(state)) state.opening.hinderedAt = end;
  }

  /** At the end, every process closes its store. Then the first one must get every dispatch, after a lease at most. */
  #settle(): void {
    for (const state of this.#states) state.isStopped = false;
    if (this.#contract.isOwed) this.#wait(2 * watchMs);
    this.#contract.assertHeard();
    for (const state of this.#states) this.#begin(state, { kind: 'close' }, Infinity);
    const [last] = this.#states;
    if (last === undefined) return;
    const dispatches = Array.from({ length: this.#options.dispatches }, (_, number) => number).filter(
      (number) => this.#oracle.latest.dispatches.has(`d${number}`),
    );
    for (const dispatch of dispatches) this.#begin(last, { kind: 'claim', dispatch }, Infinity);
    this.#wait(this.leaseMs);
    for (const dispatch of dispatches) {
      for (const kind of ['claim', 'read', 'verify'] as const)
        if (this.#begin(last, { kind, dispatch }, Infinity)?.kind !== 'returned')
          throw new BrokenPromise(`${kind} of dispatch ${dispatch} is refused at the end`);
    }
  }

  /** The process ends without releasing anything, and another one begins in its place. */
  #restart(state: ProcessState): void {
    this.#contract.ended(tokenOf(state.process));
    state.life.hasEnded = true;
    state.life = { hasEnded: false };
    this.counts.crashes += 1;
    state.opening = null;
    state.isStopped = false;
    state.process.restart(this.#newOwner(state.process.number, state));
  }

  #newOwner(number: number, { host, namespace }: Pick<ProcessState, 'host' | 'namespace'>): ProcessOwner {
    this.#lives += 1;
    // Processes of different namespaces can have the same number.
    const pid = 1 + (number % 2);
    const bootId = `${host} ${this.#machine(host).boot}`;
    return { pid, host, startTime: `${this.#lives}`, bootId, pidNamespace: namespace };
  }

  #machine(host: string): { boot: number; clockOffset: number } {
    const machine = this.#machines.get(host) ?? { boot: 1, clockOffset: 0 };
    this.#machines.set(host, machine);
    return machine;
  }

  #reset(): void {
    this.#closeAll();
    for (const suffix of ['-wal', '-shm', '-lengths']) rmSync(`${this.path}${suffix}`, { force: true });
    copyFileSync(this.#template, this.path);
    this.#reader = new SnapshotReader(this.path);
    this.#machines = new Map();
    this.#time = 1_000;
    this.#lives = 0;
    this.#next = 0;
    this.#problem = null;
    this.#oracle = new LogOracle(new LeaseOracle(this.leaseMs));
    this.#contract = new ContractOracle(this.#options.dispatches);
    this.#microtasks = [];
    this.#oracle.start(this.#reader.read());
    this.#states = Array.from({ length: this.#options.processes }, (_, number) => {
      const place = { host: 'one', namespace: number < 2 ? 'first' : 'second' };
      const process = new SimulatedProcess(number, this.#newOwner(number, place), this);
      const idle = { opening: null, call: null, begun: null, steps: 0, fault: null, isStopped: false };
      return { process, ...place, life: { hasEnded: false }, ...idle };
    });
  }

  #closeAll(): void {
    for (const { process } of this.#states) process.restart(process.owner);
    this.#states = [];
    this.#reader?.close();
    this.#reader = null;
  }
}

/** Names one life of a process. */
function tokenOf({ number, owner }: SimulatedProcess): string {
  return `process ${number} life ${owner.startTime}`;
}

function isHindered({ isStopped, call }: ProcessState): boolean {
  return isStopped || call !== null;
}

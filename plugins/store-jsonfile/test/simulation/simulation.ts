import { Worker } from 'node:worker_threads';
import { type BegunCall, BrokenPromise, ContractOracle } from '@hansard/testing/simulation';
import {
  type Append,
  type BreakInProgress,
  type ClaimInProgress,
  LogOracle,
  type ReadInProgress,
} from './log-oracle.ts';
import type { Command, Fault, Grant, Operation, Outcome, Report } from './messages.ts';
import { type AttributeCacheOptions, livesAt } from './process-kernel.ts';
import type { Decision, ProcessDecision } from './schedule.ts';
import { type DiskChange, SimulatedDisk } from './simulated-disk.ts';
import { Turns } from './turns.ts';

/** Milliseconds. A listener is called at the latest then after a change. */
const longestLook = 6_000;
/** More steps than any operation makes. One that makes more does not end. */
const mostSteps = 20_000;
/** After losses of power, the locks of a dispatch can have gaps. Each lease is then watched when those below it are over. */
const mostLeasesInTurn = 4;
const mostProcesses = 8;
const startOfWallClock = Date.UTC(2026, 0, 1);

const callsWithCache: readonly Operation['kind'][] = [
  'create',
  'claim',
  'append',
  'update',
  'end',
  'rewrite',
  'release',
  'close',
];

/** A fault that is planted in a store, to see whether the simulation finds it. */
export type PlantedFault =
  | 'missing sync'
  | 'wall clock'
  | 'early rename'
  | 'late check'
  | 'kept copies'
  | 'removal by name';

export interface SimulationOptions {
  readonly processes: number;
  readonly dispatches: number;
  readonly leaseMs: number;
  readonly durability: 'process' | 'disk';
  /** Each process is on a machine of its own, which keeps facts about files for a time, as NFS does. */
  readonly cache?: AttributeCacheOptions;
  readonly planted?: PlantedFault;
  /** The name of a fault of `contract-faults.ts`. */
  readonly contractFault?: string;
}

/** What the worker of a process is given. */
export interface WorkerData {
  readonly process: number;
  readonly turns: SharedArrayBuffer;
  readonly clocks: SharedArrayBuffer;
  readonly options: SimulationOptions;
}

export interface SimulationCounts {
  steps: number;
  operations: number;
  acknowledged: number;
  refused: number;
  takeovers: number;
  crashes: number;
  faults: number;
  reads: number;
  /** Calls that returned. */
  rewrites: number;
  deletions: number;
  listings: number;
  searches: number;
  letters: number;
  copies: number;
}

export const noSimulationCounts: Readonly<SimulationCounts> = {
  steps: 0,
  operations: 0,
  acknowledged: 0,
  refused: 0,
  takeovers: 0,
  crashes: 0,
  faults: 0,
  reads: 0,
  rewrites: 0,
  deletions: 0,
  listings: 0,
  searches: 0,
  letters: 0,
  copies: 0,
};

const counted: Partial<Record<Operation['kind'], keyof SimulationCounts>> = {
  rewrite: 'rewrites',
  delete: 'deletions',
  list: 'listings',
  search: 'searches',
  'take letters': 'letters',
  copy: 'copies',
};

interface SimulatedProcess {
  readonly number: number;
  readonly worker: Worker;
  readonly turns: Turns;
  /** How many changes of the disk it knows. */
  known: number;
  operation: Operation | null;
  read: ReadInProgress | null;
  claim: ClaimInProgress | null;
  breaking: BreakInProgress | null;
  append: Append | null;
  begun: BegunCall | null;
  isStopped: boolean;
  nextTimer: number | null;
}

/** Several processes on one simulated machine. Each has a thread, of which one runs at a time. */
export class Simulation implements Disposable {
  readonly counts: SimulationCounts = { ...noSimulationCounts };
  readonly #options: SimulationOptions;
  readonly #clocks = new Float64Array(new SharedArrayBuffer(8 * (livesAt + mostProcesses)));
  readonly #processes: SimulatedProcess[];
  #disk = new SimulatedDisk();
  #changes: DiskChange[] = [];
  #oracle: LogOracle;
  #contract: ContractOracle;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#oracle = new LogOracle(options.cache === undefined ? options.leaseMs : 0);
    this.#contract = new ContractOracle(options.dispatches);
    this.#processes = Array.from({ length: options.processes }, (_, number) => this.#start(number));
  }

  /** Runs a schedule from the start, on an empty disk. @throws BrokenPromise */
  run(schedule: readonly Decision[]): void {
    this.#reset();
    for (const decision of schedule) this.#decide(decision);
    this.#settle();
  }

  [Symbol.dispose](): void {
    for (const { worker } of this.#processes) void worker.terminate();
  }

  #start(number: number): SimulatedProcess {
    const memory = Turns.createMemory();
    const data: WorkerData = {
      process: number,
      turns: memory,
      clocks: this.#clocks.buffer as SharedArrayBuffer,
      options: this.#options,
    };
    const worker = new Worker(new URL('./simulated-process.ts', import.meta.url), {
      workerData: data,
      execArgv: ['--conditions=@hansard/source', '--disable-warning=ExperimentalWarning'],
    });
    return {
      number,
      worker,
      turns: new Turns(memory, 'simulator'),
      known: 0,
      operation: null,
      read: null,
      claim: null,
      breaking: null,
      append: null,
      begun: null,
      isStopped: false,
      nextTimer: null,
    };
  }

  #reset(): void {
    this.#disk = new SimulatedDisk();
    this.#changes = [];
    this.#oracle = new LogOracle(this.#options.cache === undefined ? this.#options.leaseMs : 0);
    this.#contract = new ContractOracle(this.#options.dispatches);
    this.#clocks.fill(0);
    this.#clocks[0] = 1_000;
    this.#clocks[1] = startOfWallClock;
    for (const process of this.#processes) {
      if (process.operation !== null) this.#crash(process);
      this.#send(process, { kind: 'reset' });
      Object.assign(process, {
        known: 0,
        operation: null,
        read: null,
        claim: null,
        breaking: null,
        append: null,
        begun: null,
        isStopped: false,
        nextTimer: null,
      });
    }
  }

  #decide(decision: Decision): void {
    switch (decision.kind) {
      case 'wait':
        this.#wait(decision.ms);
        break;
      case 'suspend':
        this.#turnClock(1, decision.ms);
        break;
      case 'set clock':
        this.#turnClock(1, decision.byMs);
        break;
      case 'lose power':
        this.#losePower(decision.seed);
        break;
      default: {
        const process = this.#processes[decision.process];
        if (process !== undefined) this.#schedule(process, decision);
      }
    }
  }

  #schedule(process: SimulatedProcess, decision: ProcessDecision): void {
    if (decision.kind === 'stop') process.isStopped = true;
    else if (decision.kind === 'continue') process.isStopped = false;
    else if (process.isStopped) return;
    else if (decision.kind === 'start') {
      if (process.operation === null && this.#isMade(decision.operation))
        this.#begin(process, this.#sensible(process, decision.operation), 1, null);
    } else if (process.operation === null) return;
    else if (decision.kind === 'run') this.#step(process, decision.steps, decision.fault);
    else this.#finish(process);
  }

  /** What is read through a cache is old, and nobody says otherwise: only what is stored is judged then, after calls that store. */
  #isMade({ kind }: Operation): boolean {
    return this.#options.cache === undefined || callsWithCache.includes(kind);
  }

  #sensible({ number }: SimulatedProcess, operation: Operation): Operation {
    if (operation.kind !== 'append' || !operation.isSensible) return operation;
    const { dispatch } = operation;
    if (this.#oracle.hasClaimed(number, dispatch)) return operation;
    if (this.#oracle.isCreated(dispatch)) return { kind: 'claim', dispatch };
    return { kind: 'create', dispatch, mark: `${operation.ids[0]}` };
  }

  /** At the end, every process ends its operation, and one of them reads everything when all leases are over. */
  #settle(): void {
    for (const process of this.#processes) {
      process.isStopped = false;
      this.#finish(process);
    }
    if (this.#contract.isOwed) this.#wait(longestLook);
    this.#contract.assertHeard();
    for (const process of this.#processes) this.#complete(process, { kind: 'close' });
    this.#wait(this.#options.leaseMs * 2 + (this.#options.cache?.ms ?? 0));
    const [reader] = this.#processes;
    if (reader === undefined) return;
    for (let dispatch = 0; dispatch < this.#options.dispatches; dispatch += 1) {
      if (!this.#oracle.isCreated(dispatch)) continue;
      // A claim can find a lease that it has to watch, and then one that a loss of power left above a gap.
      let outcome = this.#complete(reader, { kind: 'claim', dispatch });
      for (
        let leases = 0;
        leases < 1 || (outcome.kind !== 'returned' && leases < mostLeasesInTurn);
        leases += 1
      ) {
        this.#wait(this.#options.leaseMs * 1.1);
        outcome = this.#complete(reader, { kind: 'claim', dispatch });
      }
      if (outcome.kind !== 'returned')
        throw new BrokenPromise(`dispatch ${dispatch} is never free: ${JSON.stringify(outcome)}`);
      this.#complete(reader, { kind: 'read', dispatch });
      this.#complete(reader, { kind: 'verify', dispatch });
      this.#complete(reader, { kind: 'release', dispatch });
    }
  }

  #complete(process: SimulatedProcess, operation: Operation): Outcome {
    const outcome = this.#begin(process, operation, mostSteps, null);
    if (outcome === null) throw new BrokenPromise(`${operation.kind} does not end`);
    return outcome;
  }

  #wait(ms: number): void {
    const end = (this.#clocks[0] ?? 0) + ms;
    for (;;) {
      const next = this.#nextTimer(end);
      if (next === null) break;
      const { process, time } = next;
      const late = time - (this.#clocks[0] ?? 0);
      if (late > 0) this.#pass(late);
      process.nextTimer = null;
      this.#complete(process, { kind: 'timers' });
    }
    const rest = end - (this.#clocks[0] ?? 0);
    if (rest > 0) this.#pass(rest);
  }

  /** The next timer of a process that waits for nothing else. One in the middle of an operation does not run timers. */
  #nextTimer(end: number): { readonly process: SimulatedProcess; readonly time: number } | null {
    let found: { process: SimulatedProcess; time: number } | null = null;
    for (const process of this.#processes) {
      const time = process.nextTimer;
      if (time === null || process.isStopped || process.operation !== null || time > end) continue;
      if (found === null || time < found.time) found = { process, time };
    }
    return found;
  }

  #pass(ms: number): void {
    this.#turnClock(0, ms);
    this.#turnClock(1, ms);
  }

  #turnClock(which: 0 | 1, ms: number): void {
    this.#clocks[which] = (this.#clocks[which] ?? 0) + ms;
  }

  #losePower(seed: number): void {
    for (const process of this.#processes) this.#crash(process);
    this.#apply({ kind: 'power loss', seed });
    this.#contract.lostPower();
    this.#turnClock(1, 60_000);
    this.#checkFiles();
  }

  #crash(process: SimulatedProcess): void {
    process.isStopped = false;
    if (process.operation !== null) this.#step(process, 1, 'crash before');
    else {
      this.#send(process, { kind: 'crash' });
      this.#ended(process.number);
    }
  }

  #ended(process: number): void {
    this.counts.crashes += 1;
    this.#contract.ended(this.#tokenOf(this.#processes[process] as SimulatedProcess));
    this.#clocks[livesAt + process] = (this.#clocks[livesAt + process] ?? 0) + 1;
    this.#oracle.ended(process);
  }

  #begin(
    process: SimulatedProcess,
    operation: Operation,
    steps: number,
    fault: Fault | null,
  ): Outcome | null {
    process.operation = operation;
    this.counts.operations += 1;
    if (operation.kind === 'read') process.read = this.#oracle.beginRead(process.number, operation.dispatch);
    if (operation.kind === 'claim' || operation.kind === 'create' || isTaking(operation))
      process.claim = this.#oracle.beginClaim(process.number, operation.dispatch);
    if (operation.kind === 'break claim') process.breaking = this.#oracle.beginBreak(operation.dispatch);
    if (operation.kind === 'release' && this.#oracle.hasClaimed(process.number, operation.dispatch))
      this.#oracle.beginRelease(operation.dispatch);
    if (operation.kind === 'close') this.#oracle.beginEnd(process.number);
    if (operation.kind === 'delete') this.#oracle.beginDelete(operation.dispatch);
    process.begun = this.#contract.begin(this.#tokenOf(process), operation);
    if (operation.kind === 'append')
      process.append = this.#oracle.beginAppend(process.number, operation.dispatch, operation.ids);
    if (operation.kind === 'conflict')
      process.append = this.#oracle.beginAppend(process.number, operation.dispatch, [operation.id]);
    if (operation.kind === 'rewrite' && operation.what !== 'fail')
      process.append = this.#oracle.beginRewrite(
        process.number,
        operation.dispatch,
        operation.ids,
        operation.what,
      );
    // Its notice is appended only if a loss of power has torn a copy of the head.
    if (operation.kind === 'accept loss')
      this.#oracle.beginAppend(process.number, operation.dispatch, operation.ids);
    const command: Command = { kind: 'start', operation, ...this.#grant(process, steps, fault) };
    return this.#receive(process, this.#send(process, command));
  }

  #step(process: SimulatedProcess, steps: number, fault: Fault | null): Outcome | null {
    if (fault !== null) this.counts.faults += 1;
    if (fault !== null && process.begun !== null) process.begun.isDisturbed = true;
    return this.#receive(
      process,
      this.#send(process, { kind: 'continue', ...this.#grant(process, steps, fault) }),
    );
  }

  #finish(process: SimulatedProcess): void {
    if (process.operation === null) return;
    const { kind } = process.operation;
    if (this.#step(process, mostSteps, null) === null) throw new BrokenPromise(`${kind} does not end`);
  }

  #grant(process: SimulatedProcess, steps: number, fault: Fault | null): Grant {
    const changes = this.#changes.slice(process.known);
    process.known = this.#changes.length;
    return { changes, steps, fault };
  }

  #send(process: SimulatedProcess, command: Command): Report {
    return process.turns.pass(command) as Report;
  }

  /** Names this life of a process. */
  #tokenOf({ number }: SimulatedProcess): string {
    return `process ${number} life ${this.#clocks[livesAt + number]}`;
  }

  #receive(process: SimulatedProcess, { changes, steps, outcome, nextTimer, heard }: Report): Outcome | null {
    this.counts.steps += steps;
    process.nextTimer = nextTimer;
    for (const watch of heard) this.#contract.heard(this.#tokenOf(process), watch);
    for (const change of changes) {
      if (change.kind === 'times') this.#oracle.renewed(process.number, this.#clocks[0] ?? 0);
      this.#apply(change);
      if (change.kind === 'write' || change.kind === 'resize') this.#checkFiles(change.ino);
      else if (change.kind === 'rename' || change.kind === 'remove') this.#checkFiles();
    }
    process.known = this.#changes.length;
    if (outcome === null) return null;
    const { operation, read, claim, breaking, append, begun } = process;
    const idle = { operation: null, read: null, claim: null, breaking: null, append: null, begun: null };
    Object.assign(process, idle);
    if (claim !== null && operation !== null && isTaking(operation))
      this.#oracle.endTaking(process.number, claim, outcome.kind === 'returned', this.#clocks[0] ?? 0);
    else if (claim !== null) this.#oracle.endClaim(claim, outcome.kind === 'returned', this.#clocks[0] ?? 0);
    if (operation?.kind === 'delete') {
      const isThere = this.#disk.find(pathOf(operation.dispatch)) !== null;
      this.#oracle.endDelete(operation.dispatch, outcome.kind === 'returned', isThere);
    }
    if (breaking !== null) this.#oracle.endBreak(breaking);
    if (operation !== null)
      this.#judge(process.number, operation, outcome, { read, claim, breaking, append });
    if (append !== null) this.#checkFiles();
    if (begun !== null && this.#options.cache === undefined) this.#contract.end(begun, outcome);
    if (operation?.kind === 'close' && begun !== null) this.#contract.ended(begun.token);
    return outcome;
  }

  #apply(change: DiskChange): void {
    this.#disk.apply(change);
    this.#changes.push(change);
  }

  /** Checks the dispatch that has this file, or all of them. */
  #checkFiles(changed: number | null = null): void {
    for (let dispatch = 0; dispatch < this.#options.dispatches; dispatch += 1) {
      if (!this.#oracle.isCreated(dispatch)) continue;
      const ino = this.#disk.find(pathOf(dispatch));
      if (changed !== null && changed !== ino) continue;
      this.#oracle.checkFile(
        dispatch,
        ino === null ? null : this.#disk.read(ino, Number.MAX_SAFE_INTEGER, 0),
      );
    }
  }

  #judge(
    process: number,
    operation: Operation,
    outcome: Outcome,
    begun: Pick<SimulatedProcess, 'read' | 'claim' | 'breaking' | 'append'>,
  ): void {
    const oracle = this.#oracle;
    if (outcome.kind === 'crashed') this.#ended(process);
    else if (operation.kind === 'close') oracle.ended(process);
    if (outcome.kind === 'crashed') return;
    if (outcome.kind === 'failed') {
      this.counts.refused += 1;
      if (begun.append !== null && outcome.code === 'STORE_LOCKED') oracle.refused(begun.append);
      return;
    }
    const count = counted[operation.kind];
    if (count !== undefined) this.counts[count] += 1;
    if (operation.kind === 'create' && begun.claim !== null) oracle.created(process, begun.claim);
    else if (operation.kind === 'claim' && begun.claim !== null) {
      if (oracle.claimed(process, begun.claim, this.#clocks[0] ?? 0)) this.counts.takeovers += 1;
    } else if (operation.kind === 'release') oracle.released(process, operation.dispatch);
    else if (begun.breaking !== null) oracle.broken(begun.breaking);
    else if (begun.append !== null) {
      this.counts.acknowledged += begun.append.ids.length;
      oracle.acknowledged(begun.append);
    } else if (begun.read !== null && outcome.answer.kind === 'events') {
      this.counts.reads += 1;
      const ids = outcome.answer.events.map(([id]) => id);
      oracle.read(
        begun.read,
        ids.filter((id) => id.startsWith('p')),
      );
    }
  }
}

/** Whether an operation claims a dispatch, and releases it again. */
function isTaking(
  operation: Operation,
): operation is Extract<Operation, { readonly kind: 'rewrite' | 'accept loss' | 'delete' }> {
  return operation.kind === 'rewrite' || operation.kind === 'accept loss' || operation.kind === 'delete';
}

/** The path of a dispatch in the store of the simulation. */
export function pathOf(dispatch: number): string {
  return `/store/lab/tasks/one/dispatches/d${dispatch}.json`;
}

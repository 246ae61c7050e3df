import { constants } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { type Clock, storeErrors } from '@hansard/provider';
import { type Processes, type ProcessOwner, withFile } from '@hansard/store-kit';
import {
  type ContractAnswer,
  callStore,
  type EventText,
  type OpeningState,
  runNow,
  taskDir,
  withContractFault,
} from '@hansard/testing/simulation';
import type { Files } from '../../src/files.ts';
import { type JsonFileDispatchStore, openJsonFileStore } from '../../src/json-file-store.ts';
import type { Command, Grant, Operation, Outcome, Report } from './messages.ts';
import { plantFault } from './planted-faults.ts';
import { type Clocks, livesAt, ProcessKernel } from './process-kernel.ts';
import type { WorkerData } from './simulation.ts';
import { Turns } from './turns.ts';

// The thread of one simulated process: it runs the store on a simulated kernel, one operation after the other.

const { process: number, turns: memory, clocks: shared, options } = workerData as WorkerData;
const clocks: Clocks = new Float64Array(shared);
const turns = new Turns(memory, 'process');

interface Timer {
  readonly time: number;
  readonly action: () => void;
}

let timers = new Set<Timer>();
const clock: Clock = {
  monotonic: () => clocks[0] as number,
  now: () => clocks[1] as number,
  after(ms, action) {
    const timer = { time: clock.monotonic() + ms, action };
    timers.add(timer);
    return () => timers.delete(timer);
  },
};

const kernel = new ProcessKernel(
  clocks,
  (report) => {
    const command = turns.pass({
      ...report,
      heard: [],
      outcome: null,
      nextTimer: null,
    } satisfies Report) as Command;
    if (command.kind !== 'continue') throw new Error(`${command.kind} in the middle of an operation`);
    return command;
  },
  options.cache,
);

let store: JsonFileDispatchStore | null = null;
let state: OpeningState = { cursors: new Map(), watches: 0, onHeard: () => undefined };
let heard: number[] = [];
let copies = 0;

/** This thread never returns to its event loop. */
let microtasks: (() => void)[] = [];
globalThis.queueMicrotask = (work) => void microtasks.push(work);

function runMicrotasks(): void {
  const works = microtasks;
  microtasks = [];
  for (const work of works) work();
}

/** The first two processes can check each other; the others are in namespaces of their own. A crash ends a life of a process. */
const processes: Processes = {
  current: () => ({
    pid: number,
    host: 'simulated',
    startTime: `${livesOf(number)}`,
    bootId: 'boot',
    pidNamespace: namespaceOf(number),
  }),
  isRunning: (owner) => processes.whyUnchecked(owner) !== null || owner.startTime === `${livesOf(owner.pid)}`,
  whyUnchecked: ({ pidNamespace }: ProcessOwner) =>
    pidNamespace === namespaceOf(number) ? null : 'another namespace of the simulation',
};

function namespaceOf(process: number): string {
  return process < 2 && options.cache === undefined ? 'shared' : `of ${process}`;
}

function livesOf(process: number): number {
  return clocks[livesAt + process] ?? 0;
}

function openStore(root: string): JsonFileDispatchStore {
  const system = plantFault(options.planted, {
    files: kernel.files,
    clock,
    processes,
    pause: (ms) => kernel.pause(ms),
    mostLinks: 4,
    fileSystemOf: () => null,
  });
  const opened = openJsonFileStore(
    { root, durability: options.durability, leaseMs: options.leaseMs },
    system,
  );
  return withContractFault(opened, options.contractFault);
}

function reset(): void {
  copies = 0;
  heard = [];
  microtasks = [];
  kernel.reset();
  timers = new Set();
  store = null;
}

function crash(): void {
  timers = new Set();
  microtasks = [];
  store = null;
}

function perform(operation: Operation, grant: Grant): Outcome {
  kernel.accept(grant);
  try {
    const outcome = call(operation);
    if (!kernel.hasCrashed) return outcome;
  } catch (error) {
    if (!kernel.hasCrashed) {
      if (storeErrors.is(error)) return { kind: 'failed', code: error.code, message: error.message };
      return {
        kind: 'failed',
        code: 'unexpected',
        message: String(error instanceof Error ? error.stack : error),
      };
    }
  }
  crash();
  return { kind: 'crashed' };
}

function call(operation: Operation): Outcome {
  if (operation.kind === 'timers') return runTimers();
  if (operation.kind === 'close') {
    const open = store;
    store = null;
    open?.close();
    return { kind: 'returned', answer: { kind: 'nothing' } };
  }
  if (operation.kind === 'copy') return { kind: 'returned', answer: readCopy() };
  if (store === null) {
    store = openStore('/store');
    state = { cursors: new Map(), watches: 0, onHeard: (watch) => heard.push(watch) };
  }
  return { kind: 'returned', answer: runNow(callStore(store, operation, state)) };
}

/** Copies the folder of the store, as `cp -r` does it while other processes run, and reads the copy. */
function readCopy(): ContractAnswer {
  const { files } = kernel;
  const root = `/copies/${number}-${copies}`;
  copies += 1;
  withFile('copy', root, () => copyFolder(files, '/store', root));
  const copy = openStore(root);
  const dispatches = Array.from({ length: options.dispatches }, (_, dispatch) => {
    try {
      return copy
        .getDispatchEvents(taskDir, `d${dispatch}`)
        .map(({ id, data }): EventText => [id, (data as { text: string }).text]);
    } catch (error) {
      if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND') || storeErrors.is(error, 'STORE_CORRUPT'))
        return error.code;
      throw error;
    }
  });
  copy.close();
  return { kind: 'copy', dispatches };
}

function copyFolder(files: Files, from: string, to: string): void {
  files.makeFolder(to);
  for (const entry of files.list(from)) {
    const [source, target] = [`${from}/${entry.name}`, `${to}/${entry.name}`];
    if (entry.isDirectory()) copyFolder(files, source, target);
    else copyFile(files, source, target);
  }
}

/** Other processes have their turns between two reads. A file that is gone since its folder was listed is not copied. */
function copyFile(files: Files, from: string, to: string): void {
  if (files.stat(from) === null) return;
  const source = files.open(from, constants.O_RDONLY);
  const target = files.open(to, constants.O_RDWR | constants.O_CREAT);
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const part = Buffer.alloc(1_024);
    const length = files.read(source, part, 0, part.length, at);
    if (length === 0) break;
    parts.push(part.subarray(0, length));
    at += length;
  }
  const bytes = Buffer.concat(parts);
  files.write(target, bytes, 0, bytes.length, 0);
  files.close(source);
  files.close(target);
}

/** Runs the timers that are due. One that fails does not stop the process. */
function runTimers(): Outcome {
  const due = [...timers].filter(({ time }) => time <= clock.monotonic());
  for (const timer of due) {
    timers.delete(timer);
    timer.action();
  }
  return { kind: 'returned', answer: { kind: 'nothing' } };
}

function nextTimer(): number | null {
  return timers.size === 0 ? null : Math.min(...[...timers].map(({ time }) => time));
}

let command = turns.wait() as Command;
for (;;) {
  let outcome: Outcome | null = null;
  if (command.kind === 'reset') reset();
  else if (command.kind === 'crash') {
    kernel.end();
    crash();
    outcome = { kind: 'crashed' };
  } else if (command.kind === 'start') outcome = perform(command.operation, command);
  runMicrotasks();
  const report: Report = { ...kernel.report(), heard, outcome, nextTimer: nextTimer() };
  heard = [];
  command = turns.pass(report) as Command;
}

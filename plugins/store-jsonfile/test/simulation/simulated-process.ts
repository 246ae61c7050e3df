import { workerData } from 'node:worker_threads';
import { type CapturedEvent, type DispatchEnvelope, newEvent } from '@hansard/events';
import { type Clock, storeErrors } from '@hansard/provider';
import type { Processes, ProcessOwner } from '@hansard/store-kit';
import { type JsonFileDispatchStore, openJsonFileStore } from '../../src/json-file-store.ts';
import { makeEnvelope } from '../envelope.ts';
import type { Command, Grant, Operation, Outcome, Report } from './messages.ts';
import { plantFault } from './planted-faults.ts';
import { type Clocks, livesAt, ProcessKernel } from './process-kernel.ts';
import type { WorkerData } from './simulation.ts';
import { Turns } from './turns.ts';

// The thread of one simulated process: it runs the store on a simulated kernel, one operation after the other.

const taskDir = 'lab/tasks/one';
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

const kernel = new ProcessKernel(clocks, (report) => {
  const command = turns.pass({ ...report, outcome: null, nextTimer: null } satisfies Report) as Command;
  if (command.kind !== 'continue') throw new Error(`${command.kind} in the middle of an operation`);
  return command;
});

let store: JsonFileDispatchStore | null = null;

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
  return process < 2 ? 'shared' : `of ${process}`;
}

function livesOf(process: number): number {
  return clocks[livesAt + process] ?? 0;
}

function openStore(): JsonFileDispatchStore {
  const system = plantFault(options.planted, {
    files: kernel.files,
    clock,
    processes,
    pause: (ms) => kernel.pause(ms),
    mostLinks: 4,
    fileSystemOf: () => null,
  });
  return openJsonFileStore(
    { root: '/store', durability: options.durability, leaseMs: options.leaseMs },
    system,
  );
}

function reset(): void {
  kernel.reset();
  timers = new Set();
  store = null;
}

function crash(): void {
  timers = new Set();
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
    return { kind: 'returned' };
  }
  store ??= openStore();
  const dispatchId = `d${operation.dispatch}`;
  switch (operation.kind) {
    case 'create':
      store.createDispatch(taskDir, makeEnvelope(dispatchId) as DispatchEnvelope);
      break;
    case 'claim':
      store.claimDispatch(taskDir, dispatchId);
      break;
    case 'release':
      store.releaseDispatch(taskDir, dispatchId);
      break;
    case 'append':
      append(store, dispatchId, operation.ids);
      break;
    case 'end':
      store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      break;
    case 'grow':
      grow(store, dispatchId, operation.by);
      break;
    case 'rewrite':
      rewrite(store, dispatchId, operation.ids);
      break;
    case 'accept loss':
      for (const id of operation.ids) store.acceptLoss(taskDir, dispatchId, eventOf(id));
      break;
    case 'break claim':
      store.breakClaim(taskDir, dispatchId);
      break;
    case 'read':
      return { kind: 'returned', ids: store.getDispatchEvents(taskDir, dispatchId).map(({ id }) => id) };
    case 'verify':
      return { kind: 'returned', damages: lossesOf(store, dispatchId) };
  }
  return { kind: 'returned' };
}

function append(open: JsonFileDispatchStore, dispatchId: string, ids: readonly string[]): void {
  const events = ids.map(eventOf);
  const [first] = events;
  if (events.length === 1 && first !== undefined) open.appendEvent(taskDir, dispatchId, first);
  else open.appendEvents(taskDir, dispatchId, events);
}

/** A loss of power can tear one copy of a head, which loses nothing: the next claim repairs it. */
function lossesOf(open: JsonFileDispatchStore, dispatchId: string): number {
  const { damages } = open.verifyDispatch(taskDir, dispatchId);
  return damages.filter(({ lostEvents }) => lostEvents !== 0).length;
}

function grow(open: JsonFileDispatchStore, dispatchId: string, by: number): void {
  const { structuredResult } = open.getDispatchEnvelope(taskDir, dispatchId) ?? {};
  open.updateDispatch(taskDir, dispatchId, {
    structuredResult: `${structuredResult ?? ''}${'r'.repeat(by)}`,
  });
}

/** The new text of an event is `<id> rewritten`, by which the oracle knows it. */
function rewrite(open: JsonFileDispatchStore, dispatchId: string, ids: readonly string[]): void {
  open.rewriteDispatch(taskDir, dispatchId, {
    envelope: (envelope) => envelope,
    event: (event) => ({ ...event, data: { text: `<${event.id}> rewritten` } }),
    notice: () => ({ ...eventOf(`${ids[0]}`), data: { text: `<${ids[0]}> rewritten` } }),
  });
}

/** The text has the id between brackets, by which the oracle finds the event in a file. */
function eventOf(id: string): CapturedEvent {
  return newEvent(
    'agent:text',
    { text: `<${id}> ${'x'.repeat(id.length * 8)}` },
    { id, timestamp: '2026-01-01T00:00:00.000Z' },
  ) as CapturedEvent;
}

/** Runs the timers that are due. One that fails does not stop the process. */
function runTimers(): Outcome {
  const due = [...timers].filter(({ time }) => time <= clock.monotonic());
  for (const timer of due) {
    timers.delete(timer);
    timer.action();
  }
  return { kind: 'returned' };
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
  command = turns.pass({ ...kernel.report(), outcome, nextTimer: nextTimer() } satisfies Report) as Command;
}

import {
  type Awaitable,
  type Clock,
  type CommunicationHost,
  type CommunicationProvider,
  type DeltaNotice,
  type DispatchNotice,
  type DispatchStartNotice,
  type EventNotice,
  type IncomingMessage,
  type IncomingSource,
  type IncomingTask,
  systemClock,
} from '@hansard/provider';
import { assertCount } from '../check-arguments.ts';
import { dispatchErrors, textOfMessage } from '../dispatch-errors.ts';
import type { DispatchRun } from '../run/dispatch-run.ts';
import { type CommunicationProblem, describeCommunicationProblem } from './communication-problem.ts';

/**
 * Connects dispatches and communication providers. Its publish methods only queue and never throw, so no provider can delay
 * or fail a dispatch. Problems are passed to `onProblem`.
 */
export interface CommunicationHub extends AsyncDisposable {
  /** Starts the providers; notices wait until theirs has started. Resolves when each `start` has succeeded or failed. */
  start(): Promise<void>;

  /**
   * Routes messages to a dispatch, and lets people stop it with `abort`, until the returned function is called. Messages that do not
   * name a dispatch go to a worker, which another dispatch of this process started, only if no other dispatch runs.
   */
  attach(
    dispatchId: string,
    deliver: (text: string, source: IncomingSource) => Promise<boolean>,
    options?: AttachOptions,
  ): () => void;

  dispatchStarted(notice: DispatchStartNotice): void;
  eventRecorded(notice: EventNotice): void;
  deltaReceived(notice: DeltaNotice): void;
  dispatchEnded(notice: DispatchNotice): void;

  /**
   * Aborts the dispatches that providers began and waits for their end, then waits until the queues are empty, up to a limit. Does not
   * close the providers; their owner does.
   */
  close(): Promise<void>;
}

interface AttachOptions {
  readonly isWorker?: boolean;
  /** `false`: the dispatch takes no messages. */
  readonly messages?: boolean;
  /** Absent: people cannot stop it. */
  readonly abort?: (reason?: string) => void;
}

export interface CommunicationHubOptions {
  /** The store that providers may read, a `DispatchStore`. Absent: none. */
  readonly store?: object;
  /** The most notices that wait for one provider. Absent: 1,000. */
  readonly queueLimit?: number;
  /** Absent: a warning of the process (`process.emitWarning`). */
  readonly onProblem?: (problem: CommunicationProblem) => void;
  /** Lets providers begin tasks. Absent: they may not. */
  readonly incoming?: IncomingTasks;
  /** How long `close` waits for the queues, in milliseconds. Absent: 2,000. */
  readonly drainMs?: number;
  readonly clock?: Clock;
}

/** How tasks of communication providers begin. */
export interface IncomingTasks {
  /** Begins the dispatch of a task, with the hub as its `communication`. */
  begin(
    task: IncomingTask,
  ): Promise<Pick<DispatchRun, 'dispatchId' | 'ended' | 'abort'> & { readonly taskDir: string }>;
  /** The most dispatches of such tasks that run at the same time. Absent: 4. */
  readonly maxRunning?: number;
}

/** Creates a hub for communication providers. Calls none of them before `start`. */
export function createCommunicationHub(
  providers: readonly CommunicationProvider[],
  options: CommunicationHubOptions = {},
): CommunicationHub {
  return new QueueingHub(providers, options);
}

interface Running {
  readonly deliver: (text: string, source: IncomingSource) => Promise<boolean>;
  readonly messages: boolean;
  readonly abort: AttachOptions['abort'];
  readonly isWorker: boolean;
}

/** A dispatch that a provider began. */
interface BegunTask {
  /** Null: it is being started. */
  abort: ((reason: string) => void) | null;
  /** Never rejects. */
  over: Promise<void>;
}

class QueueingHub implements CommunicationHub {
  readonly #members: readonly { readonly provider: CommunicationProvider; readonly outbox: Outbox }[];
  readonly #report: (problem: CommunicationProblem) => void;
  readonly #drainMs: number;
  readonly #clock: Clock;
  readonly #store: object | undefined;
  /** The running dispatches, in the order in which they started. */
  readonly #running = new Map<string, Running>();
  readonly #incoming: IncomingTasks | undefined;
  /** The dispatches that providers began, until they have ended. */
  readonly #begun = new Set<BegunTask>();
  #starting: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #isClosing = false;

  constructor(providers: readonly CommunicationProvider[], options: CommunicationHubOptions) {
    const { queueLimit = 1_000, onProblem = warn, drainMs = 2_000, clock = systemClock } = options;
    assertCount('queueLimit', queueLimit, 1);
    // In a microtask of its own: an error of `onProblem` must not reach the dispatch that published.
    this.#report = (problem) => queueMicrotask(() => onProblem(problem));
    this.#drainMs = drainMs;
    this.#clock = clock;
    this.#store = options.store;
    this.#incoming = options.incoming;
    if (options.incoming?.maxRunning !== undefined) assertCount('maxRunning', options.incoming.maxRunning, 1);
    this.#members = providers.map((provider) => ({
      provider,
      outbox: new Outbox(provider, queueLimit, this.#report),
    }));
  }

  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  attach(dispatchId: string, deliver: Running['deliver'], options: AttachOptions = {}): () => void {
    const { isWorker = false, messages = true, abort } = options;
    const running: Running = { deliver, abort, isWorker, messages };
    this.#running.set(dispatchId, running);
    return () => {
      // A later dispatch of another task may have the same id.
      if (this.#running.get(dispatchId) === running) this.#running.delete(dispatchId);
    };
  }

  dispatchStarted(notice: DispatchStartNotice): void {
    for (const { provider, outbox } of this.#members)
      outbox.push({ method: 'dispatchStarted', call: () => provider.dispatchStarted?.(notice) });
  }

  eventRecorded(notice: EventNotice): void {
    for (const { provider, outbox } of this.#members)
      outbox.push({ method: 'eventRecorded', call: () => provider.eventRecorded(notice) });
  }

  deltaReceived(notice: DeltaNotice): void {
    for (const { provider, outbox } of this.#members) {
      if (provider.deltaReceived === undefined) continue;
      outbox.push({ method: 'deltaReceived', call: () => provider.deltaReceived?.(notice) });
    }
  }

  dispatchEnded(notice: DispatchNotice): void {
    for (const { provider, outbox } of this.#members)
      outbox.push({ method: 'dispatchEnded', call: () => provider.dispatchEnded?.(notice) });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #start(): Promise<void> {
    const host: CommunicationHost = {
      deliver: (message) => this.#deliver(message),
      abort: (dispatchId, reason) => this.#abort(dispatchId, reason),
      accepts: (dispatchId) => {
        const running = this.#running.get(dispatchId);
        return { messages: running?.messages === true, abort: running?.abort !== undefined };
      },
      start: (task) => this.#begin(task),
      ...(this.#store === undefined ? {} : { store: this.#store }),
    };
    await Promise.all(
      this.#members.map(({ provider, outbox }) =>
        outbox.start({ method: 'start', call: () => provider.start?.(host) }),
      ),
    );
  }

  async #deliver({ text, dispatchId, source = { kind: 'user' } }: IncomingMessage): Promise<boolean> {
    const message = textOfMessage(text, dispatchId ?? null);
    const target = dispatchId === undefined ? this.#latest() : this.#running.get(dispatchId);
    return target?.messages === true ? target.deliver(message, source) : false;
  }

  async #begin({ prompt, task, source }: IncomingTask): Promise<{ taskDir: string; dispatchId: string }> {
    const incoming = this.#incoming;
    if (incoming === undefined)
      throw refused('not_allowed', 'the configuration does not let providers begin tasks');
    if (this.#isClosing) throw refused('closing', 'the harness is closing');
    if (typeof prompt !== 'string' || prompt.trim() === '') throw refused('no_prompt', 'it has no prompt');
    const { maxRunning = defaultMaxRunning } = incoming;
    if (this.#begun.size >= maxRunning)
      throw refused('limit', `${this.#begun.size} tasks of providers are running, which is the limit`);
    const begun: BegunTask = { abort: null, over: Promise.resolve() };
    this.#begun.add(begun);
    const starting = incoming.begin({
      prompt,
      ...(task === undefined ? {} : { task }),
      ...(source === undefined ? {} : { source }),
    });
    begun.over = this.#attend(begun, starting).finally(() => this.#begun.delete(begun));
    const { taskDir, dispatchId } = await starting;
    return { taskDir, dispatchId };
  }

  /** Resolves when a dispatch that a provider began has ended. Never rejects. */
  async #attend(begun: BegunTask, starting: ReturnType<IncomingTasks['begin']>): Promise<void> {
    let run: Awaited<typeof starting>;
    try {
      run = await starting;
    } catch {
      // The provider has the error.
      return;
    }
    begun.abort = (reason) => run.abort(reason, 'harness');
    if (this.#isClosing) begun.abort(closing);
    await run.ended.catch((error) =>
      this.#report({ kind: 'task_failed', dispatchId: run.dispatchId, error }),
    );
  }

  #abort(dispatchId: string, reason?: string): boolean {
    const abort = this.#running.get(dispatchId)?.abort;
    abort?.(reason);
    return abort !== undefined;
  }

  #latest(): Running | undefined {
    const all = [...this.#running.values()];
    return all.findLast(({ isWorker }) => !isWorker) ?? all.at(-1);
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    for (const { abort } of this.#begun) abort?.(closing);
    if (this.#begun.size > 0) await Promise.all([...this.#begun].map(({ over }) => over));
    let stopWaiting = () => {};
    const limit = new Promise<void>((resolve) => {
      stopWaiting = this.#clock.after(this.#drainMs, resolve);
    });
    const drained = Promise.all(this.#members.map(({ outbox }) => outbox.drained()));
    await Promise.race([drained, limit]);
    stopWaiting();
    for (const { provider, outbox } of this.#members) {
      const waiting = outbox.close();
      if (waiting > 0) this.#report({ kind: 'not_drained', provider, waiting });
    }
  }
}

const closing = 'the harness is closing';

const defaultMaxRunning = 4;

function refused(reason: string, why: string): Error {
  return dispatchErrors.error('DISPATCH_START_REFUSED', `The task was not begun: ${why}.`, {
    details: { reason },
  });
}

function warn(problem: CommunicationProblem): void {
  process.emitWarning(describeCommunicationProblem(problem), { type: 'HansardCommunicationWarning' });
}

interface Delivery {
  readonly method: 'start' | 'dispatchStarted' | 'eventRecorded' | 'deltaReceived' | 'dispatchEnded';
  call(): Awaitable<void> | undefined;
}

/** The bounded queue of one communication provider. Its calls are made one after the other. */
class Outbox {
  readonly #provider: CommunicationProvider;
  readonly #limit: number;
  readonly #report: (problem: CommunicationProblem) => void;
  #queue: Delivery[] = [];
  #droppedDeltas = 0;
  #starting: Promise<void> | null = null;
  #working: Promise<void> | null = null;
  #state: 'held' | 'open' | 'closed' = 'held';

  constructor(
    provider: CommunicationProvider,
    limit: number,
    report: (problem: CommunicationProblem) => void,
  ) {
    this.#provider = provider;
    this.#limit = limit;
    this.#report = report;
  }

  /** Calls the provider's `start`, then begins to work off the queue. Resolves when `start` has succeeded or failed. */
  start(start: Delivery): Promise<void> {
    this.#starting = this.#begin(start);
    return this.#starting;
  }

  push(delivery: Delivery): void {
    if (this.#state === 'closed') return;
    if (this.#queue.length >= this.#limit && !this.#makeRoomFor(delivery)) return;
    this.#queue.push(delivery);
    this.#work();
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    await this.#starting;
    await this.#working;
  }

  /** Accepts no more notices. Returns how many were still waiting. */
  close(): number {
    this.#state = 'closed';
    this.#reportDrops(0);
    return this.#queue.splice(0).length;
  }

  async #begin(start: Delivery): Promise<void> {
    if (!(await this.#deliver(start))) this.close();
    if (this.#state === 'closed') return;
    this.#state = 'open';
    this.#work();
  }

  #work(): void {
    if (this.#state !== 'open' || this.#queue.length === 0) return;
    this.#working ??= this.#workOff();
  }

  async #workOff(): Promise<void> {
    // The dispatch that publishes does not wait for the first call.
    await null;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#deliver(next);
      this.#reportDrops(0);
    }
    this.#working = null;
  }

  async #deliver({ method, call }: Delivery): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      this.#report({ kind: 'call_failed', provider: this.#provider, method, error });
      return false;
    }
  }

  /** Drops the waiting deltas. Without any, drops the new notice if it is a delta, or else the older half of the queue. */
  #makeRoomFor({ method }: Delivery): boolean {
    const withoutDeltas = this.#queue.filter((waiting) => waiting.method !== 'deltaReceived');
    this.#droppedDeltas += this.#queue.length - withoutDeltas.length;
    const isFull = withoutDeltas.length >= this.#limit;
    this.#queue = withoutDeltas;
    if (!isFull) return true;
    if (method === 'deltaReceived') {
      this.#droppedDeltas += 1;
      return false;
    }
    this.#dropOldest();
    return true;
  }

  /** Keeps starts and ends of dispatches as long as there are events to drop. */
  #dropOldest(): void {
    const most = Math.ceil(this.#limit / 2);
    const hasEvents = this.#queue.some(({ method }) => method === 'eventRecorded');
    let dropped = 0;
    this.#queue = this.#queue.filter(({ method }) => {
      if (dropped === most || (hasEvents && method !== 'eventRecorded')) return true;
      dropped += 1;
      return false;
    });
    this.#reportDrops(dropped);
  }

  #reportDrops(events: number): void {
    if (events === 0 && this.#droppedDeltas === 0) return;
    this.#report({ kind: 'dropped', provider: this.#provider, events, deltas: this.#droppedDeltas });
    this.#droppedDeltas = 0;
  }
}

import { resolve } from 'node:path';
import {
  type CapturedEvent,
  type DispatchEnvelope,
  definedOnly,
  type HansardError,
  type NewEvent,
} from '@hansard/events';
import {
  type AgentProvider,
  type DispatchHost,
  type NewWorker,
  type OutgoingMessage,
  type ReachableDispatch,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { untilAborted } from '../async/until-aborted.ts';
import { dispatchErrors } from '../dispatch-errors.ts';
import type { DispatchRef } from '../store/dispatch-ref.ts';
import { closeAbandonedDispatches } from './close-abandoned-dispatches.ts';
import { DispatchMessages } from './dispatch-messages.ts';
import type { RunDispatchOptions, WatchedOptions } from './run-options.ts';
import type { BegunDispatch, RunPlace } from './run-place.ts';
import { defaultMaxDepth, defaultMaxRunning } from './worker-options.ts';

export interface WorkersOptions {
  /** The options of the caller; a worker uses the same. */
  readonly options: WatchedOptions;
  readonly place: RunPlace;
  /** The current envelope of the caller. */
  readonly caller: () => DispatchEnvelope;
  /** Reports to the caller that the store failed for a worker or below it. Returns false if the caller has ended. */
  readonly reportFailure: (worker: DispatchEnvelope, error: unknown) => Promise<boolean>;
  /** Called when a worker has ended. */
  readonly onEnd: () => void;
  /** Records an event of the caller. */
  readonly record: (event: NewEvent) => Promise<CapturedEvent>;
  /** The event of a tool call of the caller, if it is known. */
  readonly callEvent: (toolCallId: string, agentId?: string) => Promise<string | undefined>;
}

/** The workers of one dispatch, for as long as one of them runs. */
export class Workers implements DispatchHost {
  readonly dispatchId: string;
  readonly #parts: WorkersOptions;
  /** Every worker, in the order of their start; null: it has ended. */
  readonly #workers = new Map<string, BegunDispatch | null>();
  readonly #failures = new Map<string, { readonly error: unknown }>();
  /** Each settles when a start failed, or when the worker and all below it have ended. Never rejects. */
  readonly #pending = new Set<Promise<void>>();
  /** Why no more workers start, and how those that are being started end. */
  #end: 'closed' | { readonly reason: string | undefined; readonly by: string | undefined } | null = null;
  readonly #messages: DispatchMessages;
  #unreportedFailure: { readonly error: unknown } | null = null;

  constructor(parts: WorkersOptions) {
    this.#parts = parts;
    this.dispatchId = parts.caller().dispatchId;
    this.#messages = new DispatchMessages({ ...parts, isWorker: (id) => this.#workers.has(id) });
  }

  get mayStart(): boolean {
    const { options, place } = this.#parts;
    return place.depth < (options.workers?.maxDepth ?? defaultMaxDepth);
  }

  get areRunning(): boolean {
    return this.#pending.size > 0;
  }

  listAgents(): readonly string[] {
    return Object.keys(this.#parts.options.workers?.agents ?? {});
  }

  async startWorker(worker: NewWorker): Promise<DispatchEnvelope> {
    this.#assertOpen('starts no more workers');
    if (!this.mayStart) throw this.#tooDeep();
    const options = this.#optionsFor(worker);
    const { place } = this.#parts;
    this.#takeSlot();
    const starting = place.family.begin(options, place.depth + 1);
    const over = this.#attend(starting).finally(() => {
      this.#pending.delete(over);
      this.#parts.onEnd();
    });
    this.#pending.add(over);
    return (await starting).envelope;
  }

  /** Takes on the workers of a process before: a dispatch that is continued has them, as ended ones. */
  async restore(): Promise<void> {
    const { store, taskDir } = this.#parts.options;
    let isAnyLeft = false;
    for await (const listed of store.dispatches({ taskDir })) {
      if ('error' in listed || listed.envelope.parentDispatchId !== this.dispatchId) continue;
      this.#workers.set(listed.dispatchId, null);
      isAnyLeft ||= listed.envelope.status === 'running';
    }
    if (isAnyLeft) await this.#closeLeft();
  }

  async listWorkers(): Promise<DispatchEnvelope[]> {
    const envelopes = await Promise.all([...this.#workers.keys()].map((id) => this.#envelopeOf(id)));
    return envelopes.filter((envelope) => envelope !== null);
  }

  async getWorker(dispatchId: string): Promise<DispatchEnvelope> {
    this.#assertWorker(dispatchId);
    const failure = this.#failures.get(dispatchId);
    if (failure !== undefined) throw failure.error;
    const envelope = await this.#envelopeOf(dispatchId);
    if (envelope === null) throw this.#noWorker(dispatchId);
    return envelope;
  }

  async getRecentEvents(dispatchId: string, count: number): Promise<CapturedEvent[]> {
    this.#assertWorker(dispatchId);
    const worker = await this.#parts.options.store.openDispatch(this.#refOf(dispatchId));
    return [...(await worker.last(count)).events];
  }

  async awaitWorker(dispatchId: string, signal?: AbortSignal): Promise<DispatchEnvelope> {
    const worker = this.#workers.get(dispatchId) ?? null;
    if (worker === null) return this.#endedBefore(dispatchId);
    return signal === undefined ? worker.completed : untilAborted(signal, () => worker.completed);
  }

  async abortWorker(dispatchId: string, reason?: string): Promise<DispatchEnvelope> {
    const worker = this.#workers.get(dispatchId) ?? null;
    if (worker === null) return this.#endedBefore(dispatchId);
    worker.abort(reason, this.dispatchId);
    return worker.ended;
  }

  listReachable(): readonly ReachableDispatch[] {
    return this.#messages.reachable();
  }

  async send(message: OutgoingMessage): Promise<string> {
    this.#assertOpen('sends no more messages');
    return this.#messages.send(message);
  }

  /** The caller heard something: a person or the outside world lets it send more. */
  heard(event: CapturedEvent): void {
    this.#messages.heard(event);
  }

  /** Aborts every worker, including those that are being started. No more workers start. */
  abort(reason?: string, by?: string): void {
    if (this.#end === null || this.#end === 'closed') this.#end = { reason, by };
    for (const worker of this.#workers.values()) worker?.abort(reason, by);
  }

  /** Starts no more workers; running ones continue. */
  close(): void {
    this.#end ??= 'closed';
  }

  /** Resolves when all have ended. @throws the first failure of the store that could not be reported to the caller */
  async over(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    if (this.#unreportedFailure !== null) throw this.#unreportedFailure.error;
  }

  /** Resolves when a worker and all below it have ended. Never rejects. */
  async #attend(starting: Promise<BegunDispatch>): Promise<void> {
    const { slots } = this.#parts.place.family;
    let worker: BegunDispatch;
    try {
      worker = await starting;
    } catch {
      // The caller of `startWorker` has the error.
      slots.taken -= 1;
      return;
    }
    const { dispatchId, envelope, completed, ended } = worker;
    this.#workers.set(dispatchId, worker);
    if (this.#end !== null && this.#end !== 'closed') worker.abort(this.#end.reason, this.#end.by);
    await completed.catch((error) => this.#failures.set(dispatchId, { error }));
    slots.taken -= 1;
    try {
      await ended;
    } catch (error) {
      if (!(await this.#parts.reportFailure(envelope, error))) this.#unreportedFailure ??= { error };
    }
    this.#workers.set(dispatchId, null);
  }

  #optionsFor({ agent, role, prompt, model, cwd, outputSchema, botId }: NewWorker): RunDispatchOptions {
    const {
      store,
      taskDir,
      communication,
      clock,
      loopDetector,
      graceMs,
      tools,
      hooks,
      hookTimeoutMs,
      maxHookChain,
      limits,
      workers,
    } = this.#parts.options;
    const caller = this.#parts.caller();
    const provider = this.#agentNamed(agent);
    // The model of one kind of agent is unknown to another.
    const itsModel = model ?? (provider === this.#parts.options.agent ? caller.model : null) ?? undefined;
    const itsCwd = cwd === undefined || caller.cwd === null ? (cwd ?? caller.cwd) : resolve(caller.cwd, cwd);
    const itsLimits = workers?.limits ?? limits;
    return {
      store,
      taskDir,
      agent: provider,
      role,
      prompt,
      parentDispatchId: this.dispatchId,
      fidelity: caller.fidelity,
      ...definedOnly({ model: itsModel, cwd: itsCwd ?? undefined, outputSchema, botId }),
      ...definedOnly({
        communication,
        clock,
        loopDetector,
        graceMs,
        tools,
        hooks,
        hookTimeoutMs,
        maxHookChain,
        limits: itsLimits,
        workers,
      }),
    };
  }

  #agentNamed(name: string | undefined): AgentProvider {
    const { agent, workers } = this.#parts.options;
    const agents = workers?.agents ?? {};
    const [only, ...others] = Object.values(agents);
    const own = agent ?? (others.length === 0 ? only : undefined);
    const found = name === undefined ? own : Object.hasOwn(agents, name) ? agents[name] : undefined;
    if (found !== undefined) return found;
    const names = this.listAgents().join(', ');
    const known = names === '' ? 'there are none' : `there are: ${names}`;
    const said =
      name === undefined
        ? `The worker needs the name of an agent; ${known}.`
        : `There is no agent ${JSON.stringify(name)} for a worker; ${names === '' && own !== undefined ? 'name none to get the kind of the dispatch that starts it' : known}.`;
    throw dispatchErrors.error('DISPATCH_AGENT_NOT_FOUND', said, {
      details: { agent: name ?? null, agents: this.listAgents() },
    });
  }

  #assertOpen(what: string): void {
    if (this.#end === null) return;
    throw dispatchErrors.error(
      'DISPATCH_ENDED',
      `The dispatch ${this.dispatchId} of ${this.#parts.caller().role} is ending and ${what}.`,
      { details: { dispatchId: this.dispatchId } },
    );
  }

  #tooDeep(): HansardError {
    const maxDepth = this.#parts.options.workers?.maxDepth ?? defaultMaxDepth;
    return dispatchErrors.error(
      'DISPATCH_WORKER_LIMIT',
      `The dispatch ${this.dispatchId} of ${this.#parts.caller().role} is at the deepest level (${maxDepth}) and can have no workers.`,
      { details: { maxDepth } },
    );
  }

  #takeSlot(): void {
    const { slots } = this.#parts.place.family;
    const most = this.#parts.options.workers?.maxRunning ?? defaultMaxRunning;
    if (slots.taken >= most)
      throw dispatchErrors.error(
        'DISPATCH_WORKER_LIMIT',
        `${slots.taken} workers are running, which is the limit (${most}); wait until one has ended.`,
        { details: { running: slots.taken, maxRunning: most } },
      );
    slots.taken += 1;
  }

  /** A worker that this process does not run. One that a dead process left running is closed. */
  async #endedBefore(dispatchId: string): Promise<DispatchEnvelope> {
    const worker = await this.getWorker(dispatchId);
    if (worker.status !== 'running') return worker;
    await this.#closeLeft();
    return this.getWorker(dispatchId);
  }

  async #closeLeft(): Promise<void> {
    const { store, taskDir } = this.#parts.options;
    await closeAbandonedDispatches(store, taskDir, { onUnreadable: () => {} });
  }

  async #envelopeOf(dispatchId: string): Promise<DispatchEnvelope | null> {
    const worker = await this.#parts.options.store.findDispatch(this.#refOf(dispatchId));
    return worker === null ? null : worker.envelope;
  }

  #refOf(dispatchId: string): DispatchRef {
    return { taskDir: this.#parts.options.taskDir, dispatchId };
  }

  #assertWorker(dispatchId: string): void {
    if (!this.#workers.has(dispatchId)) throw this.#noWorker(dispatchId);
  }

  #noWorker(dispatchId: string): StoreError {
    return storeErrors.error(
      'STORE_DISPATCH_NOT_FOUND',
      `The dispatch ${this.dispatchId} has no worker ${dispatchId}; a dispatch sees only the workers that it started.`,
      { details: { ...this.#refOf(dispatchId) } },
    );
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CapturedEvent,
  type DispatchEnvelope,
  type EventData,
  isEventError,
  isEventOf,
  type NewEvent,
  newEvent,
  toTimestamp,
} from '@hansard/events';
import { type AgentActivity, type AgentRunRequest, isStoreError } from '@hansard/provider';
import { ActivityRecorder } from './activity-recorder.ts';
import { Bell } from './bell.ts';
import { type Clock, systemClock } from './clock.ts';
import { completionUpdates, type Ending } from './completion.ts';
import { CostMeter } from './cost-meter.ts';
import { describeFailure } from './describe-failure.ts';
import type { MessageSource } from './dispatch-run.ts';
import { defaultLoopLimits, LoopDetector } from './loop-detector.ts';
import { MessageInbox } from './message-inbox.ts';
import type { RunDispatchOptions } from './run-options.ts';
import { type StallWatch, watchStall, watchTime } from './watchdogs.ts';

const defaultGraceMs = 5_000;
const activitiesPerTurn = 100;

/** Drives the agent of one dispatch from the durable envelope to the completed one. */
export class AgentRun {
  readonly #options: RunDispatchOptions;
  readonly #clock: Clock;
  readonly #recorder: ActivityRecorder;
  readonly #inbox = new MessageInbox();
  readonly #stopSignal = new AbortController();
  readonly #graceOver = new Bell();
  readonly #loops: LoopDetector | null;
  readonly #costs = new CostMeter();
  /** What gives back the timers and listeners of this run. */
  readonly #releases: (() => void)[] = [];
  #stall: StallWatch | null = null;
  #completion: EventData<'session:complete'> | null = null;
  /** `stopping`: the agent was told to end. `over`: what it still yields is nobody's business. */
  #state: 'running' | 'stopping' | 'over' = 'running';
  /** The record of why the agent was stopped by somebody or some limit, on its way. */
  #kill: Promise<void> | null = null;
  #crash: { readonly error: unknown } | null = null;
  #storeFailure: { readonly error: unknown } | null = null;

  constructor(options: RunDispatchOptions, envelope: DispatchEnvelope) {
    const { store, taskDir, communication, clock = systemClock, loopDetector } = options;
    this.#options = options;
    this.#clock = clock;
    this.#recorder = new ActivityRecorder(store, taskDir, envelope, communication);
    this.#loops = loopDetector === false ? null : new LoopDetector(loopDetector ?? defaultLoopLimits);
  }

  async drive(): Promise<DispatchEnvelope> {
    const { communication } = this.#options;
    const { dispatchId } = this.#recorder.envelope;
    const detach = communication?.attach(dispatchId, (text) => this.deliver(text, { kind: 'user' }));
    this.#recorder.start();
    try {
      const prompted = this.#recordPrompt();
      this.#watch();
      await prompted;
      const ending = await this.#untilEnd();
      const completedAt = toTimestamp(this.#clock.now());
      return await this.#recorder.end(completionUpdates(this.#completion, ending, completedAt));
    } finally {
      this.#finish();
      detach?.();
    }
  }

  async send(text: string, source: MessageSource = { kind: 'user' }): Promise<void> {
    if (await this.deliver(text, source)) return;
    const state = this.#state === 'over' ? 'has ended' : 'is ending';
    throw new TypeError(
      `The dispatch ${this.#recorder.envelope.dispatchId} ${state} and takes no more messages; start a new one.`,
    );
  }

  /** Gives a message to the agent; false where it takes no more. */
  async deliver(text: string, source: MessageSource): Promise<boolean> {
    if (!this.#isRunning()) return false;
    const message = await this.#recorder.record(newEvent('user:message', { text, source }));
    this.#stall?.touch();
    this.#inbox.push(message);
    // It may have been stopped while the message was recorded.
    return this.#isRunning();
  }

  abort(reason?: string, by?: string): void {
    this.#killFor(
      newEvent('harness:abort', {
        ...(reason === undefined ? {} : { reason }),
        ...(by === undefined ? {} : { by }),
      }),
    );
  }

  async #recordPrompt(): Promise<void> {
    const { prompt, parentDispatchId } = this.#options;
    if (prompt === undefined) return;
    const source: MessageSource =
      parentDispatchId === undefined ? { kind: 'user' } : { kind: 'agent', dispatchId: parentDispatchId };
    await this.#recorder.record(newEvent('user:message', { text: prompt, source }));
  }

  #watch(): void {
    const { signal, limits = {} } = this.#options;
    const { timeMs, stallMs } = limits;
    if (timeMs !== undefined) {
      const bark = (elapsedMs: number) =>
        this.#killFor(newEvent('harness:timeout', { elapsedMs, limitMs: timeMs }));
      this.#releases.push(watchTime(this.#clock, timeMs, bark));
    }
    if (stallMs !== undefined) {
      const bark = (idleMs: number) => this.#killFor(newEvent('harness:stall', { idleMs, limitMs: stallMs }));
      const stall = watchStall(this.#clock, stallMs, bark);
      this.#stall = stall;
      this.#releases.push(() => stall.stop());
    }
    if (signal !== undefined) {
      const onAbort = () => this.abort(describeReason(signal.reason), 'signal');
      signal.addEventListener('abort', onAbort);
      this.#releases.push(() => signal.removeEventListener('abort', onAbort));
      if (signal.aborted) onAbort();
    }
  }

  async #untilEnd(): Promise<Ending> {
    if (this.#isRunning()) await Promise.race([this.#listen(), this.#graceOver.wait()]);
    this.#finish();
    await this.#kill;
    if (this.#storeFailure !== null) throw this.#storeFailure.error;
    if (this.#kill !== null) return 'aborted';
    if (this.#crash === null) return 'ended';
    await this.#recorder.record(newEvent('harness:error', describeFailure(this.#crash.error)));
    return 'crashed';
  }

  /** Takes what the agent yields until it ends. Never rejects: what went wrong is kept. */
  async #listen(): Promise<void> {
    let taken = 0;
    try {
      for await (const activity of this.#options.agent.run(this.#request())) {
        if (this.#state === 'over' || this.#storeFailure !== null) return;
        this.#stall?.touch();
        await this.#take(activity);
        taken += 1;
        // An agent that never waits for anything would keep timers and signals waiting for ever.
        if (taken % activitiesPerTurn === 0) await nextTurn();
      }
    } catch (error) {
      this.#crash ??= { error };
    }
  }

  #request(): AgentRunRequest {
    const { taskDir, prompt = '' } = this.#options;
    const { dispatchId, role, model, cwd, fidelity } = this.#recorder.envelope;
    const signal = this.#stopSignal.signal;
    return { taskDir, dispatchId, prompt, role, model, cwd, fidelity, messages: this.#inbox, signal };
  }

  async #take(activity: AgentActivity): Promise<void> {
    if (activity.kind === 'delta') {
      this.#recorder.publish(activity.delta);
      return;
    }
    const event = await this.#recordFromAgent(activity.event);
    if (isEventOf(event, 'session:complete')) this.#completion = event.data;
    if (isEventOf(event, 'session:init') && this.#recorder.envelope.model === null)
      await this.#write(this.#recorder.update({ model: event.data.model }));
    await this.#checkLoop(event);
    this.#checkCost(event);
    // Recording may take its time; the agent was not asked meanwhile.
    this.#stall?.touch();
  }

  async #recordFromAgent(event: NewEvent): Promise<CapturedEvent> {
    try {
      return await this.#recorder.record(event);
    } catch (error) {
      if (isEventError(error) || isStoreError(error, 'STORE_EVENT_CONFLICT')) {
        this.#crash ??= { error };
        this.#stopAgent('The agent yielded what is not an event.');
      } else this.#failForStore(error);
      throw error;
    }
  }

  async #checkLoop(event: CapturedEvent): Promise<void> {
    if (!this.#isRunning() || !isEventOf(event, 'agent:tool_call')) return;
    const finding = this.#loops?.observe(event) ?? null;
    if (finding === null) return;
    const links = { cause: event.id, ...(event.agentId === undefined ? {} : { agentId: event.agentId }) };
    if (finding.act === 'kill') this.#killFor(newEvent('harness:loop_kill', finding.data, links));
    else await this.#write(this.#recorder.record(newEvent('harness:loop_warning', finding.data, links)));
  }

  /** Only an agent that goes on beyond the limit is stopped: one that is complete has nothing left to spend. */
  #checkCost(event: CapturedEvent): void {
    this.#costs.observe(event);
    const limit = this.#options.limits?.costUsd;
    const { spent } = this.#costs;
    if (limit === undefined || spent <= limit || !event.type.startsWith('agent:')) return;
    this.abort(`cost limit: ${Number(spent.toFixed(6))} of ${limit} US dollars spent`, 'harness');
  }

  /** Waits for a write of the run's own. */
  async #write(writing: Promise<unknown>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      this.#failForStore(error);
      throw error;
    }
  }

  #killFor(event: NewEvent): void {
    if (!this.#isRunning()) return;
    this.#kill = this.#recorder.record(event).then(
      () => {},
      (error) => this.#failForStore(error),
    );
    this.#stopAgent(`The dispatch was stopped (${event.type}).`);
  }

  #failForStore(error: unknown): void {
    this.#storeFailure ??= { error };
    this.#stopAgent('The store failed.');
  }

  #stopAgent(reason: string): void {
    if (!this.#isRunning()) return;
    this.#state = 'stopping';
    this.#inbox.close();
    const graceMs = this.#options.graceMs ?? defaultGraceMs;
    this.#releases.push(this.#clock.after(graceMs, () => this.#graceOver.ring()));
    this.#stopSignal.abort(new DOMException(reason, 'AbortError'));
  }

  #isRunning(): boolean {
    return this.#state === 'running';
  }

  #finish(): void {
    this.#state = 'over';
    this.#inbox.close();
    for (const release of this.#releases.splice(0)) release();
  }
}

/** The reason of a signal in words, where it has some. */
function describeReason(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason;
  return reason instanceof Error ? reason.message : undefined;
}

import {
  type CapturedEvent,
  type Delta,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type Fidelity,
  type NewEvent,
  newEvent,
  toNarrative,
  toTimestamp,
} from '@hansard/events';
import { type AgentInfo, StoreError } from '@hansard/provider';
import { DispatchTotals } from '@hansard/views/basics';
import { describeFailure } from '../describe-failure.ts';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';
import { LiveFeed } from '../streams/live-feed.ts';
import { streamDispatch } from '../streams/stream-dispatch.ts';
import type {
  AcceptedEvents,
  AgentWriter,
  Dispatch,
  DispatchEnd,
  NewDispatch,
  WriterOptions,
} from './dispatch.ts';
import { checkUpdates } from './envelope-intake.ts';
import type { StoreContext } from './store-context.ts';
import { StoredDispatch } from './stored-dispatch.ts';
import { WriteQueue } from './write-queue.ts';

/** A dispatch that this opening of the store has claimed, until it is released. */
export class ClaimedDispatch extends StoredDispatch implements Dispatch {
  readonly holder: string;
  readonly feed = new LiveFeed();
  readonly #options: WriterOptions;
  /** Whether this object began the dispatch or set it running, so that leaving it ends it. */
  #isOurs: boolean;
  #isEnding = false;
  /** The updates to `narrative` fidelity that are under way: what is appended after one was called is narrowed already. */
  #narrowing = 0;
  /** The release under way or done. Null: the dispatch is claimed. */
  #released: Promise<void> | null = null;
  /** The disposal under way or done. */
  #left: Promise<void> | null = null;
  /** The lists that `check` made, each with the fidelity at which its events were taken. */
  readonly #checked = new WeakMap<readonly NewEvent[], Fidelity>();
  readonly #writes: WriteQueue;

  constructor(
    context: StoreContext,
    taskDir: string,
    envelope: DispatchEnvelope,
    options: WriterOptions,
    isBegun: boolean,
  ) {
    super(context, taskDir, envelope);
    this.holder = options.holder ?? defaultHolder;
    this.#options = options;
    this.#isOurs = isBegun;
    this.#writes = new WriteQueue(options.haltsOnFailure === true);
  }

  override async refresh(): Promise<DispatchEnvelope> {
    return this.#released === null ? this.envelope : super.refresh();
  }

  append(event: NewEvent): Promise<CapturedEvent>;
  append(events: readonly NewEvent[]): Promise<CapturedEvent[]>;
  async append(input: NewEvent | readonly NewEvent[]): Promise<CapturedEvent | CapturedEvent[]> {
    this.#assertWritable();
    if (isList(input)) {
      const { events, recorded } = this.accept(input);
      if (recorded !== null) await recorded;
      return [...events];
    }
    const event = this.#take(input);
    const recorded = this.#writes.run(
      () => this.context.provider.appendEvent(this.taskDir, this.dispatchId, event),
      () => this.#publishEvent(event),
    );
    if (recorded !== null) await recorded;
    return event;
  }

  check(events: readonly NewEvent[]): readonly CapturedEvent[] {
    const checked = events.map((event) => this.#take(event));
    this.#checked.set(checked, this.#fidelity);
    return checked;
  }

  accept(events: readonly NewEvent[]): AcceptedEvents {
    this.#assertWritable();
    return this.#record(events);
  }

  settled(): Promise<void> {
    return this.#writes.settled();
  }

  async update(updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    this.#assertWritable();
    return this.#update(updates);
  }

  async end(updates: DispatchEnd): Promise<DispatchEnvelope> {
    this.#assertWritable();
    this.#isEnding = true;
    try {
      return await this.#end(updates);
    } finally {
      this.#isEnding = false;
    }
  }

  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  abandon(): void {
    if (this.#released !== null) return;
    this.#released = Promise.resolve();
    this.context.writers.remove(this.taskDir, this.dispatchId);
  }

  override stream(options: LiveStreamOptions = {}): DispatchStream {
    return streamDispatch(this, this.feed, options);
  }

  announce(agents?: readonly AgentInfo[]): void {
    const { taskDir, envelope } = this;
    this.#options.communication?.dispatchStarted({
      taskDir,
      envelope,
      ...(agents === undefined ? {} : { agents }),
    });
  }

  publish(delta: Delta): void {
    const { taskDir, envelope } = this;
    this.feed.publish(delta);
    this.#options.communication?.deltaReceived({ taskDir, envelope, delta });
  }

  fail(error: unknown): void {
    this.feed.fail(error);
  }

  as(agentId: string): AgentWriter {
    const named = (event: NewEvent): NewEvent => ({ ...event, agentId });
    const append = (input: NewEvent | readonly NewEvent[]) =>
      isList(input) ? this.append(input.map(named)) : this.append(named(input));
    return { agentId, append: append as AgentWriter['append'] };
  }

  async beginChild(dispatch: NewDispatch, options: WriterOptions = {}): Promise<Dispatch> {
    this.context.assertOpen();
    return this.context.begin(this.taskDir, { ...dispatch, parentDispatchId: this.dispatchId }, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  /** Never rejects. */
  async #leave(): Promise<void> {
    await this.settled();
    if (this.#released !== null) {
      // The caller of `release` or `end` has its error.
      await this.#released.catch(() => {});
      return;
    }
    let failure: unknown;
    const note = (error: unknown) => {
      failure ??= error;
    };
    if (this.#isOurs && this.envelope.status === 'running') await this.#endAborted().catch(note);
    await this.release().catch(note);
    if (failure === undefined) return;
    const { message } = describeFailure(failure);
    process.emitWarning(
      `The dispatch ${this.dispatchId} of ${this.taskDir} was left and could not be completed: ${message}`,
      { type: 'HansardDispatchWarning' },
    );
  }

  async #release(): Promise<void> {
    try {
      await this.settled();
      await this.context.provider.releaseDispatch(this.taskDir, this.dispatchId);
    } finally {
      this.context.writers.remove(this.taskDir, this.dispatchId);
    }
  }

  async #endAborted(): Promise<void> {
    const { recorded } = this.#record([newEvent('harness:abort', { reason: 'left without end' })]);
    await recorded;
    const totals = new DispatchTotals();
    for await (const { event } of this.events()) totals.observe(event);
    await this.#end({
      status: 'aborted',
      usage: totals.usage,
      cost: totals.costUsd,
      models: totals.models,
    });
  }

  async #end(updates: DispatchEnd): Promise<DispatchEnvelope> {
    const completedAt = toTimestamp(this.#now());
    const envelope = await this.#update({ completedAt, ...updates });
    await this.release();
    this.#options.communication?.dispatchEnded({ taskDir: this.taskDir, envelope });
    return envelope;
  }

  async #update(updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    const checked = checkUpdates(updates);
    const narrows = checked.fidelity === 'narrative' ? 1 : 0;
    let updated = this.envelope;
    this.#narrowing += narrows;
    try {
      const recorded = this.#writes.run(
        () => this.context.provider.updateDispatch(this.taskDir, this.dispatchId, checked),
        (envelope) => {
          updated = envelope;
          this.envelope = envelope;
          if (checked.status === 'running') this.#isOurs = true;
          this.context.notifiers.notify(this.taskDir, this.dispatchId);
        },
      );
      if (recorded !== null) await recorded;
    } finally {
      this.#narrowing -= narrows;
    }
    return updated;
  }

  #record(events: readonly NewEvent[]): AcceptedEvents {
    const taken =
      this.#checked.get(events) === this.#fidelity
        ? (events as readonly CapturedEvent[])
        : events.map((event) => this.#take(event));
    const recorded = this.#writes.run(
      () => this.context.provider.appendEvents(this.taskDir, this.dispatchId, taken),
      () => {
        for (const event of taken) this.#publishEvent(event);
      },
    );
    return { events: taken, recorded };
  }

  /** The event as it will be recorded. */
  #take(event: NewEvent): CapturedEvent {
    const taken = this.context.intake.take(event, this.#options);
    return this.#fidelity === 'full' ? taken : toNarrative(taken);
  }

  get #fidelity(): Fidelity {
    return this.#narrowing > 0 ? 'narrative' : this.envelope.fidelity;
  }

  #publishEvent(event: CapturedEvent): void {
    const { taskDir, dispatchId, envelope } = this;
    this.context.notifiers.notify(taskDir, dispatchId);
    this.#options.communication?.eventRecorded({ taskDir, envelope, event });
  }

  #now(): number {
    return this.#options.now?.() ?? this.context.clock.now();
  }

  #assertWritable(): void {
    this.context.assertOpen();
    if (this.#released === null && this.#left === null && !this.#isEnding) return;
    const { taskDir, dispatchId } = this;
    throw new StoreError(
      'STORE_LOCKED',
      `This object has ended or released the dispatch ${dispatchId} of ${taskDir}. Open the dispatch again to write to it: openDispatch(taskDir, dispatchId, { write: true }).`,
      { details: { taskDir, dispatchId } },
    );
  }
}

export const defaultHolder = 'a program';

function isList(input: NewEvent | readonly NewEvent[]): input is readonly NewEvent[] {
  return Array.isArray(input);
}

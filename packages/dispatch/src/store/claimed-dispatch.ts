import {
  type CapturedEvent,
  type Delta,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type NewEvent,
  newEvent,
  toTimestamp,
} from '@hansard/events';
import { type AgentInfo, type EventPage, type StoreError, storeErrors } from '@hansard/provider';
import { describeFailure } from '../describe-failure.ts';
import { RedactedDeltas } from '../redaction/redacted-deltas.ts';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';
import type { OpenFeed } from '../streams/live-feeds.ts';
import { streamDispatch } from '../streams/stream-dispatch.ts';
import type {
  AcceptedEvents,
  AgentWriter,
  Dispatch,
  DispatchEnd,
  LoggedFacts,
  NewDispatch,
  WriterOptions,
} from './dispatch.ts';
import { DispatchRecorder } from './dispatch-recorder.ts';
import { toDispatchRef } from './dispatch-ref.ts';
import type { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';
import { StoredDispatch } from './stored-dispatch.ts';

/** A dispatch that this opening of the store has claimed, until it is released. */
export class ClaimedDispatch extends StoredDispatch implements Dispatch {
  readonly holder: string;
  readonly #options: WriterOptions;
  readonly #recorder: DispatchRecorder;
  readonly #live: OpenFeed;
  /** Null: nothing is redacted. */
  readonly #deltas: RedactedDeltas | null;
  /** Whether this object began the dispatch or set it running, so that leaving it ends it. */
  #isOurs: boolean;
  #isEnding = false;
  /** The release, pending or done. Null: the dispatch is claimed. */
  #released: Promise<void> | null = null;
  /** The disposal, pending or done. */
  #left: Promise<void> | null = null;

  constructor(
    context: StoreContext,
    stored: ProviderDispatch,
    envelope: DispatchEnvelope,
    options: WriterOptions,
    isBegun: boolean,
  ) {
    super(context, stored, envelope);
    this.holder = options.holder ?? defaultHolder;
    this.#options = options;
    this.#recorder = new DispatchRecorder(context, stored, this, options, isBegun);
    this.#live = context.feeds.open(stored);
    const { redaction } = context;
    this.#deltas =
      redaction === null || options.redact === false ? null : new RedactedDeltas(redaction.redactor);
    this.#isOurs = isBegun;
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
    if (this.#deltas !== null) this.#finishDeltas([input]);
    return this.#recorder.recordOne(input);
  }

  check(events: readonly NewEvent[]): readonly CapturedEvent[] {
    return this.#recorder.check(events);
  }

  accept(events: readonly NewEvent[]): AcceptedEvents {
    this.#assertWritable();
    this.#finishDeltas(events);
    return this.#recorder.record(events);
  }

  settled(): Promise<void> {
    return this.#recorder.settled();
  }

  get facts(): LoggedFacts {
    return this.#recorder.facts;
  }

  async fold(): Promise<LoggedFacts> {
    this.#assertWritable();
    return this.#recorder.fold();
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
    this.#recorder.stop(this.#noLongerClaimed());
    this.#forget();
  }

  override stream(options: LiveStreamOptions = {}): DispatchStream {
    const { feed } = this.#live;
    return streamDispatch(this, () => ({ feed, close() {} }), options);
  }

  announce(agents?: readonly AgentInfo[]): void {
    const { taskDir, envelope } = this;
    this.#options.communication?.dispatchStarted({
      taskDir,
      envelope,
      ...(agents === undefined ? {} : { agents: this.context.redaction?.agents(agents) ?? agents }),
    });
  }

  publish(delta: Delta): void {
    if (this.#deltas === null) this.#publish(delta);
    else for (const redacted of this.#deltas.take(delta)) this.#publish(redacted);
  }

  protected override noteRead(page: EventPage): void {
    this.#recorder.noteRead(page);
  }

  fail(error: unknown): void {
    this.#live.feed.fail(error);
  }

  as(agentId: string): AgentWriter {
    const named = (event: NewEvent): NewEvent => ({ ...event, agentId });
    const append = (input: NewEvent | readonly NewEvent[]) =>
      isList(input) ? this.append(input.map(named)) : this.append(named(input));
    return { agentId, append: append as AgentWriter['append'] };
  }

  async beginChild(dispatch: NewDispatch, options: WriterOptions = {}): Promise<Dispatch> {
    this.context.assertOpen();
    const child = { ...dispatch, parentDispatchId: this.dispatchId };
    return this.context.claims.begin(this.taskDir, child, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  #publish(delta: Delta): void {
    const { taskDir, envelope } = this;
    this.#live.feed.publish(delta);
    this.#options.communication?.deltaReceived({ taskDir, envelope, delta });
  }

  /** Publishes the end of a streamed text before the event that holds it. */
  #finishDeltas(events: readonly NewEvent[]): void {
    if (this.#deltas === null) return;
    for (const event of events) for (const rest of this.#deltas.finish(event)) this.#publish(rest);
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
      await this.stored.release();
    } finally {
      this.#forget();
    }
  }

  async #endAborted(): Promise<void> {
    const { recorded } = this.#recorder.record([newEvent('harness:abort', { reason: 'left without end' })]);
    await recorded;
    await this.#end({ status: 'aborted' });
  }

  async #end(updates: DispatchEnd): Promise<DispatchEnvelope> {
    const completedAt = toTimestamp(this.#options.now?.() ?? this.context.clock.now());
    const envelope = await this.#update({ completedAt, ...updates });
    await this.release();
    this.#options.communication?.dispatchEnded({ taskDir: this.taskDir, envelope });
    return envelope;
  }

  #update(updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    return this.#recorder.update(updates, (envelope) => {
      this.keep(envelope);
      if (updates.status === 'running') this.#isOurs = true;
    });
  }

  /** Ends the claim in this process. */
  #forget(): void {
    this.context.claims.remove(this);
    this.#live.close();
  }

  #assertWritable(): void {
    this.context.assertOpen();
    if (this.#released === null && this.#left === null && !this.#isEnding) return;
    throw this.#noLongerClaimed();
  }

  #noLongerClaimed(): StoreError {
    return storeErrors.error(
      'STORE_LOCKED',
      `This object has ended or released the dispatch ${this.dispatchId} of ${this.taskDir}. Open the dispatch again to write to it: openDispatch(dispatch, { write: true }).`,
      { details: { ...toDispatchRef(this) } },
    );
  }
}

export const defaultHolder = 'a program';

function isList(input: NewEvent | readonly NewEvent[]): input is readonly NewEvent[] {
  return Array.isArray(input);
}

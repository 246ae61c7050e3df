import {
  type CapturedEvent,
  type Delta,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type Fidelity,
  type NewEvent,
  newEvent,
  toTimestamp,
} from '@hansard/events';
import { shownEvent } from '@hansard/events/plain';
import {
  type AgentInfo,
  type Awaitable,
  type EventPage,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { WriteQueue } from '../async/write-queue.ts';
import { describeFailure } from '../describe-failure.ts';
import { warn } from '../host.ts';
import { checkUpdates } from '../intake/envelope-intake.ts';
import { ContentAppends, RedactedAppends, RedactedDeltas } from '../redaction/redacted-appends.ts';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';
import type { OpenFeed } from '../streams/live-feed.ts';
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
import { DispatchFold } from './dispatch-fold.ts';
import { toDispatchRef } from './dispatch-ref.ts';
import { type ProviderDispatch, withoutBytes } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';
import { StoredDispatch } from './stored-dispatch.ts';

/**
 * A dispatch that this opening of the store has claimed, until it is released. Every event passes here once, whatever records it: it is
 * checked and copied, handed to the provider in the order of the calls, counted, and published after the provider has it.
 */
export class ClaimedDispatch extends StoredDispatch implements Dispatch {
  readonly owner: string;
  readonly #options: WriterOptions;
  readonly #live: OpenFeed;
  readonly #writes: WriteQueue;
  readonly #fold: DispatchFold;
  /** Both null: nothing is redacted. */
  readonly #deltas: RedactedDeltas | null;
  readonly #redacted: RedactedAppends | null;
  readonly #appends: ContentAppends;
  /** How many updates to `narrative` fidelity are under way. Events that are appended after such a call are narrowed. */
  #narrowing = 0;
  /** The position of the first event that this object appended; null: none. */
  #first: number | null = null;
  /** The lists that `check` returned, each with the fidelity at which its events were taken. */
  readonly #checked = new WeakMap<readonly NewEvent[], Fidelity>();
  readonly #keepsWhole: boolean;
  /** For narrowed events, what a narrative leaves out. */
  readonly #wholes = new WeakMap<CapturedEvent, CapturedEvent>();
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
    this.owner = options.owner ?? defaultOwner;
    this.#options = options;
    this.#keepsWhole = options.keepsWhole === true && envelope.fidelity === 'narrative';
    this.#live = context.feeds.open(stored);
    const redactor = options.redact === false ? undefined : context.redaction?.redactor;
    this.#deltas = redactor === undefined ? null : new RedactedDeltas(redactor);
    this.#redacted = redactor === undefined ? null : new RedactedAppends(stored, redactor);
    this.#appends = new ContentAppends(
      stored,
      this.#redacted ?? { append: (events) => stored.appendEvents(events) },
    );
    this.#writes = new WriteQueue(options.haltsOnFailure === true);
    this.#fold = new DispatchFold(stored, envelope, { isBegun, prices: options.prices });
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
    return this.#recordOne(input);
  }

  check(events: readonly NewEvent[]): readonly CapturedEvent[] {
    const checked = events.map((event) => this.#take(event));
    this.#checked.set(checked, this.#fidelity);
    return checked;
  }

  accept(events: readonly NewEvent[]): AcceptedEvents {
    this.#assertWritable();
    this.#finishDeltas(events);
    return this.#record(events);
  }

  settled(): Promise<void> {
    return this.#writes.settled();
  }

  get facts(): LoggedFacts {
    return this.#fold.facts;
  }

  async fold(): Promise<LoggedFacts> {
    this.#assertWritable();
    await this.#writes.run(
      () => this.#fold.readRest(),
      () => {},
    );
    return this.facts;
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
    this.#writes.stop(this.#noLongerClaimed());
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
    this.#fold.noteRead(page);
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
    warn(
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
    const { recorded } = this.#record([newEvent('harness:abort', { reason: 'left without end' })]);
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

  #recordOne(event: NewEvent): Awaitable<CapturedEvent> {
    const taken = this.#take(event);
    let recorded: Promise<void> | null;
    if (this.context.intake.hasContents && this.context.intake.contentsOf(taken).length > 0) {
      recorded = this.#recordTaken([taken]);
    } else if (this.#writes.latest === null && this.context.retries.isQuiet) {
      // As a rule. Then nothing has to wait, and a store that answers at once needs no promise.
      const position = this.#appendOne(taken);
      if (typeof position === 'number') {
        this.#publishEvent(taken, position);
        return taken;
      }
      recorded = this.#writes.follow(position.then((at) => this.#publishEvent(taken, at)));
    } else {
      const append = () => this.#appendOne(taken);
      recorded = this.#write([taken], append, (position) => this.#publishEvent(taken, position));
    }
    return recorded === null ? taken : recorded.then(() => taken);
  }

  #appendOne(event: CapturedEvent): Awaitable<number> {
    if (event.type === 'content:stored') {
      const positions = this.#appends.append([event]);
      return isPromise(positions)
        ? positions.then(([position]) => position as number)
        : (positions[0] as number);
    }
    return this.#redacted === null ? this.stored.appendEvent(event) : this.#redacted.appendOne(event);
  }

  #record(events: readonly NewEvent[]): AcceptedEvents {
    const taken =
      this.#checked.get(events) === this.#fidelity
        ? (events as readonly CapturedEvent[])
        : events.map((event) => this.#take(event));
    const recorded = this.#recordTaken(taken);
    const whole = this.#keepsWhole ? taken.map((event) => this.#wholes.get(event) ?? event) : taken;
    return { events: taken, whole, recorded };
  }

  /** Records events, each after the bytes that were moved out of it. Null: they are recorded. */
  #recordTaken(taken: readonly CapturedEvent[]): Promise<void> | null {
    const { intake } = this.context;
    const hasContent = intake.hasContents && taken.some((event) => intake.contentsOf(event).length > 0);
    const events = hasContent ? taken.flatMap((event) => [...intake.contentsOf(event), event]) : taken;
    return this.#write(
      events,
      () => this.#appends.append(events),
      (positions) => {
        for (const [index, event] of events.entries()) this.#publishEvent(event, positions[index] as number);
      },
    );
  }

  /** Null: the events are recorded. */
  #write<Positions>(
    events: readonly CapturedEvent[],
    append: () => Awaitable<Positions>,
    onDone: (positions: Positions) => void,
  ): Promise<void> | null {
    let release: (() => void) | null;
    try {
      release = this.context.retries.keep(this.stored, events);
    } catch (error) {
      return this.#writes.refuse(error as Error);
    }
    const recorded = this.#writes.run(append, onDone);
    if (release !== null) (recorded ?? Promise.resolve()).then(release, release);
    return recorded;
  }

  /** The event as it will be recorded. @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL */
  #take(event: NewEvent): CapturedEvent {
    const { intake } = this.context;
    if (!this.#keepsWhole) return intake.take(event, this.#options, this.#fidelity);
    const whole = intake.take(event, this.#options);
    const narrowed = intake.narrowed(whole, this.#options);
    if (narrowed !== whole) this.#wholes.set(narrowed, whole);
    return narrowed;
  }

  get #fidelity(): Fidelity {
    return this.#narrowing > 0 ? 'narrative' : this.envelope.fidelity;
  }

  #publishEvent(event: CapturedEvent, position: number): void {
    this.#first ??= position;
    if (event.type === 'content:stored') this.noteContent(event.id, position);
    this.#fold.facts.observe(event, position, true);
    const { notifiers } = this.context;
    if (!notifiers.isEmpty) notifiers.notify(this.stored);
    const { taskDir, envelope } = this;
    const { communication } = this.#options;
    if (communication === undefined) return;
    communication.eventRecorded({ taskDir, envelope, event: shownEvent(withoutBytes(event)), position });
  }

  /** @throws EVENT_ENVELOPE_INVALID */
  async #update(updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    const { redaction } = this.context;
    const checked = redaction?.envelope(redaction.checked(updates, checkUpdates)) ?? checkUpdates(updates);
    const narrows = checked.fidelity === 'narrative' ? 1 : 0;
    let updated = this.envelope;
    this.#narrowing += narrows;
    try {
      const recorded = this.#writes.run(
        () => this.#updateStored(checked),
        (envelope) => {
          updated = envelope;
          this.envelope = envelope;
          if (updates.status === 'running') this.#isOurs = true;
          this.context.notifiers.notify(this.stored);
        },
      );
      if (recorded !== null) await recorded;
    } finally {
      this.#narrowing -= narrows;
    }
    return updated;
  }

  /**
   * Adds a title, and to an update that names a status the figures of the log, as they are when its turn comes. A value that the
   * caller gives stays.
   */
  #updateStored(updates: EnvelopeUpdates): Awaitable<DispatchEnvelope> {
    if (updates.status === undefined) return this.stored.update(this.#withTitle(updates));
    const update = () => this.stored.update({ ...this.facts.figures, ...this.#withTitle(updates) });
    const read = this.#fold.readRest();
    return read === null ? update() : read.then(update);
  }

  /** A dispatch without a title receives the one that its events have. An import also takes over one that an event of its own gives. */
  #withTitle(updates: EnvelopeUpdates): EnvelopeUpdates {
    const { title } = this.facts;
    const { envelope } = this;
    if (title === null || updates.title !== undefined || title.text === envelope.title) return updates;
    const isNew = title.isGiven && this.#first !== null && title.position >= this.#first;
    if (envelope.title !== null && (envelope.source === null || !isNew)) return updates;
    const { redaction } = this.context;
    return { ...updates, ...(redaction?.envelope({ title: title.text }) ?? { title: title.text }) };
  }

  /** Ends the claim in this process. */
  #forget(): void {
    this.context.claims.remove(this);
    this.#live.close();
  }

  #assertWritable(): void {
    if (!this.context.isOpen) this.context.assertOpen();
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

export const defaultOwner = 'a program';

function isList(input: NewEvent | readonly NewEvent[]): input is readonly NewEvent[] {
  return Array.isArray(input);
}

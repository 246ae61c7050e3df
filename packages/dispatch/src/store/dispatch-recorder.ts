import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, Fidelity, NewEvent } from '@hansard/events';
import type { DispatchFacts } from '@hansard/facts';
import type { Awaitable, EventPage } from '@hansard/provider';
import { WriteQueue } from '../async/write-queue.ts';
import { checkUpdates } from '../intake/envelope-intake.ts';
import { RedactedAppends } from '../redaction/redacted-appends.ts';
import type { AcceptedEvents, WriterOptions } from './dispatch.ts';
import { DispatchFold } from './dispatch-fold.ts';
import type { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';

/**
 * Writes one claimed dispatch. Every event passes here once, whatever records it: it is checked and copied, handed to the
 * provider in the order of the calls, and published after the provider has it.
 */
export class DispatchRecorder {
  readonly #context: StoreContext;
  readonly #stored: ProviderDispatch;
  readonly #log: { readonly envelope: DispatchEnvelope };
  readonly #options: WriterOptions;
  readonly #writes: WriteQueue;
  /** How many updates to `narrative` fidelity are under way. Events that are appended after such a call are narrowed. */
  #narrowing = 0;
  readonly #fold: DispatchFold;
  /** The position of the first event that this object appended; null: none. */
  #first: number | null = null;
  /** Null: nothing is redacted. */
  readonly #redacted: RedactedAppends | null;
  /** The lists that `check` returned, each with the fidelity at which its events were taken. */
  readonly #checked = new WeakMap<readonly NewEvent[], Fidelity>();

  /** `log` has the envelope as it is now. `isBegun`: the dispatch has no events yet. */
  constructor(
    context: StoreContext,
    stored: ProviderDispatch,
    log: { readonly envelope: DispatchEnvelope },
    options: WriterOptions,
    isBegun: boolean,
  ) {
    this.#context = context;
    this.#stored = stored;
    this.#log = log;
    this.#options = options;
    const { redaction } = context;
    this.#redacted =
      redaction === null || options.redact === false ? null : new RedactedAppends(stored, redaction.redactor);
    this.#writes = new WriteQueue(options.haltsOnFailure === true);
    this.#fold = new DispatchFold(stored, log.envelope, { isBegun, prices: options.prices });
  }

  get facts(): DispatchFacts {
    return this.#fold.facts;
  }

  noteRead(page: EventPage): void {
    this.#fold.noteRead(page);
  }

  /** Counts what the log has, after the pending writes. */
  async fold(): Promise<DispatchFacts> {
    await this.#writes.run(
      () => this.#fold.readRest(),
      () => {},
    );
    return this.#fold.facts;
  }

  check(events: readonly NewEvent[]): readonly CapturedEvent[] {
    const checked = events.map((event) => this.#take(event));
    this.#checked.set(checked, this.#fidelity);
    return checked;
  }

  /** @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL */
  recordOne(event: NewEvent): Awaitable<CapturedEvent> {
    const taken = this.#take(event);
    const append = () =>
      this.#redacted === null ? this.#stored.appendEvent(taken) : this.#redacted.appendOne(taken);
    let recorded: Promise<void> | null;
    if (this.#writes.isIdle && this.#context.retries.isQuiet) {
      // As a rule. Then nothing has to wait, and a store that answers at once needs no promise.
      const position = append();
      if (typeof position === 'number') {
        this.#publish(taken, position);
        return taken;
      }
      recorded = this.#writes.follow(position.then((at) => this.#publish(taken, at)));
    } else recorded = this.#write([taken], append, (position) => this.#publish(taken, position));
    return recorded === null ? taken : recorded.then(() => taken);
  }

  /** @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL */
  record(events: readonly NewEvent[]): AcceptedEvents {
    const taken =
      this.#checked.get(events) === this.#fidelity
        ? (events as readonly CapturedEvent[])
        : events.map((event) => this.#take(event));
    const recorded = this.#write(
      taken,
      () => (this.#redacted === null ? this.#stored.appendEvents(taken) : this.#redacted.append(taken)),
      (positions) => {
        for (const [index, event] of taken.entries()) this.#publish(event, positions[index] as number);
      },
    );
    return { events: taken, recorded };
  }

  /** @throws EVENT_ENVELOPE_INVALID */
  async update(
    updates: EnvelopeUpdates,
    onUpdated: (envelope: DispatchEnvelope) => void,
  ): Promise<DispatchEnvelope> {
    const { redaction } = this.#context;
    const checked = redaction?.envelope(redaction.checked(updates, checkUpdates)) ?? checkUpdates(updates);
    const narrows = checked.fidelity === 'narrative' ? 1 : 0;
    let updated = this.#log.envelope;
    this.#narrowing += narrows;
    try {
      const recorded = this.#writes.run(
        () => this.#update(checked),
        (envelope) => {
          updated = envelope;
          onUpdated(envelope);
          this.#context.notifiers.notify(this.#stored);
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
  #update(updates: EnvelopeUpdates): Awaitable<DispatchEnvelope> {
    if (updates.status === undefined) return this.#stored.update(this.#withTitle(updates));
    const update = () => this.#stored.update({ ...this.facts.figures, ...this.#withTitle(updates) });
    const read = this.#fold.readRest();
    return read === null ? update() : read.then(update);
  }

  /** Resolves when no write is pending, whether the writes succeeded or failed. */
  settled(): Promise<void> {
    return this.#writes.settled();
  }

  /** Writes that the provider has not received yet fail with this error. */
  stop(error: Error): void {
    this.#writes.stop(error);
  }

  /** Null: the events are recorded. */
  #write<Positions>(
    events: readonly CapturedEvent[],
    append: () => Awaitable<Positions>,
    onDone: (positions: Positions) => void,
  ): Promise<void> | null {
    let release: (() => void) | null;
    try {
      release = this.#context.retries.keep(this.#stored, events);
    } catch (error) {
      return this.#writes.refuse(error as Error);
    }
    const recorded = this.#writes.run(append, onDone);
    if (release !== null) (recorded ?? Promise.resolve()).then(release, release);
    return recorded;
  }

  /** The event as it will be recorded. */
  #take(event: NewEvent): CapturedEvent {
    const taken = this.#context.intake.take(event, this.#options);
    return this.#fidelity === 'full' ? taken : this.#context.intake.narrowed(taken, this.#options);
  }

  get #fidelity(): Fidelity {
    return this.#narrowing > 0 ? 'narrative' : this.#log.envelope.fidelity;
  }

  /** A dispatch without a title receives the one that its events have. An import also takes over one that an event of its own gives. */
  #withTitle(updates: EnvelopeUpdates): EnvelopeUpdates {
    const { title } = this.facts;
    const { envelope } = this.#log;
    if (title === null || updates.title !== undefined || title.text === envelope.title) return updates;
    const isNew = title.isGiven && this.#first !== null && title.position >= this.#first;
    if (envelope.title !== null && (envelope.source === null || !isNew)) return updates;
    const { redaction } = this.#context;
    return { ...updates, ...(redaction?.envelope({ title: title.text }) ?? { title: title.text }) };
  }

  #publish(event: CapturedEvent, position: number): void {
    this.#first ??= position;
    this.#fold.observe(event, position);
    this.#context.notifiers.notify(this.#stored);
    const { taskDir } = this.#stored;
    this.#options.communication?.eventRecorded({ taskDir, envelope: this.#log.envelope, event });
  }
}

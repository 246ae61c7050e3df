import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, Fidelity, NewEvent } from '@hansard/events';
import type { Awaitable } from '@hansard/provider';
import { WriteQueue } from '../async/write-queue.ts';
import { checkUpdates } from '../intake/envelope-intake.ts';
import { RedactedAppends } from '../redaction/redacted-appends.ts';
import type { AcceptedEvents, WriterOptions } from './dispatch.ts';
import type { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';
import { TitleFinder } from './title-finder.ts';

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
  readonly #titles = new TitleFinder();
  /** Null: nothing is redacted. */
  readonly #redacted: RedactedAppends | null;
  /** The lists that `check` returned, each with the fidelity at which its events were taken. */
  readonly #checked = new WeakMap<readonly NewEvent[], Fidelity>();

  /** `log` has the envelope as it is now. */
  constructor(
    context: StoreContext,
    stored: ProviderDispatch,
    log: { readonly envelope: DispatchEnvelope },
    options: WriterOptions,
  ) {
    this.#context = context;
    this.#stored = stored;
    this.#log = log;
    this.#options = options;
    const { redaction } = context;
    this.#redacted =
      redaction === null || options.redact === false ? null : new RedactedAppends(stored, redaction.redactor);
    this.#writes = new WriteQueue(options.haltsOnFailure === true);
  }

  check(events: readonly NewEvent[]): readonly CapturedEvent[] {
    const checked = events.map((event) => this.#take(event));
    this.#checked.set(checked, this.#fidelity);
    return checked;
  }

  /** @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL */
  recordOne(event: NewEvent): { readonly event: CapturedEvent; readonly recorded: Promise<void> | null } {
    const taken = this.#take(event);
    const recorded = this.#write(
      [taken],
      () => (this.#redacted === null ? this.#stored.appendEvent(taken) : this.#redacted.appendOne(taken)),
      () => this.#publish(taken),
    );
    return { event: taken, recorded };
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
      () => {
        for (const event of taken) this.#publish(event);
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
    const titled = this.#withTitle(updates);
    const checked = redaction?.envelope(redaction.checked(titled, checkUpdates)) ?? checkUpdates(titled);
    const narrows = checked.fidelity === 'narrative' ? 1 : 0;
    let updated = this.#log.envelope;
    this.#narrowing += narrows;
    try {
      const recorded = this.#writes.run(
        () => this.#stored.update(checked),
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

  /** A dispatch without a title receives the one that its events have. An import also takes over one that the session was given. */
  #withTitle(updates: EnvelopeUpdates): EnvelopeUpdates {
    const { title, isGiven } = this.#titles;
    const { envelope } = this.#log;
    const isWanted = envelope.title === null || (envelope.source !== null && isGiven);
    if (title === null || !isWanted || updates.title !== undefined || title === envelope.title)
      return updates;
    return { ...updates, title };
  }

  #publish(event: CapturedEvent): void {
    this.#titles.observe(event);
    this.#context.notifiers.notify(this.#stored);
    const { taskDir } = this.#stored;
    this.#options.communication?.eventRecorded({ taskDir, envelope: this.#log.envelope, event });
  }
}

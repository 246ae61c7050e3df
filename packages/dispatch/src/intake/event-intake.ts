import {
  type CapturedEvent,
  type EventDataSchemas,
  eventDataSchemas,
  type IdSource,
  inLineOrder,
  isUsualEvent,
  type NewEvent,
  parseEvent,
  toTimestamp,
} from '@hansard/events';
import type { Clock } from '@hansard/provider';
import type { StoreRedaction } from '../redaction/store-redaction.ts';
import { copyJson, ownPlainJson, ownValues } from './copy-json.ts';

export interface EventIntakeOptions {
  readonly clock: Clock;
  readonly createId: IdSource;
  readonly schemas: EventDataSchemas | undefined;
  /** Null: nothing is redacted. */
  readonly redaction: StoreRedaction | null;
}

/** How an event without an id or a time gets one. */
export interface EventMinting {
  readonly createId?: IdSource | undefined;
  /** `false`: the event is not redacted. */
  readonly redact?: boolean;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** Prepares every event that is recorded: mints an absent id and time, checks, copies and redacts. */
export class EventIntake {
  readonly #clock: Clock;
  readonly #createId: IdSource;
  readonly #schemas: EventDataSchemas;
  readonly #redaction: StoreRedaction | null;

  constructor({ clock, createId, schemas, redaction }: EventIntakeOptions) {
    this.#clock = clock;
    this.#createId = createId;
    this.#schemas = schemas === undefined ? eventDataSchemas : { ...schemas, ...eventDataSchemas };
    this.#redaction = redaction;
  }

  /**
   * `minting` mints an absent id and time. Absent: as the store does.
   * @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL
   */
  take(event: NewEvent, minting: EventMinting = {}): CapturedEvent {
    if (this.#redaction === null || minting.redact === false) return this.#own(this.#mint(event, minting));
    const captured = this.#redaction.checked(event, (given) => this.#own(this.#mint(given, minting)));
    const redacted = this.#redaction.event(captured);
    return redacted === captured ? captured : copyJson(parseEvent(redacted, this.#schemas));
  }

  /** The event with values of its own. Nearly all events take the fast path; the full check throws the errors. */
  #own(minted: unknown): CapturedEvent {
    const isUsual =
      typeof minted === 'object' &&
      minted !== null &&
      ownPlainJson(minted) &&
      isUsualEvent(minted, this.#schemas);
    return isUsual ? (minted as CapturedEvent) : ownValues(parseEvent(minted, this.#schemas));
  }

  /** Returns a new object, or a value that is not an object unchanged. */
  #mint(event: NewEvent, { createId = this.#createId, now }: EventMinting): unknown {
    if (typeof event !== 'object' || event === null) return event;
    return inLineOrder({
      ...event,
      id: event.id ?? createId(),
      timestamp: event.timestamp ?? toTimestamp(now === undefined ? this.#clock.now() : now()),
    });
  }
}

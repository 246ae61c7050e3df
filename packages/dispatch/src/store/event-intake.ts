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
import type { Clock } from '../async/clock.ts';
import { copyJson, ownPlainJson, ownValues } from './copy-json.ts';

export interface EventIntakeOptions {
  readonly clock: Clock;
  readonly createId: IdSource;
  readonly schemas: EventDataSchemas | undefined;
  readonly redact: ((event: CapturedEvent) => CapturedEvent) | undefined;
}

/** What every event passes on its way into a store: mint what is absent, check, copy, redact. */
export class EventIntake {
  readonly #clock: Clock;
  readonly #createId: IdSource;
  readonly #schemas: EventDataSchemas;
  readonly #redact: EventIntakeOptions['redact'];

  constructor({ clock, createId, schemas, redact }: EventIntakeOptions) {
    this.#clock = clock;
    this.#createId = createId;
    this.#schemas = schemas === undefined ? eventDataSchemas : { ...schemas, ...eventDataSchemas };
    this.#redact = redact;
  }

  /**
   * `now` gives the time of an event that has none; absent: the clock.
   * @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL
   */
  take(event: NewEvent, now?: () => number): CapturedEvent {
    const captured = this.#own(this.#mint(event, now));
    if (this.#redact === undefined) return captured;
    return copyJson(parseEvent(this.#redact(captured), this.#schemas));
  }

  /** The event with values of its own. The quick way is for what nearly all of them are; the other one has the errors. */
  #own(minted: unknown): CapturedEvent {
    const isUsual =
      typeof minted === 'object' &&
      minted !== null &&
      ownPlainJson(minted) &&
      isUsualEvent(minted, this.#schemas);
    return isUsual ? (minted as CapturedEvent) : ownValues(parseEvent(minted, this.#schemas));
  }

  /** A new object, or what is no event at all as it is. */
  #mint(event: NewEvent, now?: () => number): unknown {
    if (typeof event !== 'object' || event === null) return event;
    return inLineOrder({
      ...event,
      id: event.id ?? this.#createId(),
      timestamp: event.timestamp ?? toTimestamp(now === undefined ? this.#clock.now() : now()),
    });
  }
}

import {
  type CapturedEvent,
  type Diagnostic,
  didYouMean,
  type EventDataSchemas,
  type EventType,
  eventDataSchemas,
  type IdSource,
  inLineOrder,
  isTypeOfProgram,
  isUsualEvent,
  type NewEvent,
  narrowWith,
  parseEvent,
  toNarrative,
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
  readonly onDiagnostic: (diagnostic: EventDiagnostic) => void;
}

/** Something unusual in what a program records. `unknown_type`: a type that does not exist, in a category of Hansard. */
export type EventDiagnostic = Diagnostic<'unknown_type'>;

/** How an event is recorded that lacks an id, a time or a type of Hansard. */
export interface EventMinting {
  readonly createId?: IdSource | undefined;
  /** `false`: the event is not redacted. */
  readonly redact?: boolean;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** The events come from a mapping: a type that does not exist is the engine's, and its narrative has only short fields. */
  readonly isMapped?: boolean;
}

const ownCategories: ReadonlySet<string> = new Set(['agent', 'user', 'session', 'harness']);

/** Prepares every event that is recorded: mints an absent id and time, checks, copies and redacts. */
export class EventIntake {
  readonly #clock: Clock;
  readonly #createId: IdSource;
  readonly #schemas: EventDataSchemas;
  readonly #redaction: StoreRedaction | null;
  readonly #onDiagnostic: (diagnostic: EventDiagnostic) => void;
  readonly #narrow: (event: CapturedEvent) => CapturedEvent;
  /** The types that were reported. */
  readonly #reported = new Set<string>();

  constructor({ clock, createId, schemas, redaction, onDiagnostic }: EventIntakeOptions) {
    this.#clock = clock;
    this.#createId = createId;
    this.#schemas = schemas === undefined ? eventDataSchemas : { ...schemas, ...eventDataSchemas };
    this.#redaction = redaction;
    this.#onDiagnostic = onDiagnostic;
    this.#narrow = narrowWith(this.#schemas);
  }

  /**
   * `minting` mints an absent id and time. Absent: as the store does.
   * @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL
   */
  take(event: NewEvent, minting: EventMinting = {}): CapturedEvent {
    const taken = this.#take(event, minting);
    if (!Object.hasOwn(this.#schemas, taken.type) && minting.isMapped !== true) this.#report(taken.type);
    return taken;
  }

  /** The event for a dispatch of `narrative` fidelity. */
  narrowed(event: CapturedEvent, { isMapped = false }: EventMinting = {}): CapturedEvent {
    return isMapped ? toNarrative(event) : this.#narrow(event);
  }

  #take(event: NewEvent, minting: EventMinting): CapturedEvent {
    if (this.#redaction === null || minting.redact === false) return this.#own(this.#mint(event, minting));
    const captured = this.#redaction.checked(event, (given) => this.#own(this.#mint(given, minting)));
    const redacted = this.#redaction.event(captured);
    return redacted === captured ? captured : copyJson(parseEvent(redacted, this.#schemas));
  }

  /** Reports a type once. */
  #report(type: EventType): void {
    const category = type.slice(0, type.indexOf(':'));
    if (!ownCategories.has(category) || this.#reported.has(type) || !isTypeOfProgram(type)) return;
    this.#reported.add(type);
    const prefix = `${category}:`;
    const action = type.slice(prefix.length);
    const actions = Object.keys(this.#schemas).flatMap((known) =>
      known.startsWith(prefix) ? [known.slice(prefix.length)] : [],
    );
    const meant = didYouMean(action, actions);
    const hint = meant === undefined ? '' : ` Did you mean ${prefix}${meant}?`;
    this.#onDiagnostic({
      code: 'unknown_type',
      message: `${type} is not an event type of Hansard. It is recorded as it is, and views do not read it.${hint} Use a category of your own for types of your own, such as my_app:${action}.`,
    });
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
    const id = event.id ?? createId();
    const timestamp = event.timestamp ?? toTimestamp(now === undefined ? this.#clock.now() : now());
    return usualLine(event, id, timestamp) ?? inLineOrder({ ...event, id, timestamp });
  }
}

/** The event with its keys in the order of the line, if it has only those of most events. Null: it has others. */
function usualLine(event: NewEvent, id: string, timestamp: string): CapturedEvent | null {
  let [type, agentId, data]: unknown[] = [];
  for (const key in event) {
    if (!Object.hasOwn(event, key)) return null;
    if (key === 'type') type = event.type;
    else if (key === 'data') data = event.data;
    else if (key === 'agentId') agentId = event.agentId;
    else if (key !== 'id' && key !== 'timestamp') return null;
  }
  if (data === undefined) return null;
  const line = agentId === undefined ? { id, type, timestamp, data } : { id, type, timestamp, agentId, data };
  return line as CapturedEvent;
}

import {
  type CapturedEvent,
  type Diagnostic,
  didYouMean,
  type EventDataSchemas,
  type EventType,
  eventDataSchemas,
  type Fidelity,
  type IdSource,
  inLineOrder,
  isEventType,
  isId,
  isTimestamp,
  isTypeOfProgram,
  isUsualEvent,
  type NewEvent,
  narrowWith,
  parseEvent,
  quickCheckOf,
  separateContent,
  toNarrative,
  toTimestamp,
} from '@hansard/events';
import type { Clock } from '@hansard/provider';
import type { StoreRedaction } from '../redaction/store-redaction.ts';
import { copyJson, copyPlainJson, ownPlainJson, ownValues } from './copy-json.ts';

export interface EventIntakeOptions {
  readonly clock: Clock;
  readonly createId: IdSource;
  /** Whether `createId` is known to return valid ids, as those of `createIdSource` are. */
  readonly isOwnIds?: boolean;
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

/** Whether the data of an event, which holds only JSON, is known to be valid. */
type DataCheck = (data: unknown) => boolean;

const anyObject: DataCheck = () => true;
/** The length of a time whose year has four digits. Every such time is valid if it was minted. */
const timeLength = '2026-03-01T09:30:00.000Z'.length;
const ownCategories: ReadonlySet<string> = new Set(['agent', 'user', 'session', 'harness']);

/** Prepares every event that is recorded: mints an absent id and time, checks, copies and redacts. */
export class EventIntake {
  readonly #clock: Clock;
  readonly #createId: IdSource;
  readonly #isOwnIds: boolean;
  readonly #schemas: EventDataSchemas;
  /** The checks of the types that have a schema, as far as they were needed. */
  readonly #checks = new Map<unknown, DataCheck>();
  readonly #redaction: StoreRedaction | null;
  readonly #onDiagnostic: (diagnostic: EventDiagnostic) => void;
  readonly #narrow: (event: CapturedEvent) => CapturedEvent;
  readonly #contents = new WeakMap<CapturedEvent, readonly CapturedEvent[]>();
  /** Whether bytes were moved out of an event so far: see `contentsOf`. */
  hasContents = false;
  /** The types that were reported. */
  readonly #reported = new Set<string>();

  constructor({ clock, createId, isOwnIds = false, schemas, redaction, onDiagnostic }: EventIntakeOptions) {
    this.#clock = clock;
    this.#createId = createId;
    this.#isOwnIds = isOwnIds;
    this.#schemas = schemas === undefined ? eventDataSchemas : { ...schemas, ...eventDataSchemas };
    this.#redaction = redaction;
    this.#onDiagnostic = onDiagnostic;
    this.#narrow = narrowWith(this.#schemas);
  }

  /**
   * The event as it is recorded at `fidelity`. `minting` mints an absent id and time. Absent: as the store does.
   * @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL
   */
  take(event: NewEvent, minting: EventMinting = {}, fidelity: Fidelity = 'full'): CapturedEvent {
    const isRedacted = this.#redaction !== null && minting.redact !== false;
    const captured = isRedacted ? this.#checkedWithout(event, minting) : this.#captured(event, minting);
    const { event: separated, contents } = separateContent(captured);
    const taken = isRedacted ? this.#redacted(separated) : separated;
    if (contents.length > 0) {
      this.#contents.set(taken, contents as readonly CapturedEvent[]);
      this.hasContents = true;
    }
    if (!this.#checks.has(taken.type) && minting.isMapped !== true) this.#reportUnknown(taken.type);
    if (fidelity === 'full') return taken;
    if (contents.length > 0) return this.narrowed(taken, minting);
    return minting.isMapped === true ? toNarrative(taken) : this.#narrow(taken);
  }

  /** A taken event as a narrative records it: the same object if nothing is left out. */
  narrowed(taken: CapturedEvent, { isMapped }: EventMinting): CapturedEvent {
    const narrowed = isMapped === true ? toNarrative(taken) : this.#narrow(taken);
    const contents = this.contentsOf(taken);
    if (contents.length > 0) this.#contents.set(narrowed, contents.map(toNarrative));
    return narrowed;
  }

  /** The bytes that were moved out of an event when it was taken, as whole events: see `separateContent`. */
  contentsOf(taken: CapturedEvent): readonly CapturedEvent[] {
    return this.#contents.get(taken) ?? [];
  }

  /** The event, whose errors show no secret. */
  #checkedWithout(event: NewEvent, minting: EventMinting): CapturedEvent {
    return (this.#redaction as StoreRedaction).checked(event, (given) => this.#captured(given, minting));
  }

  #redacted(captured: CapturedEvent): CapturedEvent {
    const redacted = (this.#redaction as StoreRedaction).event(captured);
    return redacted === captured ? captured : copyJson(parseEvent(redacted, this.#schemas));
  }

  /** Reports a type that does not exist, once. */
  #reportUnknown(type: EventType): void {
    if (Object.hasOwn(this.#schemas, type)) return;
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

  /** A new object, with an id and a time or null, whose values were checked. */
  #captured(event: NewEvent, { createId = this.#createId, now }: EventMinting): CapturedEvent {
    if (typeof event !== 'object' || event === null) return this.#own(event);
    const [givenId, givenTime] = [event.id, event.timestamp];
    const id = givenId ?? createId();
    const timestamp =
      givenTime === undefined ? toTimestamp(now === undefined ? this.#clock.now() : now()) : givenTime;
    const isOwnId = givenId === undefined && this.#isOwnIds && createId === this.#createId;
    const isOwnTime = givenTime === undefined && timestamp?.length === timeLength;
    const isUsual = (isOwnId || isId(id)) && (isOwnTime || timestamp === null || isTimestamp(timestamp));
    return (
      (isUsual ? this.#usual(event, id, timestamp) : null) ??
      this.#own(inLineOrder({ ...event, id, timestamp }))
    );
  }

  /**
   * Nearly all events: no key but those of most events. Each value is read once, so that the checked value is
   * the one that is kept. Null: the full check decides.
   */
  #usual(event: NewEvent, id: string, timestamp: string | null): CapturedEvent | null {
    let [type, agentId, messageId, cause, data]: unknown[] = [];
    for (const key in event) {
      if (!Object.hasOwn(event, key)) return null;
      if (key === 'type') type = event.type;
      else if (key === 'data') data = event.data;
      else if (key === 'agentId') agentId = event.agentId;
      else if (key === 'messageId') messageId = event.messageId;
      else if (key === 'cause') cause = event.cause;
      else if (key !== 'id' && key !== 'timestamp') return null;
    }
    const isValid = this.#checks.get(type) ?? this.#checkOf(type);
    if (isValid === null || (agentId !== undefined && !isId(agentId))) return null;
    if (messageId !== undefined && messageId !== id && !isId(messageId)) return null;
    if (cause !== undefined && !isId(cause)) return null;
    const own = copyPlainJson(data);
    if (own === null || !isValid(own)) return null;
    if (messageId !== undefined || cause !== undefined)
      return linkedLine({ id, type, timestamp, data: own }, agentId, messageId, cause);
    const line =
      agentId === undefined
        ? { id, type, timestamp, data: own }
        : { id, type, timestamp, agentId, data: own };
    return line as CapturedEvent;
  }

  /** Null: nothing can have this type. */
  #checkOf(type: unknown): DataCheck | null {
    if (!isEventType(type)) return null;
    const schema = Object.hasOwn(this.#schemas, type) ? this.#schemas[type] : undefined;
    if (schema === undefined) return anyObject;
    const check = quickCheckOf(schema);
    this.#checks.set(type, check);
    return check;
  }

  /** The event with values of its own. The full check throws the errors. */
  #own(minted: unknown): CapturedEvent {
    const isUsual =
      typeof minted === 'object' &&
      minted !== null &&
      ownPlainJson(minted) &&
      isUsualEvent(minted, this.#schemas);
    return isUsual ? (minted as CapturedEvent) : ownValues(parseEvent(minted, this.#schemas));
  }
}

/** An event of a message, or with a cause, whose keys are in the order of the line. */
function linkedLine(
  { id, type, timestamp, data }: Readonly<Record<'id' | 'type' | 'timestamp' | 'data', unknown>>,
  agentId: unknown,
  messageId: unknown,
  cause: unknown,
): CapturedEvent {
  const line: Record<string, unknown> = { id, type, timestamp };
  if (agentId !== undefined) line.agentId = agentId;
  if (messageId !== undefined) line.messageId = messageId;
  if (cause !== undefined) line.cause = cause;
  line.data = data;
  return line as unknown as CapturedEvent;
}

import {
  type CapturedEvent,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type EventError,
  eventErrors,
  isPlainObject,
  type JsonValue,
  type TaskRecord,
} from '@hansard/events';
import type { AgentInfo, Awaitable } from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';

/** What removes secrets, or a function that loads it before the first write. */
export type RedactorSource = Redactor | (() => Awaitable<Redactor>);

/** Deeper values stay in the error that refuses them, which does not show them. */
const deepest = 50;

/** Removes secrets from everything that an open store records or publishes. */
export class StoreRedaction {
  readonly #source: RedactorSource;
  #redactor: Redactor | null;

  constructor(source: RedactorSource) {
    this.#source = source;
    this.#redactor = typeof source === 'function' ? null : source;
  }

  /** Resolves when the redactor is loaded. Everything that writes waits for it first. */
  async ready(): Promise<void> {
    if (this.#redactor === null && typeof this.#source === 'function') this.#redactor = await this.#source();
  }

  get redactor(): Redactor {
    if (this.#redactor === null) throw new Error('a write began before the redactor was loaded');
    return this.#redactor;
  }

  event(event: CapturedEvent): CapturedEvent {
    return this.redactor.event(event);
  }

  /** Every text of an envelope, or of a change to one, except ids, times and choices. */
  envelope<T extends DispatchEnvelope | EnvelopeUpdates>(envelope: T): T {
    return this.redactor.envelope(envelope).value;
  }

  /** The agents that a session announces. */
  agents(agents: readonly AgentInfo[]): readonly AgentInfo[] {
    return this.redactor.value(agents as unknown as JsonValue).value as unknown as readonly AgentInfo[];
  }

  /** Every text of a task record, except its slug and time. */
  task(task: TaskRecord): TaskRecord {
    return this.redactor.task(task).value;
  }

  /**
   * What `check` returns for a value. The error that refuses one quotes it, also in part, so it is made again for the value
   * without secrets. What is not plain data cannot be cleaned: secrets in such an error are replaced in its message.
   */
  checked<I, T>(value: I, check: (value: I) => T): T {
    try {
      return check(value);
    } catch (error) {
      if (!eventErrors.is(error)) throw error;
      const cleaning = new Cleaning(this.redactor);
      throw this.#withoutSecrets(error, cleaning, () => check(cleaning.clean(value) as I));
    }
  }

  #withoutSecrets(error: EventError, cleaning: Cleaning, again: () => unknown): unknown {
    try {
      again();
    } catch (shown) {
      if (!eventErrors.is(shown)) return notShown(error);
      const { text } = this.redactor.text(shown.message);
      if (text !== shown.message) return eventErrors.error(shown.code, text);
      // A quotation that is cut can end within a secret.
      return cleaning.isWhole || !shown.message.includes('…') ? shown : notShown(error);
    }
    return notShown(error);
  }
}

/** Makes copies without secrets. */
class Cleaning {
  readonly #redactor: Redactor;
  #isWhole = true;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Whether every value was cleaned. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** A copy of anything: what is not plain data stays. */
  clean(value: unknown, above: ReadonlySet<unknown> = new Set()): unknown {
    if (typeof value === 'string') return this.#redactor.text(value).text;
    if (typeof value === 'symbol' || typeof value === 'function') this.#isWhole = false;
    if (typeof value !== 'object' || value === null) return value;
    const isList = Array.isArray(value);
    if (above.has(value) || above.size > deepest || !(isList || isPlainObject(value))) {
      this.#isWhole = false;
      return value;
    }
    const within = new Set(above).add(value);
    if (isList) return value.map((item) => this.clean(item, within));
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        this.#redactor.text(key).text,
        typeof one === 'string'
          ? Object.values(this.#redactor.value({ [key]: one }).value)[0]
          : this.clean(one, within),
      ]),
    );
  }
}

function notShown({ code }: EventError): EventError {
  return eventErrors.error(code, 'A value is refused, and its redacted form would not be: it is not shown.');
}

import type { CapturedEvent } from '@hansard/events';
import { type Awaitable, storeErrors } from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import { isPromise } from '../async/is-promise.ts';
import type { PositionedEvent } from '../store/dispatch-log.ts';
import type { ProviderDispatch } from '../store/provider-dispatch.ts';

/**
 * Appends to a dispatch whose events are redacted. An event whose stored form differs only in what was redacted is stored
 * already: a log that is imported again under newer patterns has no conflict.
 */
export class RedactedAppends {
  readonly #stored: ProviderDispatch;
  readonly #redactor: Redactor;
  /** The stored events in which something is or would be redacted, by their ids. Null: no append had a conflict. */
  #redacted: ReadonlyMap<string, PositionedEvent> | null = null;

  constructor(stored: ProviderDispatch, redactor: Redactor) {
    this.#stored = stored;
    this.#redactor = redactor;
  }

  /** Returns the position of the event. */
  appendOne(event: CapturedEvent): Awaitable<number> {
    const again = async (error: unknown) => {
      const [position] = await this.#again([event], error);
      return position as number;
    };
    return orElse(() => this.#stored.appendEvent(event), again);
  }

  /** Returns the position of each event. */
  append(events: readonly CapturedEvent[]): Awaitable<readonly number[]> {
    return orElse(
      () => this.#stored.appendEvents(events),
      (error) => this.#again(events, error),
    );
  }

  async #again(events: readonly CapturedEvent[], conflict: unknown): Promise<readonly number[]> {
    if (!storeErrors.is(conflict, 'STORE_EVENT_CONFLICT')) throw conflict;
    const { differsInSecretsOnly } = await import('@hansard/redaction');
    this.#redacted ??= await this.#findRedacted();
    const known = events.map((event) => {
      const stored = this.#redacted?.get(event.id);
      return stored !== undefined && differsInSecretsOnly(stored.event, event, this.#redactor)
        ? stored.position
        : null;
    });
    const missing = events.filter((_, index) => known[index] === null);
    if (missing.length === events.length) throw conflict;
    const added = missing.length > 0 ? await this.#stored.appendEvents(missing) : [];
    let next = 0;
    return known.map((position) => position ?? (added[next++] as number));
  }

  async #findRedacted(): Promise<ReadonlyMap<string, PositionedEvent>> {
    const found = new Map<string, PositionedEvent>();
    for (let after = -1; ; ) {
      const { events, first, next } = await this.#stored.readPage({ after });
      if (events.length === 0) return found;
      for (const [index, event] of events.entries())
        if (JSON.stringify(event.data).includes('[REDACTED:') || this.#redactor.event(event) !== event)
          found.set(event.id, { position: first + index, event });
      after = next;
    }
  }
}

/** The answer of a call, or that of `again` if the call fails. A synchronous answer stays synchronous. */
function orElse<T>(call: () => Awaitable<T>, again: (error: unknown) => Promise<T>): Awaitable<T> {
  try {
    const answer = call();
    return isPromise(answer) ? answer.catch(again) : answer;
  } catch (error) {
    return again(error);
  }
}

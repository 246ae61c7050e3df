import type { CapturedEvent } from '@hansard/events';
import { type Awaitable, isStoreError } from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import { isPromise } from '../async/is-promise.ts';
import type { ProviderDispatch } from '../store/provider-dispatch.ts';

/**
 * Appends to a dispatch whose events are redacted. An event whose stored form differs only in what was redacted is stored
 * already: a log that is imported again under newer patterns has no conflict.
 */
export class RedactedAppends {
  readonly #stored: ProviderDispatch;
  readonly #redactor: Redactor;
  /** The stored events in which something is or would be redacted, by their ids. Null: no append had a conflict. */
  #redacted: ReadonlyMap<string, CapturedEvent> | null = null;

  constructor(stored: ProviderDispatch, redactor: Redactor) {
    this.#stored = stored;
    this.#redactor = redactor;
  }

  append(events: readonly CapturedEvent[]): Awaitable<void> {
    const [first] = events;
    try {
      // A store can append one event at less cost than a batch.
      const answer =
        events.length === 1 && first !== undefined
          ? this.#stored.appendEvent(first)
          : this.#stored.appendEvents(events);
      return isPromise(answer) ? answer.catch((error: unknown) => this.#again(events, error)) : answer;
    } catch (error) {
      return this.#again(events, error);
    }
  }

  async #again(events: readonly CapturedEvent[], conflict: unknown): Promise<void> {
    if (!isStoreError(conflict, 'STORE_EVENT_CONFLICT')) throw conflict;
    const { differsInSecretsOnly } = await import('@hansard/redaction');
    this.#redacted ??= await this.#findRedacted();
    const missing = events.filter((event) => {
      const stored = this.#redacted?.get(event.id);
      return stored === undefined || !differsInSecretsOnly(stored, event, this.#redactor);
    });
    if (missing.length === events.length) throw conflict;
    if (missing.length > 0) await this.#stored.appendEvents(missing);
  }

  async #findRedacted(): Promise<ReadonlyMap<string, CapturedEvent>> {
    const found = new Map<string, CapturedEvent>();
    for (let after = -1; ; ) {
      const { events, next } = await this.#stored.readPage({ after });
      if (events.length === 0) return found;
      for (const event of events)
        if (JSON.stringify(event.data).includes('[REDACTED:') || this.#redactor.event(event) !== event)
          found.set(event.id, event);
      after = next;
    }
  }
}

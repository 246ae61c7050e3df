import type { CapturedEvent } from '@hansard/events';
import { type Awaitable, storeErrors } from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import type { ProviderDispatch } from '../store/provider-dispatch.ts';

/** Appends events and returns the position of each. */
interface Appends {
  append(events: readonly CapturedEvent[]): Awaitable<readonly number[]>;
}

/**
 * Appends to a dispatch that may have contents whose bytes were redacted. A content with the digest of a stored one is stored already,
 * also if its bytes are gone: an import of the same source does not bring them back.
 */
export class ContentAppends implements Appends {
  readonly #stored: ProviderDispatch;
  readonly #appends: Appends;
  /** The positions of the stored contents through `#searched`. */
  readonly #found = new Map<string, number>();
  #searched = -1;

  constructor(stored: ProviderDispatch, appends: Appends) {
    this.#stored = stored;
    this.#appends = appends;
  }

  append(events: readonly CapturedEvent[]): Awaitable<readonly number[]> {
    try {
      const positions = this.#appends.append(events);
      return isPromise(positions) ? positions.catch((error) => this.#again(events, error)) : positions;
    } catch (error) {
      return this.#again(events, error);
    }
  }

  async #again(events: readonly CapturedEvent[], conflict: unknown): Promise<readonly number[]> {
    if (!events.some(isContent) || !storeErrors.is(conflict, 'STORE_EVENT_CONFLICT')) throw conflict;
    const known = await this.#find();
    const missing = events.filter((event) => !isContent(event) || !known.has(event.id));
    if (missing.length === events.length) throw conflict;
    const added = missing.length > 0 ? await this.#appends.append(missing) : [];
    let next = 0;
    return events.map((event) => {
      const position = isContent(event) ? known.get(event.id) : undefined;
      return position ?? (added[next++] as number);
    });
  }

  /** The positions of all stored contents. */
  async #find(): Promise<ReadonlyMap<string, number>> {
    for (;;) {
      const { events, first, next } = await this.#stored.readPage({ after: this.#searched });
      if (events.length === 0) return this.#found;
      for (const [index, event] of events.entries())
        if (isContent(event) && event.data.sha256 === event.id) this.#found.set(event.id, first + index);
      this.#searched = next;
    }
  }
}

function isContent({ type }: CapturedEvent): boolean {
  return type === 'content:stored';
}

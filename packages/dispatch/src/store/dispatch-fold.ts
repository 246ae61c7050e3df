import type { DispatchEnvelope, FoldedLog } from '@hansard/events';
import { createDispatchFacts, type DispatchFacts, isPricedBy, type PriceTable } from '@hansard/facts';
import { type EventPage, storeErrors } from '@hansard/provider';
import type { ProviderDispatch } from './provider-dispatch.ts';

/**
 * The facts of a dispatch that is written. Its writer counts what it appends. They count an event once, however often programs append
 * the event:
 *
 * 1. The facts continue what the envelope has counted, through the position that it names.
 * 2. An event counts if its position is the next one. A smaller one is counted already.
 * 3. A greater one means that the log has events between, which another writer appended. They count when somebody reads them, or at
 *    the latest when an ending needs the figures.
 * 4. If the log has another event at the position that the envelope names, events were lost, and all count anew.
 */
export class DispatchFold {
  readonly #stored: ProviderDispatch;
  readonly #prices: PriceTable | null | undefined;
  /** Set here only. */
  facts: DispatchFacts;
  /** What the envelope has counted, until the log is known to be the same one. */
  #before: FoldedLog | null;
  /** Whether the log has nothing that is not counted, but what this object appends. */
  #isComplete: boolean;

  /**
   * `isBegun`: the log is empty. Without `prices`, estimates of the envelope stay. Other ones than the envelope names count the
   * log anew.
   */
  constructor(
    stored: ProviderDispatch,
    envelope: DispatchEnvelope,
    { isBegun, prices }: { readonly isBegun: boolean; readonly prices: PriceTable | null | undefined },
  ) {
    this.#stored = stored;
    this.#prices = prices;
    this.#isComplete = isBegun;
    this.#before = isPricedBy(envelope, prices) ? envelope.folded : null;
    this.facts = createDispatchFacts(this.#before === null ? { prices } : { prices, before: envelope });
  }

  /** Counts what the log has beside. Nobody appends meanwhile. Null: nothing had to be read. */
  readRest(): Promise<void> | null {
    return this.#isComplete ? null : this.#readRest();
  }

  /** A page that this opening has read from the log. */
  noteRead({ events, first }: Pick<EventPage, 'events' | 'first'>): void {
    if (this.#isComplete) return;
    if (this.#before !== null) {
      const { through, eventId } = this.#before;
      const last = events[through - first];
      if (last !== undefined) this.#verify(last.id === eventId);
    }
    for (const [index, event] of events.entries()) this.facts.observe(event, first + index);
    this.#isComplete = events.length === 0 && this.#before === null && first === this.facts.through + 1;
  }

  async #readRest(): Promise<void> {
    if (this.#before !== null) this.#verify(await this.#hasStill(this.#before));
    while (!this.#isComplete) this.noteRead(await this.#stored.readPage({ after: this.facts.through }));
  }

  /** Ends the doubt about what the envelope has counted. */
  #verify(isSameLog: boolean): void {
    this.#before = null;
    if (!isSameLog) this.facts = createDispatchFacts({ prices: this.#prices });
  }

  /** Whether the log still has the last event that was counted, at its place. */
  async #hasStill({ through, eventId }: FoldedLog): Promise<boolean> {
    try {
      const { events } = await this.#stored.readPage({ after: through - 1, limit: 1 });
      return events[0]?.id === eventId;
    } catch (error) {
      if (storeErrors.is(error, 'STORE_INVALID_CURSOR')) return false;
      throw error;
    }
  }
}

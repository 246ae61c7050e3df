import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, FoldedLog } from '@hansard/events';
import { DispatchTotals, type PriceTable } from '@hansard/facts';
import { type EventPage, isStoreError } from '@hansard/provider';
import type { LoggedTotals } from './dispatch.ts';
import type { ProviderDispatch } from './provider-dispatch.ts';

/** The most open messages that an envelope keeps. With more, the log is folded from its beginning when it is opened again. */
const mostKept = 64;

/**
 * The usage and cost of a dispatch that is written: one fold over its log. It counts an event once, however often programs append the event:
 *
 * 1. The fold continues what the envelope has counted, through the position that it names.
 * 2. An event counts if its position is the next one. A smaller one is counted already.
 * 3. A greater one means that the log has events between, which another writer appended. They count when somebody reads them, or at
 *    the latest when an ending needs the figures.
 * 4. If the log has another event at the position that the envelope names, events were lost, and all count anew.
 *
 * Invariant: every event through `#through` is counted, and none after it.
 */
export class DispatchFold {
  readonly #stored: ProviderDispatch;
  readonly #prices: PriceTable | null | undefined;
  #totals: DispatchTotals;
  #through = -1;
  #eventId: string | null = null;
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
    this.#before = isSameTable(envelope, prices) ? envelope.folded : null;
    this.#totals = this.#before === null ? new DispatchTotals(prices) : new DispatchTotals(prices, envelope);
    if (this.#before !== null) this.#through = this.#before.through;
    this.#eventId = this.#before?.eventId ?? null;
  }

  get totals(): LoggedTotals {
    return this.#totals;
  }

  /** An event that was checked and appended, and its position. */
  observe(event: CapturedEvent, position: number): void {
    this.#observe(event, position, true);
  }

  #observe(event: CapturedEvent, position: number, isChecked: boolean): void {
    if (position !== this.#through + 1) return;
    this.#totals.observe(event, isChecked);
    this.#through = position;
    this.#eventId = event.id;
  }

  /** Counts what the log has beside. Nobody appends meanwhile. Null: nothing had to be read. */
  readRest(): Promise<void> | null {
    return this.#isComplete ? null : this.#readRest();
  }

  /** For an envelope. A figure that the log does not record is absent. */
  get figures(): EnvelopeUpdates {
    const { usage, costUsd, models, periods, prices } = this.#totals;
    return {
      ...(usage === null ? {} : { usage }),
      ...(costUsd === null ? {} : { cost: costUsd }),
      ...(models === null ? {} : { models, prices }),
      ...(periods === null ? {} : { periods }),
      folded: this.#folded,
    };
  }

  get #folded(): FoldedLog | null {
    const { open, ...rest } = this.#totals.unfinished;
    if (this.#eventId === null || (open?.length ?? 0) > mostKept) return null;
    return {
      through: this.#through,
      eventId: this.#eventId,
      ...(open === undefined ? {} : { open: [...open] }),
      ...rest,
    };
  }

  /** A page that this opening has read from the log. */
  noteRead({ events, first }: Pick<EventPage, 'events' | 'first'>): void {
    if (this.#isComplete) return;
    if (this.#before !== null) {
      const { through, eventId } = this.#before;
      const last = events[through - first];
      if (last !== undefined) this.#verify(last.id === eventId);
    }
    for (const [index, event] of events.entries()) this.#observe(event, first + index, false);
    this.#isComplete = events.length === 0 && this.#before === null && first === this.#through + 1;
  }

  async #readRest(): Promise<void> {
    if (this.#before !== null) this.#verify(await this.#hasStill(this.#before));
    while (!this.#isComplete) this.noteRead(await this.#stored.readPage({ after: this.#through }));
  }

  /** Ends the doubt about what the envelope has counted. */
  #verify(isSameLog: boolean): void {
    this.#before = null;
    if (isSameLog) return;
    this.#totals = new DispatchTotals(this.#prices);
    this.#through = -1;
    this.#eventId = null;
  }

  /** Whether the log still has the last event that was counted, at its place. */
  async #hasStill({ through, eventId }: FoldedLog): Promise<boolean> {
    try {
      const { events } = await this.#stored.readPage({ after: through - 1, limit: 1 });
      return events[0]?.id === eventId;
    } catch (error) {
      if (isStoreError(error, 'STORE_INVALID_CURSOR')) return false;
      throw error;
    }
  }
}

function isSameTable({ models, prices }: DispatchEnvelope, table: PriceTable | null | undefined): boolean {
  if (table === undefined || models === null) return true;
  return prices?.name === table?.name && prices?.version === table?.version;
}

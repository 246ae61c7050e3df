import { createIdSource, type IdSource } from '@hansard/events';
import { type Clock, type DispatchStoreProvider, storeErrors, systemClock } from '@hansard/provider';
import { Notifiers } from '../async/notifier.ts';
import { assertCount } from '../check-arguments.ts';
import { type EventDiagnostic, EventIntake } from '../intake/event-intake.ts';
import { StoreRedaction } from '../redaction/store-redaction.ts';
import { LiveFeeds } from '../streams/live-feeds.ts';
import { DispatchClaims } from './dispatch-claims.ts';
import { type RetriedProvider, Retries, withRetries } from './retries.ts';
import type { StoreContext } from './store-context.ts';
import type { DispatchStoreOptions } from './store-options.ts';

/** Makes what the dispatch objects of an open store share, and closes it. */
export class OpenStoreContext implements StoreContext {
  readonly provider: RetriedProvider;
  readonly clock: Clock;
  readonly retries: Retries;
  readonly createId: IdSource;
  readonly intake: EventIntake;
  readonly redaction: StoreRedaction | null;
  readonly pollIntervalMs: number;
  readonly notifiers = new Notifiers();
  readonly feeds = new LiveFeeds();
  readonly claims = new DispatchClaims(this);
  /** Whether `close` was not called. Set here only. */
  isOpen = true;
  #isClosed = false;

  constructor(provider: DispatchStoreProvider, options: DispatchStoreOptions) {
    const { clock = systemClock, pollIntervalMs = 250, schemas, redact, onDiagnostic = warn } = options;
    const { retryMs = 30_000, retryBytes = 64 * 1_024 * 1_024, onOutage } = options;
    assertCount('retryMs', retryMs, 0);
    assertCount('retryBytes', retryBytes, 0);
    this.retries = new Retries({ clock, retryMs, retryBytes, onOutage });
    this.provider = withRetries(provider, this.retries);
    this.clock = clock;
    this.createId = options.createId ?? createIdSource({ now: clock.now.bind(clock) });
    this.redaction = redact === undefined ? null : new StoreRedaction(redact);
    const { createId, redaction } = this;
    const isOwnIds = options.createId === undefined;
    this.intake = new EventIntake({ clock, createId, isOwnIds, schemas, redaction, onDiagnostic });
    this.pollIntervalMs = pollIntervalMs;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  assertOpen(): void {
    if (!this.isOpen)
      throw storeErrors.error('STORE_CLOSED', 'The store is closed; open it again to use it.');
  }

  /** Leaves the dispatches that are open for writing and ends the followers. */
  async close(): Promise<void> {
    this.isOpen = false;
    await this.claims.leaveAll();
    this.#isClosed = true;
    this.notifiers.notifyAll();
  }
}

function warn({ message }: EventDiagnostic): void {
  process.emitWarning(message, { type: 'HansardEventWarning' });
}

import type { IdSource } from '@hansard/events';
import type { Clock } from '@hansard/provider';
import type { Notifiers } from '../async/notifier.ts';
import type { EventIntake } from '../intake/event-intake.ts';
import type { StoreRedaction } from '../redaction/store-redaction.ts';
import type { LiveFeeds } from '../streams/live-feed.ts';
import type { Dispatch, NewDispatch, WriterOptions } from './dispatch.ts';
import type { DispatchRef } from './dispatch-ref.ts';
import type { RetriedProvider, Retries } from './retries.ts';

/** What the dispatch objects of an open store share. */
export interface StoreContext {
  /** Its calls are repeated after transient errors. */
  readonly provider: RetriedProvider;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly createId: IdSource;
  readonly intake: EventIntake;
  /** Null: nothing is redacted. Every object that writes was made after it was ready. */
  readonly redaction: StoreRedaction | null;
  readonly pollIntervalMs: number;
  readonly notifiers: Notifiers;
  readonly feeds: LiveFeeds;
  readonly claims: StoreClaims;
  /** Whether followers end. While the store closes they continue: they still read the end of their dispatch. */
  readonly isClosed: boolean;
  /** Whether `close` was not called. */
  readonly isOpen: boolean;
  /** @throws STORE_CLOSED once `close` was called */
  assertOpen(): void;
}

/** What a dispatch object may do with the claims of its store. */
export interface StoreClaims {
  /** As `DispatchStore.beginDispatch`, for a `taskDir` that was checked. */
  begin(taskDir: string, dispatch: NewDispatch, options: WriterOptions): Promise<Dispatch>;
  /** Ends the claim of an object that has released or abandoned its dispatch. */
  remove(dispatch: DispatchRef): void;
}

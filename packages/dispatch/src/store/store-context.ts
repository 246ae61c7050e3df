import type { IdSource } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import type { Clock } from '../async/clock.ts';
import type { Notifiers } from '../async/notifier.ts';
import type { Dispatch, NewDispatch, WriterOptions } from './dispatch.ts';
import type { DispatchWriters } from './dispatch-writers.ts';
import type { EventIntake } from './event-intake.ts';

/** What the dispatch objects of an open store share. */
export interface StoreContext {
  readonly provider: DispatchStoreProvider;
  readonly clock: Clock;
  readonly createId: IdSource;
  readonly intake: EventIntake;
  readonly notifiers: Notifiers;
  readonly pollIntervalMs: number;
  readonly writers: DispatchWriters;
  /** As `DispatchStore.beginDispatch`, for a `taskDir` that was checked. */
  begin(taskDir: string, dispatch: NewDispatch, options: WriterOptions): Promise<Dispatch>;
  isClosed(): boolean;
  /** @throws STORE_CLOSED */
  assertOpen(): void;
}

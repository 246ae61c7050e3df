import type {
  Awaitable,
  CapturedEvent,
  DispatchEnvelope,
  EnvelopeUpdates,
  EventPage,
  ReadEventsOptions,
} from '@hansard/provider';

/**
 * What a session store needs of a Hansard store. Both what users hold (`DispatchStore` of `@hansard/dispatch`) and any
 * `DispatchStoreProvider` have it. The rules are those of `DispatchStoreProvider`.
 */
export interface SessionLog {
  createDispatch(taskDir: string, envelope: DispatchEnvelope): Awaitable<unknown>;
  /** A `DispatchStoreProvider` has both; `DispatchStore` claims and releases by itself. */
  claimDispatch?(taskDir: string, dispatchId: string): Awaitable<unknown>;
  releaseDispatch?(taskDir: string, dispatchId: string): Awaitable<void>;
  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Awaitable<unknown>;
  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): Awaitable<unknown>;
  getDispatchEnvelopes(taskDir: string): Awaitable<DispatchEnvelope[]>;
  getDispatchEnvelope(taskDir: string, dispatchId: string): Awaitable<DispatchEnvelope | null>;
  getRecentEvents(taskDir: string, dispatchId: string, count: number): Awaitable<CapturedEvent[]>;
  readEvents(taskDir: string, dispatchId: string, options?: ReadEventsOptions): Awaitable<EventPage>;
  deleteDispatch?(taskDir: string, dispatchId: string): Awaitable<void>;
}

import { createIdSource, type IdSource } from '@hansard/events';
import {
  type Awaitable,
  type ClaimState,
  type Clock,
  type DispatchClaim,
  type DispatchStoreProvider,
  type StoreError,
  storeErrors,
  systemClock,
} from '@hansard/provider';
import { Notifiers } from '../async/notifier.ts';
import { onAbort } from '../async/until-aborted.ts';
import { assertCount } from '../check-arguments.ts';
import { ownName, warn } from '../host.ts';
import { newEnvelope } from '../intake/envelope-intake.ts';
import { type EventDiagnostic, EventIntake } from '../intake/event-intake.ts';
import { StoreRedaction } from '../redaction/store-redaction.ts';
import { LiveFeeds } from '../streams/live-feed.ts';
import { ClaimedDispatch, defaultOwner } from './claimed-dispatch.ts';
import type { Dispatch, NewDispatch, WriterOptions } from './dispatch.ts';
import { type DispatchRef, dispatchKey, toDispatchRef } from './dispatch-ref.ts';
import type { WriteAccess } from './dispatch-store.ts';
import { ProviderDispatch } from './provider-dispatch.ts';
import { type RetriedProvider, Retries, withRetries } from './retries.ts';
import type { StoreClaims, StoreContext } from './store-context.ts';
import type { DispatchStoreOptions } from './store-options.ts';

interface Claim {
  readonly owner: string;
  /** Null: the dispatch is being created, claimed or deleted. */
  readonly dispatch: ClaimedDispatch | null;
}

/** The dispatches that this opening of the store writes: one object for each. */
class DispatchClaims implements StoreClaims {
  readonly #context: StoreContext;
  readonly #claims = new Map<string, Claim>();
  /** The calls of the provider that create, claim or delete a dispatch. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** @throws STORE_LOCKED, STORE_DISPATCH_EXISTS, EVENT_ENVELOPE_INVALID */
  async begin(taskDir: string, dispatch: NewDispatch, options: WriterOptions): Promise<Dispatch> {
    const { createId, clock, redaction } = this.#context;
    const toEnvelope = (begun: NewDispatch) =>
      newEnvelope(taskDir, begun, createId, options.now ?? (() => clock.now()));
    await redaction?.ready();
    const envelope = redaction?.envelope(redaction.checked(dispatch, toEnvelope)) ?? toEnvelope(dispatch);
    const stored = this.#stored({ ...envelope, taskDir });
    return this.#claim(stored, options, async () => {
      await stored.create(envelope);
      this.#context.notifiers.notify(stored);
      return new ClaimedDispatch(this.#context, stored, envelope, options, true);
    });
  }

  /** @throws STORE_LOCKED, STORE_DISPATCH_NOT_FOUND */
  async claim(dispatch: DispatchRef, options: Omit<WriteAccess, 'write'>): Promise<Dispatch> {
    const stored = this.#stored(dispatch);
    return this.#claim(stored, options, async () => {
      await this.#context.redaction?.ready();
      const { envelope } = await this.#claimStored(stored, options);
      return new ClaimedDispatch(this.#context, stored, envelope, options, false);
    });
  }

  /** Claims a dispatch of the provider. While its claim can expire within `waitMs`, waits for that and tries again. */
  async #claimStored(
    stored: ProviderDispatch,
    { waitMs = 0, onWait, signal }: Omit<WriteAccess, 'write'>,
  ): Promise<DispatchClaim> {
    const { clock } = this.#context;
    for (const until = clock.monotonic() + waitMs; ; ) {
      try {
        return await stored.claim();
      } catch (error) {
        const { expiresInMs } = storeErrors.is(error, 'STORE_LOCKED') ? error.details : {};
        if (typeof expiresInMs !== 'number' || clock.monotonic() + expiresInMs > until) throw error;
        onWait?.(error as StoreError, expiresInMs);
        if (await isAbortedWithin(clock, expiresInMs, signal)) throw error;
        this.#context.assertOpen();
      }
    }
  }

  /** Runs work of `owner` on a dispatch that no object of this opening writes meanwhile. @throws STORE_LOCKED */
  async without<T>(
    dispatch: DispatchRef,
    owner: string,
    work: (stored: ProviderDispatch) => Awaitable<T>,
  ): Promise<T> {
    this.#reserve(dispatch, owner);
    try {
      return await this.#untilDone(async () => work(this.#stored(dispatch)));
    } finally {
      this.remove(dispatch);
    }
  }

  /** The claim of an object of this opening; null if there is none. */
  stateOf(dispatch: DispatchRef): ClaimState | null {
    const claim = this.#claims.get(dispatchKey(dispatch));
    if (claim === undefined) return null;
    const owner = `${claim.owner} of this process (${ownName()})`;
    return { owner, isOwn: true, state: 'running', expiresInMs: null };
  }

  remove(dispatch: DispatchRef): void {
    this.#claims.delete(dispatchKey(dispatch));
  }

  /** Waits for the pending calls, then leaves every dispatch as leaving its scope does. */
  async leaveAll(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    const dispatches = [...this.#claims.values()].map(({ dispatch }) => dispatch);
    await Promise.all(dispatches.map((dispatch) => dispatch?.[Symbol.asyncDispose]()));
  }

  async #claim(
    stored: ProviderDispatch,
    { owner = defaultOwner }: WriterOptions,
    make: () => Promise<ClaimedDispatch>,
  ): Promise<Dispatch> {
    // Before the provider is called: a listing may show the dispatch before the provider has answered.
    this.#reserve(stored, owner);
    try {
      return await this.#untilDone(async () => {
        const dispatch = await make();
        this.#claims.set(dispatchKey(stored), { owner, dispatch });
        return dispatch;
      });
    } catch (error) {
      this.remove(stored);
      throw error;
    }
  }

  /** @throws STORE_LOCKED that names the owner */
  #reserve(dispatch: DispatchRef, owner: string): void {
    const key = dispatchKey(dispatch);
    const present = this.#claims.get(key)?.owner;
    if (present !== undefined) {
      throw storeErrors.error(
        'STORE_LOCKED',
        `The dispatch ${dispatch.dispatchId} of ${dispatch.taskDir} is being written by ${present} of this process (${ownName()}). Use that object, or end or release it first.`,
        { details: { ...toDispatchRef(dispatch), owner: present } },
      );
    }
    this.#claims.set(key, { owner, dispatch: null });
  }

  /** Keeps `leaveAll` waiting until the work is done. */
  async #untilDone<T>(work: () => Promise<T>): Promise<T> {
    const done = work();
    this.#pending.add(done);
    try {
      return await done;
    } finally {
      this.#pending.delete(done);
    }
  }

  #stored(dispatch: DispatchRef): ProviderDispatch {
    return new ProviderDispatch(this.#context.provider, dispatch);
  }
}

/** Waits for a time, but no longer than until the signal aborts. */
function isAbortedWithin(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(true);
    const forget = onAbort(signal, () => {
      cancel();
      forget();
      resolve(true);
    });
    const cancel = clock.after(ms, () => {
      forget();
      resolve(false);
    });
  });
}

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
    const { clock = systemClock, pollIntervalMs = 250, schemas, redact, onDiagnostic = warnOf } = options;
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

function warnOf({ message }: EventDiagnostic): void {
  warn(message, { type: 'HansardEventWarning' });
}

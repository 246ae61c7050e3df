import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import {
  type Awaitable,
  type ClaimState,
  type DispatchClaim,
  type DispatchRewrite,
  type DispatchRewritten,
  type DispatchStoreProvider,
  type DispatchVerification,
  type EventPage,
  type ReadEventsOptions,
  type StopWatching,
  type StoreCapabilities,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { isInbox } from '../check-arguments.ts';
import { type DispatchRef, toDispatchRef } from './dispatch-ref.ts';
import { orNotice } from './malformed-events.ts';
import type { RetriedProvider } from './retries.ts';

/** One dispatch of a provider. Every call of the provider that names a dispatch is made here. */
export class ProviderDispatch implements DispatchRef {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly #provider: RetriedProvider;
  readonly #skipDamaged: boolean;

  /** With `skipDamaged`, pages omit the damaged events, and have a notice in the place of each malformed one. */
  constructor(provider: RetriedProvider, dispatch: DispatchRef, skipDamaged = false) {
    this.taskDir = dispatch.taskDir;
    this.dispatchId = dispatch.dispatchId;
    this.#provider = provider;
    this.#skipDamaged = skipDamaged;
  }

  create(envelope: DispatchEnvelope): Awaitable<void> {
    return this.#provider.createDispatch(this.taskDir, envelope);
  }

  claim(): Awaitable<DispatchClaim> {
    return this.#provider.claimDispatch(this.taskDir, this.dispatchId);
  }

  release(): Awaitable<void> {
    return this.#provider.releaseDispatch(this.taskDir, this.dispatchId);
  }

  /** A store that answers at once answers here, without a promise or a closure: nearly every event is recorded so. */
  appendEvent(event: CapturedEvent): Awaitable<number> {
    const { unretried, retries } = this.#provider;
    let answer: Awaitable<number> | null = null;
    let failure: unknown;
    try {
      answer = unretried.appendEvent(this.taskDir, this.dispatchId, event);
      if (typeof answer === 'number' && retries.isCalm) return answer;
    } catch (error) {
      failure = error;
    }
    return this.#repeatAppend(event, answer, failure);
  }

  /** `answer` is that of the first call; null: it threw `failure`. */
  #repeatAppend(event: CapturedEvent, answer: Awaitable<number> | null, failure: unknown): Awaitable<number> {
    const { unretried, retries } = this.#provider;
    const first = () => {
      if (answer === null) throw failure;
      return answer;
    };
    const again = () => unretried.appendEvent(this.taskDir, this.dispatchId, event);
    return retries.run(first, { writes: this, again });
  }

  appendEvents(events: readonly CapturedEvent[]): Awaitable<readonly number[]> {
    return this.#provider.appendEvents(this.taskDir, this.dispatchId, events);
  }

  update(updates: EnvelopeUpdates): Awaitable<DispatchEnvelope> {
    return this.#provider.updateDispatch(this.taskDir, this.dispatchId, updates);
  }

  /** Null: there is no such dispatch. */
  findEnvelope(): Awaitable<DispatchEnvelope | null> {
    return this.#provider.getDispatchEnvelope(this.taskDir, this.dispatchId);
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  async readEnvelope(): Promise<DispatchEnvelope> {
    const envelope = await this.findEnvelope();
    if (envelope !== null) return envelope;
    throw storeErrors.error(
      'STORE_DISPATCH_NOT_FOUND',
      `There is no dispatch ${this.dispatchId} in the task ${this.taskDir}; getDispatchEnvelopes lists the dispatches of a task.`,
      { details: { ...toDispatchRef(this) } },
    );
  }

  /** `withContent`: with the bytes of `content:stored` events, which are left out otherwise. */
  readPage(options: ReadEventsOptions, withContent = false): Awaitable<EventPage> {
    const page = this.#readPage(options);
    if (withContent) return page;
    return isPromise(page) ? page.then(withoutBytesIn) : withoutBytesIn(page);
  }

  #readPage(options: ReadEventsOptions): Awaitable<EventPage> {
    return this.#skipDamaged
      ? this.#readWhole(options)
      : this.#provider.readEvents(this.taskDir, this.dispatchId, options);
  }

  async #readWhole(options: ReadEventsOptions): Promise<EventPage> {
    const all = { ...options, skipDamaged: true };
    const page = await this.#provider.readEvents(this.taskDir, this.dispatchId, all);
    return { ...page, events: page.events.map(orNotice) };
  }

  /** Page by page, so that the bytes of contents are never in memory together. */
  async readAll(): Promise<CapturedEvent[]> {
    const all: CapturedEvent[] = [];
    for (let after = -1; ; ) {
      const { events, next } = await this.readPage({ after });
      if (events.length === 0) return all;
      for (const event of events) all.push(event);
      after = next;
    }
  }

  async readRecent(count: number): Promise<CapturedEvent[]> {
    return (await this.#provider.getRecentEvents(this.taskDir, this.dispatchId, count)).map(withoutBytes);
  }

  /** Undefined: the provider cannot watch. */
  watch(onChange: () => void): Awaitable<StopWatching> | undefined {
    if (!this.#provider.capabilities.watch) return undefined;
    return this.#provider.watch?.(toDispatchRef(this), onChange);
  }

  /** @throws STORE_UNSUPPORTED */
  findClaim(): Awaitable<ClaimState | null> {
    const provider = this.#provider;
    if (provider.findClaim === undefined) throw unsupported('writers', 'use a store with `findClaim`');
    return provider.findClaim(this.taskDir, this.dispatchId);
  }

  /** @throws STORE_UNSUPPORTED */
  breakClaim(): Awaitable<void> {
    const provider = this.#provider;
    if (provider.breakClaim === undefined)
      throw unsupported('writers', 'the claims of a store with one writer end with its process');
    return provider.breakClaim(this.taskDir, this.dispatchId);
  }

  /** @throws STORE_UNSUPPORTED */
  verify(): Awaitable<DispatchVerification> {
    return this.#withIntegrity().verifyDispatch(this.taskDir, this.dispatchId);
  }

  /** @throws STORE_UNSUPPORTED */
  acceptLoss(notice: CapturedEvent): Awaitable<DispatchVerification> {
    return this.#withIntegrity().acceptLoss(this.taskDir, this.dispatchId, notice);
  }

  #withIntegrity(): Required<Pick<DispatchStoreProvider, 'verifyDispatch' | 'acceptLoss'>> {
    const provider = this.#provider;
    if (hasIntegrity(provider)) return provider;
    throw unsupported('integrity', 'use a store with checksums');
  }

  /** A letter is changed with the claim of its dispatch. */
  #assertClaimed(claim: InboxClaim | undefined): void {
    if (isInbox(this.taskDir) && claim === undefined)
      throw new TypeError(`A letter in ${this.taskDir} is changed with an InboxClaim.`);
  }

  /** @throws STORE_UNSUPPORTED */
  rewrite(rewrite: DispatchRewrite, claim?: InboxClaim): Awaitable<DispatchRewritten> {
    this.#assertClaimed(claim);
    const provider = this.#provider;
    if (!provider.capabilities.rewrite || provider.rewriteDispatch === undefined)
      throw unsupported('rewrite', 'use a store that can rewrite dispatches');
    return provider.rewriteDispatch(this.taskDir, this.dispatchId, rewrite);
  }

  /** @throws STORE_UNSUPPORTED */
  delete(claim?: InboxClaim): Awaitable<void> {
    this.#assertClaimed(claim);
    const provider = this.#provider;
    if (!provider.capabilities.deleteDispatch || provider.deleteDispatch === undefined)
      throw unsupported('deleteDispatch', 'use a store that can delete dispatches');
    return provider.deleteDispatch(this.taskDir, this.dispatchId);
  }
}

/**
 * The claim of the dispatch whose letters this opening may change, or of none, where that dispatch does not exist or is not known. Only `take` makes
 * one, and nothing rewrites or removes a letter without it.
 */
export class InboxClaim {
  readonly #provider: RetriedProvider;
  readonly #dispatch: ProviderDispatch | null;

  private constructor(provider: RetriedProvider, dispatch: ProviderDispatch | null) {
    this.#provider = provider;
    this.#dispatch = dispatch;
  }

  /** Null if the letter does not name its dispatch. @throws STORE_LOCKED, STORE_CORRUPT */
  static async take(provider: RetriedProvider, dispatch: DispatchRef | null): Promise<InboxClaim> {
    if (dispatch === null) return new InboxClaim(provider, null);
    const stored = new ProviderDispatch(provider, dispatch);
    try {
      await stored.claim();
      return new InboxClaim(provider, stored);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
      return new InboxClaim(provider, null);
    }
  }

  get isOfDispatch(): boolean {
    return this.#dispatch !== null;
  }

  rewrite(letter: DispatchRef, rewrite: DispatchRewrite): Awaitable<DispatchRewritten> {
    return new ProviderDispatch(this.#provider, letter).rewrite(rewrite, this);
  }

  /** Also where the letter is gone. */
  async delete(letter: DispatchRef): Promise<void> {
    try {
      await new ProviderDispatch(this.#provider, letter).delete(this);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
    }
  }

  async release(): Promise<void> {
    await this.#dispatch?.release();
  }
}

/** The event without the bytes of a content: nearly every event is itself. */
export function withoutBytes(event: CapturedEvent): CapturedEvent {
  if (event.type !== 'content:stored' || event.data.base64 === undefined || event.data.base64 === '')
    return event;
  const { base64: _, ...data } = event.data;
  return { ...event, data };
}

function withoutBytesIn(page: EventPage): EventPage {
  const { events } = page;
  for (let index = 0; index < events.length; index += 1)
    events[index] = withoutBytes(events[index] as CapturedEvent);
  return page;
}

function hasIntegrity(
  provider: DispatchStoreProvider,
): provider is DispatchStoreProvider &
  Required<Pick<DispatchStoreProvider, 'verifyDispatch' | 'acceptLoss'>> {
  const { capabilities, verifyDispatch, acceptLoss } = provider;
  return capabilities.integrity === 'checksum' && verifyDispatch !== undefined && acceptLoss !== undefined;
}

export function unsupported(capability: keyof StoreCapabilities, instead: string): StoreError {
  return storeErrors.error('STORE_UNSUPPORTED', `This store has no ${capability}; ${instead}.`, {
    details: { capability },
  });
}

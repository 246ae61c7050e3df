import { type CapturedEvent, type DispatchEnvelope, isSameJson } from '@hansard/events';
import {
  type Awaitable,
  type Clock,
  type DispatchStoreProvider,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { type DispatchRef, dispatchKey } from './dispatch-ref.ts';
import type { StoreOutage } from './store-options.ts';

const encoder = new TextEncoder();

const firstDelay = 50;
const longestDelay = 2_000;
/** Milliseconds without a failure after which the next one begins a new outage. */
const pause = 5_000;

/** The writes to one dispatch that fail since some time. Writes that waited for one that failed do not wait as long again. */
interface Outage {
  readonly since: number;
  latest: number;
  error: StoreError;
  /** How many calls wait to be repeated. */
  waiting: number;
}

export interface RetryLimits {
  readonly clock: Clock;
  /** How long a call is repeated, in milliseconds. 0: never. */
  readonly retryMs: number;
  /** How many bytes of events wait meanwhile, in all dispatches together. */
  readonly retryBytes: number;
  /** Receives an outage of the store, and null when it answers again. */
  readonly onOutage?: ((outage: StoreOutage | null) => void) | undefined;
}

/** How a call is repeated. */
export interface Repetition<T> {
  /** The dispatch that the call writes. Absent: the call does not wait for others. */
  readonly writes?: DispatchRef;
  /** The call, once one has failed: an earlier one may have had its effect. Absent: the same call. */
  readonly again?: () => Awaitable<T>;
}

/** Repeats the calls of a provider that fail with a transient error, with growing delays up to a limit. */
export class Retries {
  /** Whether no call to write a dispatch has failed lately. Set here only. */
  isQuiet = true;
  /** Whether the same is true, and no outage is reported. Set here only: a call that succeeds at once then changes nothing here. */
  isCalm = true;
  readonly #limits: RetryLimits;
  readonly #outages = new Map<string, Outage>();
  #waitingBytes = 0;
  /** How many calls are being repeated. */
  #repeated = 0;
  /** Whether an outage was reported, and its end was not. */
  #isAway = false;

  constructor(limits: RetryLimits) {
    this.#limits = limits;
  }

  /** A call that succeeds at once is made in the same tick, and its answer is returned as it is. */
  run<T>(call: () => Awaitable<T>, repetition: Repetition<T> = {}): Awaitable<T> {
    let answer: Awaitable<T>;
    try {
      answer = call();
    } catch (error) {
      return this.#repeat(error, call, repetition);
    }
    const { writes } = repetition;
    if (isPromise(answer))
      return answer.then(
        (value) => this.#answered(value, writes),
        (error: unknown) => this.#repeat(error, call, repetition),
      );
    if (!this.isCalm) this.#answered(answer, writes);
    return answer;
  }

  /**
   * Counts events that will wait after a call that is being repeated. Returns a function to call when they are written, or null if
   * nothing is being repeated.
   * @throws the error of that call, if too many bytes wait
   */
  keep(dispatch: DispatchRef, events: readonly CapturedEvent[]): (() => void) | null {
    if (this.#outages.size === 0) return null;
    const outage = this.#outages.get(dispatchKey(dispatch));
    if (outage === undefined || outage.waiting === 0) return null;
    const bytes = events.reduce((sum, event) => sum + encoder.encode(JSON.stringify(event)).length, 0);
    const { retryBytes } = this.#limits;
    if (this.#waitingBytes + bytes > retryBytes) {
      const { error } = outage;
      throw storeErrors.error(
        error.code,
        `${error.message} The events that wait for the store have reached the limit of ${retryBytes} bytes (retryBytes).`,
        { cause: error, details: { ...error.details, retryBytes }, isTransient: true },
      );
    }
    this.#waitingBytes += bytes;
    return () => {
      this.#waitingBytes -= bytes;
    };
  }

  async #repeat<T>(first: unknown, call: () => Awaitable<T>, repetition: Repetition<T>): Promise<T> {
    const { clock, retryMs } = this.#limits;
    const { writes, again = call } = repetition;
    // An error that is not transient is an answer, too.
    if (!isTransient(first)) this.#answered(first, writes);
    if (!isTransient(first) || retryMs === 0) throw first;
    const outage = this.#fail(writes, first);
    outage.waiting += 1;
    this.#repeated += 1;
    let isAnswered = false;
    try {
      for (let tries = 1, delay = firstDelay; ; tries += 1, delay = Math.min(2 * delay, longestDelay)) {
        const elapsed = clock.monotonic() - outage.since;
        if (elapsed >= retryMs) throw finalError(outage.error, tries, elapsed);
        await new Promise<void>((resolve) => void clock.after(Math.min(delay, retryMs - elapsed), resolve));
        try {
          const answer = await again();
          isAnswered = true;
          return answer;
        } catch (error) {
          isAnswered = !isTransient(error);
          if (!isTransient(error)) throw error;
          outage.latest = clock.monotonic();
          outage.error = error;
        }
      }
    } finally {
      outage.waiting -= 1;
      this.#repeated -= 1;
      if (isAnswered) this.#answered(null, writes);
    }
  }

  /** The outage of a dispatch to which a failure belongs. */
  #fail(writes: DispatchRef | undefined, error: StoreError): Outage {
    if (!this.#isAway) {
      this.#isAway = true;
      this.isCalm = false;
      this.#report({ error, retryMs: this.#limits.retryMs });
    }
    const now = this.#limits.clock.monotonic();
    const started: Outage = { since: now, latest: now, error, waiting: 0 };
    if (writes === undefined) return started;
    for (const [key, { waiting, latest }] of this.#outages)
      if (waiting === 0 && now - latest > pause) this.#outages.delete(key);
    const outage = this.#outages.get(dispatchKey(writes)) ?? started;
    this.#outages.set(dispatchKey(writes), outage);
    this.isQuiet = false;
    outage.latest = now;
    outage.error = error;
    return outage;
  }

  /** Ends the outage of a dispatch, and that of the store if no other call is being repeated. @returns the answer */
  #answered<A>(answer: A, writes: DispatchRef | undefined): A {
    if (writes !== undefined && this.#outages.size > 0) this.#outages.delete(dispatchKey(writes));
    if (this.#isAway && this.#repeated === 0) {
      this.#isAway = false;
      this.#report(null);
    }
    this.isQuiet = this.#outages.size === 0;
    this.isCalm = this.isQuiet && !this.#isAway;
    return answer;
  }

  #report(outage: StoreOutage | null): void {
    try {
      this.#limits.onOutage?.(outage);
    } catch {
      // The calls of the store do not depend on who listens.
    }
  }
}

/** Whether a call is repeated. Only an unavailable store is: any other error is an answer, even if the store marks it as transient. */
function isTransient(error: unknown): error is StoreError {
  return storeErrors.is(error, 'STORE_UNAVAILABLE') && error.isTransient === true;
}

function finalError(error: StoreError, tries: number, triedMs: number): StoreError {
  return storeErrors.error(
    error.code,
    `${error.message} It was tried ${tries === 1 ? 'once' : `${tries} times`}; the store has failed for ${(triedMs / 1_000).toFixed(1)} s.`,
    { cause: error.cause ?? error, details: { ...error.details, tries, triedMs }, isTransient: true },
  );
}

/** Calls that change nothing, or that have the same effect when they are made again. */
const repeatable = [
  'findClaim',
  'findClaims',
  'getDispatchEnvelopes',
  'listDispatches',
  'getDispatchEnvelope',
  'getDispatchEvents',
  'getRecentEvents',
  'readEvents',
  'putTask',
  'findTask',
  'listTasks',
  'searchEvents',
  'watch',
  'verifyDispatch',
  'getRepairs',
  'removeRemains',
  'findRemains',
  'adoptDispatches',
] as const satisfies ReadonlyArray<keyof DispatchStoreProvider>;

/** The same, for the calls that write the dispatch which their first two arguments name. */
const repeatableWrites = [
  'claimDispatch',
  'releaseDispatch',
  'updateDispatch',
  'appendEvent',
  'appendEvents',
] as const satisfies ReadonlyArray<keyof DispatchStoreProvider>;

type Method = (...args: readonly unknown[]) => unknown;

/** A provider whose calls are repeated, and the provider itself for the calls that look at the answer first. */
export interface RetriedProvider extends DispatchStoreProvider {
  readonly unretried: DispatchStoreProvider;
  readonly retries: Retries;
}

/**
 * A provider whose calls are repeated after transient errors. `breakClaim`, `acceptLoss`, `rewriteDispatch` and `close` are not: a claim that
 * another process made meanwhile must not be broken by a repetition.
 */
export function withRetries(provider: DispatchStoreProvider, retries: Retries): RetriedProvider {
  const methods = provider as unknown as Readonly<Record<string, Method | undefined>>;
  const wrapped: Record<string, Method> = {};
  for (const name of repeatable) {
    if (methods[name] === undefined) continue;
    wrapped[name] = (...args) => retries.run(() => methods[name]?.call(provider, ...args));
  }
  for (const name of repeatableWrites) {
    wrapped[name] = (taskDir, dispatchId, third) =>
      retries.run(() => methods[name]?.call(provider, taskDir, dispatchId, third), {
        writes: { taskDir, dispatchId } as DispatchRef,
      });
  }
  const { deleteDispatch, breakClaim, acceptLoss, rewriteDispatch } = provider;
  return {
    ...(wrapped as unknown as DispatchStoreProvider),
    unretried: provider,
    retries,
    contract: provider.contract,
    get capabilities() {
      return provider.capabilities;
    },
    createDispatch(taskDir, envelope) {
      const create = () => provider.createDispatch(taskDir, envelope);
      const writes = { taskDir, dispatchId: envelope.dispatchId };
      return retries.run(create, { writes, again: () => createAgain(provider, taskDir, envelope) });
    },
    ...(deleteDispatch !== undefined && {
      deleteDispatch(taskDir: string, dispatchId: string) {
        const remove = () => deleteDispatch.call(provider, taskDir, dispatchId);
        const again = async () => {
          try {
            await remove();
          } catch (error) {
            // The call that failed, or whose answer was lost, has deleted it.
            if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
          }
        };
        return retries.run(remove, { writes: { taskDir, dispatchId }, again });
      },
    }),
    ...(breakClaim !== undefined && { breakClaim: breakClaim.bind(provider) }),
    ...(acceptLoss !== undefined && { acceptLoss: acceptLoss.bind(provider) }),
    ...(rewriteDispatch !== undefined && { rewriteDispatch: rewriteDispatch.bind(provider) }),
    close: () => provider.close(),
  };
}

/** Succeeds if an earlier call has created the dispatch: the stored envelope is equal, and the claim is ours or free. */
async function createAgain(
  provider: DispatchStoreProvider,
  taskDir: string,
  envelope: DispatchEnvelope,
): Promise<void> {
  try {
    await provider.createDispatch(taskDir, envelope);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
    const stored = await provider.getDispatchEnvelope(taskDir, envelope.dispatchId);
    if (!isSameJson(stored, JSON.parse(JSON.stringify(envelope)))) throw error;
    if (envelope.status !== 'running') return;
    try {
      await provider.claimDispatch(taskDir, envelope.dispatchId);
    } catch (refusal) {
      throw storeErrors.is(refusal, 'STORE_LOCKED') ? error : refusal;
    }
  }
}

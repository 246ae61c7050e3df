import type { ProcessOwner } from '@hansard/store-kit';
import { BrokenPromise } from '@hansard/testing/simulation';
import { whyUnchecked } from './simulated-process.ts';
import type { Snapshot, StoredClaim } from './snapshot.ts';

/** An opening of the store by a process. */
export interface Opening {
  readonly process: number;
  readonly owner: ProcessOwner;
  readonly bornAt: number;
  /** Whether it was closed. */
  isClosed: boolean;
  /** The life of the process. */
  readonly life: { hasEnded: boolean };
  /** When the process last could not call its timers, or a call of them failed. */
  hinderedAt: number;
  /** The tokens and heartbeats of other openings because of which it was refused, with the time. */
  readonly refusals: Map<string, { readonly beat: number; readonly at: number }>;
}

interface Renewal {
  readonly opening: Opening;
  beat: number;
  at: number;
}

/**
 * Knows from the heartbeats in the database, and from what happens to the processes, which claims can be taken over. It shares no
 * code with the store. All monotonic clocks run alike, so it knows one time.
 */
export class LeaseOracle {
  readonly #leaseMs: number;
  /** By the token. */
  readonly #renewals = new Map<string, Renewal>();

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** The opening with this token. */
  openingOf(token: string): Opening {
    const renewal = this.#renewals.get(token);
    if (renewal === undefined) throw new BrokenPromise(`the claim of ${token} has no heartbeat`);
    return renewal.opening;
  }

  isOf(claim: StoredClaim | null | undefined, opening: Opening): boolean {
    return claim !== null && claim !== undefined && this.openingOf(claim.token) === opening;
  }

  /** Notes what an opening changed of the heartbeats. It may change its own, and remove those that have no claim. */
  observe(opening: Opening, { beats, dispatches }: Snapshot, now: number): void {
    for (const [token, beat] of beats) {
      const renewal = this.#renewals.get(token);
      if (renewal === undefined) this.#renewals.set(token, { opening, beat, at: now });
      else if (renewal.beat !== beat) {
        if (renewal.opening !== opening)
          throw new BrokenPromise(
            `process ${opening.process} renewed the claims of process ${renewal.opening.process}`,
          );
        Object.assign(renewal, { beat, at: now });
      }
    }
    for (const [id, { claim }] of dispatches)
      if (claim !== null && !beats.has(claim.token))
        throw new BrokenPromise(`the claim of dispatch ${id} has no heartbeat`);
  }

  /** The reason why an opening may not take a claim from its owner now; null if it may. */
  whyNotFree({ token }: StoredClaim, taker: Opening, now: number): string | null {
    const { opening: owner, at } = this.#renewal(token);
    if (owner === taker || isProvenToHaveExited(owner, taker)) return null;
    const idle = Math.min(now - at, now - taker.bornAt);
    if (idle < this.#leaseMs)
      return `process ${taker.process} has seen process ${owner.process} idle for at most ${idle} ms`;
    const isRunning = !owner.isClosed && !owner.life.hasEnded && now - owner.hinderedAt > this.#leaseMs;
    return isRunning ? `process ${owner.process} was running, and nothing hindered its timers` : null;
  }

  /** Whether the owner of a claim is proven to have exited, as an opening sees it. */
  hasExited({ token }: StoredClaim, viewer: Opening): boolean {
    return isProvenToHaveExited(this.openingOf(token), viewer);
  }

  /**
   * An opening was refused because of a claim that existed at the begin and at the end of its call.
   * @throws BrokenPromise if the claim could be taken over for the whole call
   */
  refused({ token }: StoredClaim, taker: Opening, beganAt: number, beatAtBegin: number, now: number): void {
    const { opening: owner, beat } = this.#renewal(token);
    const earlier = taker.refusals.get(token);
    if (earlier?.beat === beat && beganAt - earlier.at >= this.#leaseMs)
      throw new BrokenPromise(
        `process ${taker.process} was refused a claim of process ${owner.process} again, ${beganAt - earlier.at} ms later without a heartbeat`,
      );
    if (earlier?.beat !== beat && beatAtBegin === beat) taker.refusals.set(token, { beat, at: now });
  }

  #renewal(token: string): Renewal {
    const renewal = this.#renewals.get(token);
    if (renewal === undefined) throw new BrokenPromise(`the claim of ${token} has no heartbeat`);
    return renewal;
  }
}

function isProvenToHaveExited(owner: Opening, viewer: Opening): boolean {
  return owner.life.hasEnded && whyUnchecked(owner.owner, viewer.owner) === null;
}

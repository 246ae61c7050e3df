/** An append. The events of one are all in the log, or none. Times are numbers of calls. */
export interface Append {
  readonly process: number;
  readonly dispatch: number;
  readonly ids: readonly string[];
  readonly beganAt: number;
  /** Whether the process had claimed the dispatch when the append began. */
  readonly isOfOwner: boolean;
  /** Infinity until it is acknowledged. */
  acknowledgedAt: number;
}

/** A read, from its begin to its end. */
export interface ReadInProgress {
  readonly process: number;
  readonly dispatch: number;
  /** The events that were acknowledged when it began. */
  readonly acknowledged: readonly string[];
}

/** A claim, from its begin to its end. */
export interface ClaimInProgress {
  /** The longest time without a renewal that ended meanwhile, by process. */
  readonly idle: Map<number, number>;
  /** Whether the process had claimed the dispatch already. Another one can take the dispatch meanwhile. */
  readonly isAgain: boolean;
}

interface Claim {
  readonly process: number;
  /** False as soon as a release has begun. */
  isSure: boolean;
}

/** The breaking of a claim, from its begin to its end. */
export interface BreakInProgress {
  /** The claim when it began. One that is made meanwhile can be the next one, which stays, or the one that is broken. */
  readonly claim: object | null;
}

interface DispatchFacts {
  isCreated: boolean;
  /** Whether the power was lost during an append. */
  isTorn: boolean;
  readonly appends: Append[];
  /** The append of each event. */
  readonly appendOf: Map<string, Append>;
  /** The acknowledged events. */
  readonly acknowledged: string[];
  readonly refused: Set<string>;
  claim: Claim | null;
}

/** A promise of the store that did not hold. */
export class BrokenPromise extends Error {}

/**
 * Knows what the log must hold from the calls and their results alone. It shares no code with the store: it finds events in the
 * bytes of a file by the ids of the test.
 */
export class LogOracle {
  readonly #dispatches = new Map<number, DispatchFacts>();
  /** The monotonic time of the last renewal, by process. */
  readonly #renewals = new Map<number, number>();
  readonly #claiming = new Set<ClaimInProgress>();
  readonly #leaseMs: number;
  #calls = 0;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  created(process: number, dispatch: number): void {
    const facts = this.#facts(dispatch);
    facts.isCreated = true;
    facts.claim = { process, isSure: true };
  }

  isCreated(dispatch: number): boolean {
    return this.#facts(dispatch).isCreated;
  }

  hasClaimed(process: number, dispatch: number): boolean {
    return this.#facts(dispatch).claim?.process === process;
  }

  renewed(process: number, monotonic: number): void {
    const idleMs = monotonic - (this.#renewals.get(process) ?? 0);
    for (const { idle } of this.#claiming) idle.set(process, Math.max(idleMs, idle.get(process) ?? 0));
    this.#renewals.set(process, monotonic);
  }

  beginClaim(process: number, dispatch: number): ClaimInProgress {
    const claim = { idle: new Map<number, number>(), isAgain: this.hasClaimed(process, dispatch) };
    this.#claiming.add(claim);
    return claim;
  }

  endClaim(claim: ClaimInProgress): void {
    this.#claiming.delete(claim);
  }

  /**
   * A process has claimed a dispatch. It may only if the owner before it released it, has ended, or did not renew its lease for a
   * whole lease that ended before or during the claim. Returns whether it took the dispatch from a running owner.
   */
  claimed(process: number, dispatch: number, claim: ClaimInProgress, monotonic: number): boolean {
    const facts = this.#facts(dispatch);
    const owner = facts.claim;
    if (claim.isAgain) {
      // Somebody may have ended its claim before this one, or meanwhile.
      facts.claim = { process, isSure: owner?.isSure ?? false };
      return false;
    }
    // Also after a creation that failed at its end.
    facts.isCreated = true;
    facts.claim = { process, isSure: true };
    if (owner === null || !owner.isSure || owner.process === process) return false;
    const idleNow = monotonic - (this.#renewals.get(owner.process) ?? 0);
    const idleMs = Math.max(idleNow, claim.idle.get(owner.process) ?? 0);
    if (idleMs < this.#leaseMs)
      throw new BrokenPromise(
        `process ${process} took dispatch ${dispatch} from process ${owner.process}, which was idle for ${idleMs} ms only`,
      );
    return true;
  }

  released(process: number, dispatch: number): void {
    const facts = this.#facts(dispatch);
    if (facts.claim?.process === process) facts.claim = null;
  }

  /** The end of a claim begins. It can fail after the dispatch is free. */
  beginRelease(dispatch: number): void {
    const { claim } = this.#facts(dispatch);
    if (claim !== null) claim.isSure = false;
  }

  beginEnd(process: number): void {
    for (const { claim } of this.#dispatches.values()) if (claim?.process === process) claim.isSure = false;
  }

  beginBreak(dispatch: number): BreakInProgress {
    this.beginRelease(dispatch);
    return { claim: this.#facts(dispatch).claim };
  }

  broken(dispatch: number, { claim }: BreakInProgress): void {
    const facts = this.#facts(dispatch);
    if (facts.claim === claim) facts.claim = null;
    else this.beginRelease(dispatch);
  }

  /** A process has crashed, or closed its store. */
  ended(process: number): void {
    for (const facts of this.#dispatches.values()) if (facts.claim?.process === process) facts.claim = null;
  }

  beginAppend(process: number, dispatch: number, ids: readonly string[]): Append {
    const { appends, appendOf } = this.#facts(dispatch);
    const isOfOwner = this.hasClaimed(process, dispatch);
    const append = {
      process,
      dispatch,
      ids,
      isOfOwner,
      beganAt: this.#tick(),
      acknowledgedAt: Number.POSITIVE_INFINITY,
    };
    appends.push(append);
    for (const id of ids) appendOf.set(id, append);
    return append;
  }

  /** Only of an owner. It can have lost the dispatch since the append began, if the events are in the log all the same. */
  acknowledged(append: Append): void {
    const { process, dispatch, ids } = append;
    if (!append.isOfOwner)
      throw new BrokenPromise(
        `an append of process ${process} was acknowledged without a claim of dispatch ${dispatch}`,
      );
    append.acknowledgedAt = this.#tick();
    this.#facts(dispatch).acknowledged.push(...ids);
  }

  /** An append was refused because another opening has the dispatch. Its events must never be in the log. */
  refused({ dispatch, ids }: Append): void {
    for (const id of ids) this.#facts(dispatch).refused.add(id);
  }

  /**
   * The power was lost during an append. A write of several sectors can be on the disk in part, with its end. The store cannot distinguish this from damage,
   * so it can refuse the dispatch as STORE_CORRUPT. All acknowledged events are in the file all the same.
   */
  lostPower({ dispatch }: Append): void {
    this.#facts(dispatch).isTorn = true;
  }

  isTorn(dispatch: number): boolean {
    return this.#facts(dispatch).isTorn;
  }

  beginRead(process: number, dispatch: number): ReadInProgress {
    return { process, dispatch, acknowledged: [...this.#facts(dispatch).acknowledged] };
  }

  /** Checks what a read returned. */
  read({ process, dispatch, acknowledged }: ReadInProgress, ids: readonly string[]): void {
    const place = `the read of dispatch ${dispatch} by process ${process}`;
    this.#check(place, dispatch, acknowledged, ids);
    const { appends, appendOf, refused } = this.#facts(dispatch);
    const found = new Set(ids);
    for (const id of ids) {
      if (!appendOf.has(id)) throw new BrokenPromise(`${place} has ${id}, which nobody wrote`);
      if (refused.has(id)) throw new BrokenPromise(`${place} has ${id}, which was refused`);
    }
    for (const append of appends) {
      const count = append.ids.filter((id) => found.has(id)).length;
      if (count > 0 && count < append.ids.length)
        throw new BrokenPromise(`${place} has ${count} of a batch of ${append.ids.length}`);
    }
  }

  /** Checks the bytes at the path of a dispatch: it has every acknowledged event once, and in order. */
  checkFile(dispatch: number, bytes: Buffer | null): void {
    const { acknowledged, isCreated } = this.#facts(dispatch);
    if (!isCreated) return;
    if (bytes === null) throw new BrokenPromise(`the file of dispatch ${dispatch} is gone`);
    const ids = [...bytes.toString('latin1').matchAll(/<(p\d+-\d+)>/g)].map(([, id]) => id as string);
    this.#check(`the file of dispatch ${dispatch}`, dispatch, acknowledged, ids);
  }

  /** Has every acknowledged event once, and after the events whose append had ended before its own began. */
  #check(place: string, dispatch: number, acknowledged: readonly string[], ids: readonly string[]): void {
    const { appendOf } = this.#facts(dispatch);
    const found = new Set<string>();
    let lastBegin = 0;
    for (const id of ids) {
      if (found.has(id)) throw new BrokenPromise(`${place} has ${id} twice`);
      found.add(id);
      const append = appendOf.get(id);
      if (append === undefined) continue;
      if (append.acknowledgedAt < lastBegin) throw new BrokenPromise(`${place} has ${id} at another place`);
      lastBegin = Math.max(lastBegin, append.beganAt);
    }
    for (const id of acknowledged) if (!found.has(id)) throw new BrokenPromise(`${place} has lost ${id}`);
  }

  #tick(): number {
    this.#calls += 1;
    return this.#calls;
  }

  #facts(dispatch: number): DispatchFacts {
    let facts = this.#dispatches.get(dispatch);
    if (facts === undefined) {
      facts = {
        isCreated: false,
        isTorn: false,
        appends: [],
        appendOf: new Map(),
        acknowledged: [],
        refused: new Set(),
        claim: null,
      };
      this.#dispatches.set(dispatch, facts);
    }
    return facts;
  }
}

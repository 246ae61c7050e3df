import { BrokenPromise, isSecret } from '@hansard/testing/simulation';

/** An append. The events of one are all in the log, or none. Times are numbers of calls. */
export interface Append {
  readonly process: number;
  readonly dispatch: number;
  readonly ids: readonly string[];
  readonly beganAt: number;
  /** Whether the process had claimed the dispatch when the append began. */
  readonly isOfOwner: boolean;
  /** Of a rewrite: the events that it must have rewritten when it is acknowledged. */
  readonly rewritten: readonly string[];
  /** Infinity until it is acknowledged. */
  acknowledgedAt: number;
  /** Whether some of its events were appended again without the others. */
  isSplit: boolean;
}

/** A read, from its begin to its end. */
export interface ReadInProgress {
  readonly process: number;
  readonly dispatch: number;
  readonly beganAt: number;
  /** The events that were acknowledged when it began. */
  readonly acknowledged: readonly string[];
}

/** A claim or a creation, from its begin to its end. */
export interface ClaimInProgress {
  readonly dispatch: number;
  /** The longest time without a renewal that ended meanwhile, by process. */
  readonly idle: Map<number, number>;
  /** Whether the process had claimed the dispatch already. Another one can take the dispatch meanwhile. */
  readonly isAgain: boolean;
  /** Whether another process claims the dispatch, or breaks its claim, at the same time: the new claim can be over when this ends. */
  isUnsure: boolean;
}

interface Claim {
  readonly process: number;
  /** False as soon as a release has begun. */
  isSure: boolean;
}

/** The breaking of a claim, from its begin to its end. */
export interface BreakInProgress {
  readonly dispatch: number;
  /** The claim when it began. */
  readonly claim: object | null;
}

interface DispatchFacts {
  isCreated: boolean;
  readonly appends: Append[];
  /** The append of each event. */
  readonly appendOf: Map<string, Append>;
  /** The acknowledged events. */
  readonly acknowledged: string[];
  readonly refused: Set<string>;
  /** Events whose old text must never be in the file again. */
  readonly rewritten: Set<string>;
  claim: Claim | null;
  /** How many deletions are in progress. The file can be gone. */
  deleting: number;
  /** When the last deletion ended that had an effect, as a number of calls. */
  deletedAt: number;
}

/**
 * Knows what the log must hold from the calls and their results alone. It shares no code with the store: it finds events in the
 * bytes of a file by the ids of the test.
 */
export class LogOracle {
  readonly #dispatches = new Map<number, DispatchFacts>();
  /** The monotonic time of the last renewal, by process. */
  readonly #renewals = new Map<number, number>();
  readonly #claiming = new Set<ClaimInProgress>();
  readonly #breaking = new Set<BreakInProgress>();
  readonly #leaseMs: number;
  #calls = 0;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  created(process: number, { dispatch, isUnsure }: ClaimInProgress): void {
    const facts = this.#facts(dispatch);
    facts.isCreated = true;
    // Its lease can have expired in the middle of the creation: then another process can have claimed the dispatch.
    facts.claim ??= { process, isSure: !isUnsure };
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

  /** A claim or a creation begins. */
  beginClaim(process: number, dispatch: number): ClaimInProgress {
    const isUnsure = [...this.#breaking].some((other) => other.dispatch === dispatch);
    const isAgain = this.hasClaimed(process, dispatch);
    const claim = { dispatch, idle: new Map<number, number>(), isAgain, isUnsure };
    this.#claiming.add(claim);
    return claim;
  }

  /** If it did not succeed, it can have taken the dispatch all the same, from an owner that had lost it. */
  endClaim(claim: ClaimInProgress, hasSucceeded: boolean, monotonic: number): void {
    this.#claiming.delete(claim);
    const owner = this.#facts(claim.dispatch).claim;
    if (hasSucceeded || owner === null || claim.isAgain) return;
    if (this.#idleOf(owner, claim, monotonic) >= this.#leaseMs) owner.isSure = false;
  }

  /**
   * A rewrite has ended, a deletion, or the acceptance of a loss: it can have taken the dispatch from an owner, and has released it.
   * A process that did it had to have the claim, or to get it.
   */
  endTaking(process: number, claim: ClaimInProgress, hasSucceeded: boolean, monotonic: number): void {
    const owner = this.#facts(claim.dispatch).claim;
    if (hasSucceeded && owner?.isSure === true && owner.process !== process && !claim.isUnsure) {
      const idleMs = this.#idleOf(owner, claim, monotonic);
      if (idleMs < this.#leaseMs)
        throw new BrokenPromise(
          `process ${process} changed dispatch ${claim.dispatch} of process ${owner.process}, which was idle for ${idleMs} ms only`,
        );
    }
    this.endClaim(claim, false, monotonic);
    for (const other of this.#claiming) if (other.dispatch === claim.dispatch) other.isUnsure = true;
  }

  /**
   * A process has claimed a dispatch. It may only if the owner before it released it, has ended, or did not renew its lease for a
   * whole lease that ended before or during the claim. Returns whether it took the dispatch from a running owner.
   */
  claimed(process: number, claim: ClaimInProgress, monotonic: number): boolean {
    const facts = this.#facts(claim.dispatch);
    const owner = facts.claim;
    for (const other of this.#claiming) if (other.dispatch === claim.dispatch) other.isUnsure = true;
    if (claim.isAgain) {
      // Somebody may have ended its claim before this one, or meanwhile.
      facts.claim = { process, isSure: owner?.isSure === true && !claim.isUnsure };
      return false;
    }
    // Also after a creation that failed at its end.
    facts.isCreated = true;
    facts.claim = { process, isSure: !claim.isUnsure };
    if (owner === null || !owner.isSure || owner.process === process) return false;
    const idleMs = this.#idleOf(owner, claim, monotonic);
    if (idleMs < this.#leaseMs)
      throw new BrokenPromise(
        `process ${process} took dispatch ${claim.dispatch} from process ${owner.process}, which was idle for ${idleMs} ms only`,
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
    for (const claim of this.#claiming) if (claim.dispatch === dispatch) claim.isUnsure = true;
    const breaking = { dispatch, claim: this.#facts(dispatch).claim };
    this.#breaking.add(breaking);
    return breaking;
  }

  endBreak(breaking: BreakInProgress): void {
    this.#breaking.delete(breaking);
  }

  /** The claim that there was when it began is over. One that was made meanwhile can be over or not. */
  broken({ dispatch, claim }: BreakInProgress): void {
    const facts = this.#facts(dispatch);
    if (facts.claim === claim) facts.claim = null;
  }

  /** A process has crashed, or closed its store. */
  ended(process: number): void {
    for (const facts of this.#dispatches.values()) if (facts.claim?.process === process) facts.claim = null;
  }

  beginAppend(process: number, dispatch: number, ids: readonly string[]): Append {
    return this.#begin(process, dispatch, ids, this.hasClaimed(process, dispatch), []);
  }

  /** A rewrite appends its notice, and needs no claim before. */
  beginRewrite(process: number, dispatch: number, ids: readonly string[], what: 'all' | 'secret'): Append {
    const rewritten = this.#facts(dispatch).acknowledged.filter((id) => what === 'all' || isSecret(id));
    return this.#begin(process, dispatch, ids, true, rewritten);
  }

  beginDelete(dispatch: number): void {
    this.#facts(dispatch).deleting += 1;
  }

  /** Without an acknowledgement, the disk says whether it had an effect. */
  endDelete(dispatch: number, isAcknowledged: boolean, isThere: boolean): void {
    const facts = this.#facts(dispatch);
    facts.deleting -= 1;
    if (!isAcknowledged && (isThere || !facts.isCreated)) return;
    facts.isCreated = isThere;
    facts.deletedAt = this.#tick();
    // One that nobody knows about can still end after the deletion.
    for (const [id, append] of facts.appendOf)
      if (isAcknowledged && append.acknowledgedAt < Infinity) facts.appendOf.delete(id);
      else append.acknowledgedAt = Infinity;
    facts.appends.length = 0;
    facts.acknowledged.length = 0;
    facts.rewritten.clear();
    facts.claim = null;
  }

  #begin(
    process: number,
    dispatch: number,
    ids: readonly string[],
    isOfOwner: boolean,
    rewritten: readonly string[],
  ): Append {
    const { appends, appendOf, refused } = this.#facts(dispatch);
    const append = {
      process,
      dispatch,
      ids,
      isOfOwner,
      rewritten,
      beganAt: this.#tick(),
      acknowledgedAt: Number.POSITIVE_INFINITY,
      isSplit: false,
    };
    appends.push(append);
    for (const id of ids) {
      // It can be appended again.
      const earlier = appendOf.get(id);
      if (earlier === undefined) appendOf.set(id, append);
      else if (earlier.ids.join() !== ids.join()) earlier.isSplit = true;
      refused.delete(id);
    }
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
    // A deletion that ran at the same time can have come after it.
    if (append.beganAt < this.#facts(dispatch).deletedAt || this.#facts(dispatch).deleting > 0) return;
    for (const id of append.rewritten) this.#facts(dispatch).rewritten.add(id);
    this.#facts(dispatch).acknowledged.push(...ids);
  }

  /** An append was refused because another opening has the dispatch. Its events must never be in the log. */
  refused(append: Append): void {
    const { refused, appendOf } = this.#facts(append.dispatch);
    // One that was appended before can be there.
    for (const id of append.ids) if (appendOf.get(id) === append) refused.add(id);
  }

  beginRead(process: number, dispatch: number): ReadInProgress {
    return {
      process,
      dispatch,
      acknowledged: [...this.#facts(dispatch).acknowledged],
      beganAt: this.#tick(),
    };
  }

  /** Checks what a read returned. */
  read({ process, dispatch, acknowledged, beganAt }: ReadInProgress, ids: readonly string[]): void {
    const place = `the read of dispatch ${dispatch} by process ${process}`;
    const { appends, appendOf, refused, deleting, deletedAt } = this.#facts(dispatch);
    if (deleting > 0 || deletedAt > beganAt) return;
    this.#check(place, dispatch, acknowledged, ids);
    const found = new Set(ids);
    for (const id of ids) {
      if (!appendOf.has(id)) throw new BrokenPromise(`${place} has ${id}, which nobody wrote`);
      if (refused.has(id)) throw new BrokenPromise(`${place} has ${id}, which was refused`);
    }
    for (const append of appends) {
      const own = append.ids.filter((id) => appendOf.get(id) === append);
      const count = own.filter((id) => found.has(id)).length;
      if (count > 0 && count < own.length && !append.isSplit)
        throw new BrokenPromise(`${place} has ${count} of a batch of ${own.length}`);
    }
  }

  /** Checks the bytes at the path of a dispatch: it has every acknowledged event once, and in order. */
  checkFile(dispatch: number, bytes: Buffer | null): void {
    const { acknowledged, isCreated, rewritten, deleting } = this.#facts(dispatch);
    if (!isCreated || deleting > 0) return;
    if (bytes === null) throw new BrokenPromise(`the file of dispatch ${dispatch} is gone`);
    const found = [...bytes.toString('latin1').matchAll(/<(p\d+-\d+)> (.)/g)];
    const place = `the file of dispatch ${dispatch}`;
    const ids = found.map(([, id]) => id as string);
    this.#check(place, dispatch, acknowledged, ids);
    for (const [, id = '', first] of found)
      if (rewritten.has(id) && first !== 'r')
        throw new BrokenPromise(`${place} has the old text of ${id} again`);
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

  /** The longest time without a renewal of an owner, up to the end of a claim. */
  #idleOf({ process }: Claim, { idle }: ClaimInProgress, monotonic: number): number {
    const idleNow = monotonic - (this.#renewals.get(process) ?? 0);
    return Math.max(idleNow, idle.get(process) ?? 0);
  }

  #facts(dispatch: number): DispatchFacts {
    let facts = this.#dispatches.get(dispatch);
    if (facts === undefined) {
      facts = {
        isCreated: false,
        appends: [],
        appendOf: new Map(),
        acknowledged: [],
        refused: new Set(),
        rewritten: new Set(),
        claim: null,
        deleting: 0,
        deletedAt: 0,
      };
      this.#dispatches.set(dispatch, facts);
    }
    return facts;
  }
}

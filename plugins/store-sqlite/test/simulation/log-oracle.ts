import { BrokenPromise, type ContractAnswer } from '@hansard/testing/simulation';
import type { LeaseOracle, Opening } from './lease-oracle.ts';
import type { Operation } from './schedule.ts';
import type { Outcome } from './simulated-process.ts';
import { emptySnapshot, type Snapshot, type StoredClaim, type StoredDispatch } from './snapshot.ts';

/** A call of an opening, from its begin to its end. */
export interface CallInProgress {
  readonly opening: Opening;
  readonly operation: Operation;
  readonly beganAt: number;
  readonly before: Snapshot;
  /** Whether the owner of the dispatch was proven to have exited when the call began. */
  readonly isAbandoned: boolean;
  /** Whether a step failed, or another process was interrupted in the middle of a call, which can be a transaction. */
  isDisturbed: boolean;
  /** Whether it has changed a dispatch. */
  hasEffect: boolean;
}

/** The calls whose results the database shows; `ContractOracle` judges all calls by their results alone. */
const judged: readonly Operation['kind'][] = [
  'create',
  'claim',
  'append',
  'update',
  'end',
  'release',
  'break claim',
  'delete',
  'read',
  'verify',
];

function idsOf(operation: Operation): readonly string[] {
  if (operation.kind === 'conflict') return [operation.id];
  return 'ids' in operation ? operation.ids : [];
}

function changesOf(operation: Operation): object {
  if (operation.kind === 'update') return { [operation.field]: operation.value };
  return operation.kind === 'rewrite' ? { botId: operation.ids[0] } : { status: 'completed' };
}

/** The calls that change a dispatch or its claim, and do nothing in part. */
const atomic: readonly Operation['kind'][] = ['create', 'claim', 'append', 'update', 'end', 'delete'];

/**
 * Judges what the database has committed after each turn of a process, and the result of each call. A turn belongs to one call of one
 * process, so every change is the work of that call.
 */
export class LogOracle {
  readonly #leases: LeaseOracle;
  /** The claims that were taken from an opening that had not ended. */
  takeovers = 0;
  #latest: Snapshot = emptySnapshot;

  constructor(leases: LeaseOracle) {
    this.#leases = leases;
  }

  /** Begins with a database without dispatches. */
  start(snapshot: Snapshot): void {
    this.#latest = snapshot;
  }

  get latest(): Snapshot {
    return this.#latest;
  }

  /** Whether the owner of a dispatch is proven to have exited, as an opening sees it. */
  isAbandoned(opening: Opening, id: string): boolean {
    const claim = this.#latest.dispatches.get(id)?.claim ?? null;
    return claim !== null && this.#leases.hasExited(claim, opening);
  }

  hasClaimed(opening: Opening | null, id: string): boolean {
    return opening !== null && this.#leases.isOf(this.#latest.dispatches.get(id)?.claim, opening);
  }

  /** Judges the changes of a turn. */
  observe(call: CallInProgress, snapshot: Snapshot, now: number): void {
    const before = this.#latest;
    if (snapshot === before) return;
    this.#leases.observe(call.opening, snapshot, now);
    for (const id of new Set([...before.dispatches.keys(), ...snapshot.dispatches.keys()]))
      this.#change(call, id, before.dispatches.get(id), snapshot.dispatches.get(id), now);
    this.#latest = snapshot;
  }

  #change(
    call: CallInProgress,
    id: string,
    old: StoredDispatch | undefined,
    changed: StoredDispatch | undefined,
    now: number,
  ): void {
    const { opening, operation } = call;
    const broken = (what: string) =>
      new BrokenPromise(`${operation.kind} of process ${opening.process} ${what} dispatch ${id}`);
    const is = (...kinds: Operation['kind'][]) =>
      kinds.includes(operation.kind) && 'dispatch' in operation && `d${operation.dispatch}` === id;
    if (old === undefined || changed === undefined) {
      call.hasEffect = true;
      if (changed !== undefined) {
        if (!is('create') || changed.ids.length > 0 || !this.#leases.isOf(changed.claim, opening))
          throw broken('created, without a claim or with events,');
      } else if (!is('delete')) throw broken('lost');
      else if (old?.claim) this.#assertFree(old.claim, call, now);
      return;
    }
    if (old.number !== changed.number && !is('rewrite', 'accept loss')) throw broken('replaced');
    const isWriter =
      this.#leases.isOf(old.claim, opening) &&
      this.#leases.isOf(changed.claim, opening) &&
      old.claim?.epoch === changed.claim?.epoch;
    const added = changed.ids.slice(old.ids.length);
    const isTaking = is('rewrite', 'accept loss');
    if (isTaking && old.claim !== null) this.#assertFree(old.claim, call, now);
    if (added.length > 0 || changed.ids.length < old.ids.length) {
      call.hasEffect = true;
      const wanted = is('append', 'conflict', 'rewrite', 'accept loss') ? idsOf(operation) : [];
      if (!isEqual(changed.ids.slice(0, old.ids.length), old.ids)) throw broken('changed the events of');
      const missing = wanted.filter((event) => !old.ids.includes(event));
      const isLetter = is('take letters') && added.every((event) => event.startsWith('letter_'));
      if (!isLetter && !isEqual(added, missing)) throw broken(`added ${added} and not ${missing} to`);
      if (!isWriter && !isTaking) throw broken(`added ${added} without a claim to`);
    }
    if (old.envelope !== changed.envelope) {
      call.hasEffect = true;
      if (!isWriter && !isTaking) throw broken('changed, without a claim, the envelope of');
      const wanted = JSON.stringify({ ...JSON.parse(old.envelope), ...changesOf(operation) });
      if (!is('update', 'end', 'rewrite') || wanted !== changed.envelope)
        throw broken('changed other fields of');
    }
    if (changed.epoch < old.epoch || (changed.claim !== null && changed.claim.epoch !== changed.epoch))
      throw broken('left a wrong epoch in');
    if (isSameClaim(old.claim, changed.claim)) return;
    this.#changeClaim(call, old, changed, now, { is, broken });
  }

  #changeClaim(
    call: CallInProgress,
    old: StoredDispatch,
    changed: StoredDispatch,
    now: number,
    { is, broken }: { is: (...kinds: Operation['kind'][]) => boolean; broken: (what: string) => Error },
  ): void {
    const { opening, operation } = call;
    call.hasEffect = true;
    const wasOwn = this.#leases.isOf(old.claim, opening);
    if (changed.claim === null) {
      const mayEnd = wasOwn
        ? is('release') || operation.kind === 'close'
        : is('break claim', 'rewrite', 'accept loss');
      if (!mayEnd) throw broken('ended the claim of');
      return;
    }
    if (!this.#leases.isOf(changed.claim, opening)) throw broken('gave to another process');
    // Which gives the dispatch a new row.
    if (wasOwn && is('rewrite', 'accept loss')) return;
    if (!is('claim') || wasOwn) throw broken('claimed');
    if (changed.epoch <= old.epoch) throw broken('claimed with an old epoch');
    if (old.claim === null) return;
    this.#assertFree(old.claim, call, now);
    const { isClosed, life } = this.#leases.openingOf(old.claim.token);
    if (!isClosed && !life.hasEnded) this.takeovers += 1;
  }

  #assertFree(claim: StoredClaim, { opening, operation }: CallInProgress, now: number): void {
    const reason = this.#leases.whyNotFree(claim, opening, now);
    if (reason !== null)
      throw new BrokenPromise(`${operation.kind} of process ${opening.process} succeeded, but ${reason}`);
  }

  /** Judges the result of a call that has ended. */
  end(call: CallInProgress, outcome: Outcome, now: number): void {
    const { operation, opening, before } = call;
    if (outcome.kind === 'crashed') return;
    if (operation.kind === 'close') {
      if (outcome.kind === 'failed') assertDisturbed(call, outcome);
      else if ([...this.#latest.dispatches.values()].some(({ claim }) => this.#leases.isOf(claim, opening)))
        throw new BrokenPromise(`process ${opening.process} closed the store, and has claims`);
      return;
    }
    if (!('dispatch' in operation) || !judged.includes(operation.kind)) return;
    const id = `d${operation.dispatch}`;
    const first = before.dispatches.get(id);
    const last = this.#latest.dispatches.get(id);
    if (outcome.kind === 'failed') this.#judgeFailure(call, outcome, first, last, now);
    else if (!this.#isTrue(call, outcome.answer, first, last))
      throw new BrokenPromise(
        `${operation.kind} of process ${opening.process} on dispatch ${id} returned ${JSON.stringify(outcome.answer)}, but the database does not say so`,
      );
  }

  /** Whether the database agrees with a call that returned. */
  #isTrue(
    { operation, opening, hasEffect }: CallInProgress,
    answer: ContractAnswer,
    first: StoredDispatch | undefined,
    last: StoredDispatch | undefined,
  ): boolean {
    const isSame = first !== undefined && first.number === last?.number;
    switch (operation.kind) {
      case 'claim':
        if (this.#leases.isOf(last?.claim, opening))
          return answer.kind === 'envelope' && last?.claim?.epoch === answer.epoch;
        return hasEffect || this.#leases.isOf(first?.claim, opening);
      case 'append':
        return (
          hasEffect || (first !== undefined && operation.ids.every((event) => first.ids.includes(event)))
        );
      case 'end':
        return hasEffect || first?.envelope.includes('"status":"completed"') === true;
      case 'release':
        return !this.#leases.isOf(last?.claim, opening);
      case 'break claim':
        return (
          !isSame ||
          first.claim === null ||
          this.#leases.isOf(first.claim, opening) ||
          !isSameClaim(first.claim, last.claim)
        );
      case 'read': {
        if (!isSame || answer.kind !== 'events') return true;
        const ids = answer.events.map(([event]) => event);
        return (
          isEqual(ids.slice(0, first.ids.length), first.ids) && isEqual(last.ids.slice(0, ids.length), ids)
        );
      }
      case 'verify':
        return answer.kind === 'damages' && answer.losses === 0;
      default:
        return hasEffect;
    }
  }

  #judgeFailure(
    call: CallInProgress,
    failure: Extract<Outcome, { kind: 'failed' }>,
    first: StoredDispatch | undefined,
    last: StoredDispatch | undefined,
    now: number,
  ): void {
    const { operation, opening, before, beganAt } = call;
    const { code, message } = failure;
    const broken = () =>
      new BrokenPromise(`${operation.kind} of process ${opening.process} failed with ${code}: ${message}`);
    if (call.hasEffect && atomic.includes(operation.kind)) throw broken();
    const isSame = first !== undefined && first.number === last?.number;
    if (code === 'STORE_UNAVAILABLE') assertDisturbed(call, failure);
    else if (code === 'STORE_DISPATCH_NOT_FOUND') {
      if (isSame) throw broken();
    } else if (code === 'STORE_DISPATCH_EXISTS') {
      if (operation.kind !== 'create' || (first === undefined && last === undefined)) throw broken();
    } else if (code === 'STORE_EVENT_CONFLICT' && operation.kind === 'append') return;
    else if (code !== 'STORE_LOCKED') throw broken();
    else if (operation.kind === 'append' || operation.kind === 'update' || operation.kind === 'end') {
      const isOwn = isSame && this.#leases.isOf(first.claim, opening);
      if (isOwn && isSameClaim(first.claim, last.claim)) throw broken();
    } else if (operation.kind !== 'claim' && operation.kind !== 'delete') throw broken();
    else if (isSame && isSameClaim(first.claim, last.claim)) {
      if (first.claim === null || this.#leases.isOf(first.claim, opening) || call.isAbandoned) throw broken();
      const beat = before.beats.get(first.claim.token) ?? Number.NaN;
      this.#leases.refused(first.claim, opening, beganAt, beat, now);
    }
  }
}

function assertDisturbed(
  { isDisturbed, operation }: CallInProgress,
  { code, message }: Extract<Outcome, { kind: 'failed' }>,
): void {
  if (code !== 'STORE_UNAVAILABLE' || !isDisturbed)
    throw new BrokenPromise(`${operation.kind} failed without a reason, with ${code}: ${message}`);
}

function isSameClaim(left: StoredClaim | null, right: StoredClaim | null): boolean {
  return left?.token === right?.token && left?.epoch === right?.epoch;
}

function isEqual(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

import {
  type ContractAnswer,
  type ContractCall,
  type EventText,
  type Fields,
  inboxOf,
  isSecret,
  type ListedEntry,
  newerId,
  numberOf,
  taskDir,
  tasks,
  textOf,
} from './contract-calls.ts';
import { absent, BrokenPromise, Register, type WriteInProgress } from './registers.ts';

export type ContractOutcome =
  | { readonly kind: 'returned'; readonly answer: ContractAnswer }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'crashed' };

/** A call of a store, or of the process itself. `copy`: it copies the files of the store while others run, and reads the copy. */
export type SimulatedCall =
  | ContractCall
  | { readonly kind: 'timers' }
  | { readonly kind: 'close' }
  | { readonly kind: 'copy' };

/** A call from its begin to its end. */
export interface BegunCall {
  /** Names one life of a process. */
  readonly token: string;
  readonly call: SimulatedCall;
  readonly began: number;
  readonly writes: WriteInProgress[];
  readonly holder: Holder | null;
  readonly wasSure: boolean;
  readonly deletions: number;
  /** Whether a step of it failed. */
  isDisturbed: boolean;
}

/** An opening that can have the claim of a dispatch. */
interface Holder {
  token: string;
  readonly from: number;
  until: number;
  isInProgress: boolean;
  /** Nobody knows whether the call that took the claim had an effect. A store that has no such claim does not release it when it is closed. */
  isLeft: boolean;
}

/** A rewrite or a deletion in progress: it changes the events that are appended meanwhile, too. */
interface Mass {
  readonly textAfter: (id: string) => string | null;
  readonly isOfPresent: boolean;
  readonly began: number;
  readonly writes: WriteInProgress[];
}

interface Watch {
  readonly scope: 'store' | 'task' | 'dispatch';
  readonly dispatch: number | null;
  /** When it was called, or added. */
  heardAt: number;
  isOwed: boolean;
}

const fieldNames = ['title', 'status', 'model', 'structuredResult', 'botId'] as const;
const takers: readonly string[] = ['claim', 'create', 'rewrite', 'delete', 'accept loss', 'break claim'];
const ofOwner: readonly string[] = ['append', 'conflict', 'update', 'end', 'take letters'];
const changes: readonly string[] = ['create', 'append', 'conflict', 'update', 'end', 'rewrite', 'delete'];

class DispatchState {
  readonly fields = Object.fromEntries(fieldNames.map((name) => [name, new Register(absent)])) as Record<
    (typeof fieldNames)[number],
    Register
  >;
  readonly events = new Map<string, Register>();
  readonly letters = new Map<string, Register>();
  readonly masses = new Set<Mass>();
  /** What acknowledged appends said since the last deletion. */
  readonly idAt = new Map<number, string>();
  readonly positionOf = new Map<string, number>();
  holders: Holder[] = [];
  /** The opening that has the claim for sure. */
  sure: string | null = null;
  /** When the last call began that could take the claim, by token. */
  readonly takerBegan = new Map<string, number>();
  deletions = 0;

  event(id: string): Register {
    const known = this.events.get(id);
    if (known !== undefined) return known;
    const register = new Register(absent);
    this.events.set(id, register);
    for (const mass of this.masses) beginIn(mass, id, register);
    return register;
  }
}

/** A letter that was sent before the end of a call that takes letters may be appended by it. */
function beginTaking({ writes, began }: BegunCall, facts: DispatchState, id: string): void {
  writes.push(facts.event(id).begin(textOf(id), began));
}

function beginIn(mass: Mass, id: string, register: Register): void {
  const value = mass.textAfter(id);
  if (value !== null) mass.writes.push(register.begin(value, mass.began, mass.isOfPresent));
}

/**
 * Judges the results of calls by `docs/contract.md` alone. It shares no code with a store and sees neither files nor tables: it knows only what each
 * call was given and returned, and which calls overlapped.
 */
export class ContractOracle {
  readonly #dispatches: readonly DispatchState[];
  readonly #tasks = Array.from({ length: tasks }, () => new Register(absent));
  readonly #newer = new Register(absent);
  #hasLostPower = false;
  /** By token, in the order in which they were added. */
  readonly #watches = new Map<string, Watch[]>();
  /** The number of deletions that had begun at the last page of an opening. */
  readonly #cursors = new Map<string, number>();
  readonly #inProgress = new Set<BegunCall>();
  #now = 0;

  constructor(dispatches: number) {
    this.#dispatches = Array.from({ length: dispatches }, () => new DispatchState());
  }

  begin(token: string, call: SimulatedCall): BegunCall {
    this.#now += 1;
    const began = this.#now;
    const facts = this.#factsOf(call);
    const isTaker = facts !== null && takers.includes(call.kind);
    const holder = isTaker
      ? { token, from: began, until: Infinity, isInProgress: true, isLeft: false }
      : null;
    const wasSure = facts?.sure === token;
    const begun: BegunCall = {
      token,
      call,
      began,
      writes: [],
      holder,
      wasSure,
      deletions: facts?.deletions ?? 0,
      isDisturbed: false,
    };
    this.#inProgress.add(begun);
    if (facts !== null && holder !== null) {
      facts.holders.push(holder);
      facts.takerBegan.set(token, began);
      if (facts.sure !== token || call.kind === 'break claim' || call.kind === 'delete') facts.sure = null;
    }
    if (call.kind === 'release' && wasSure && facts !== null) facts.sure = null;
    if (call.kind === 'close') this.#unsure(token);
    if (facts === null) this.#beginElsewhere(begun);
    else this.#beginWrites(begun, facts);
    return begun;
  }

  #beginElsewhere({ call, began, writes }: BegunCall): void {
    if (call.kind === 'put task') {
      const value = call.isNewer ? `newer ${call.mark}` : call.mark;
      writes.push(this.#task(call.task).begin(value, began));
    } else if (call.kind === 'create newer') writes.push(this.#newer.begin('newer', began));
  }

  #beginWrites(begun: BegunCall, facts: DispatchState): void {
    const { call, began, writes } = begun;
    const event = (id: string, text = textOf(id)) => writes.push(facts.event(id).begin(text, began));
    const field = (name: (typeof fieldNames)[number], value: string) =>
      writes.push(facts.fields[name].begin(value, began));
    switch (call.kind) {
      case 'create':
        field('title', call.mark);
        field('status', 'running');
        for (const name of ['model', 'structuredResult', 'botId'] as const) field(name, 'null');
        break;
      case 'end':
        field('status', 'completed');
        break;
      case 'update': {
        const { field: name, value } = call;
        field(name, name === 'model' ? value : `${value.length} ${value.replace(/^r*/, '')}`);
        break;
      }
      case 'append':
      case 'accept loss':
        for (const id of call.ids) event(id);
        break;
      case 'conflict':
        event(call.id, `<${call.id}> other`);
        break;
      case 'rewrite':
        this.#beginRewrite(begun, facts, call);
        break;
      case 'delete':
        facts.deletions += 1;
        forgetPositions(facts);
        for (const name of fieldNames) field(name, absent);
        this.#beginMass({ textAfter: () => absent, isOfPresent: false, began, writes }, facts);
        break;
      case 'send letter': {
        const letter = facts.letters.get(call.id) ?? new Register(absent);
        facts.letters.set(call.id, letter);
        writes.push(letter.begin('sent', began));
        for (const other of this.#inProgress)
          if (other.call.kind === 'take letters' && other.call.dispatch === call.dispatch)
            beginTaking(other, facts, call.id);
        break;
      }
      case 'take letters':
        for (const id of facts.letters.keys()) beginTaking(begun, facts, id);
        break;
    }
  }

  #beginRewrite(
    { began, writes }: BegunCall,
    facts: DispatchState,
    { what, ids: [notice = ''] }: Extract<ContractCall, { kind: 'rewrite' }>,
  ): void {
    // A rewrite whose functions fail changes nothing.
    if (what === 'fail') return;
    writes.push(facts.fields.botId.begin(notice, began, true));
    const text = (id: string) => `<${id}> ${what === 'secret' ? 'redacted' : `rewritten ${notice}`}`;
    const isUnchanged = (id: string) => id === notice || (what === 'secret' && !isSecret(id));
    const textAfter = (id: string) => (isUnchanged(id) ? null : text(id));
    this.#beginMass({ textAfter, isOfPresent: true, began, writes }, facts);
    writes.push(facts.event(notice).begin(`<${notice}> rewritten notice`, began));
  }

  #beginMass(mass: Mass, facts: DispatchState): void {
    facts.masses.add(mass);
    for (const [id, register] of facts.events) beginIn(mass, id, register);
  }

  /** Judges the result. @throws BrokenPromise */
  end(begun: BegunCall, outcome: ContractOutcome): void {
    this.#now += 1;
    const { call, writes } = begun;
    this.#inProgress.delete(begun);
    const facts = this.#factsOf(call);
    for (const mass of facts?.masses ?? []) if (mass.writes === writes) facts?.masses.delete(mass);
    if (outcome.kind === 'returned') {
      this.#judge(begun, outcome.answer, facts);
      if (facts !== null && isChange(begun)) this.#owe(call, begun.began);
      for (const { register, candidate } of writes) {
        if (call.kind === 'accept loss') register.leave(candidate, this.#now);
        else if (isLeftOut(outcome.answer, candidate.value)) register.withdraw(candidate);
        else register.acknowledge(candidate, this.#now);
      }
      this.#acknowledge(begun, outcome.answer, facts);
    } else if (outcome.kind === 'failed') {
      this.#judgeFailure(begun, outcome, facts);
      const isLeft =
        outcome.code === 'STORE_UNAVAILABLE' ||
        call.kind === 'take letters' ||
        (outcome.code === 'STORE_LOCKED' && (call.kind === 'update' || call.kind === 'end'));
      for (const { register, candidate } of writes)
        if (isLeft) register.leave(candidate, this.#now);
        else register.withdraw(candidate);
    } else for (const { register, candidate } of writes) register.leave(candidate, this.#now);
    if (facts !== null) this.#endClaim(begun, outcome, facts);
    if (call.kind === 'close') this.#close(begun, outcome);
    this.#prune();
  }

  /** A process has ended, or its store is closed: its listeners are gone, and its claims may last. */
  ended(token: string): void {
    this.#watches.delete(token);
    this.#unsure(token);
  }

  /** After a loss of power, locks that were removed can be there again, also below the number that counts. */
  lostPower(): void {
    this.#now += 1;
    this.#hasLostPower = true;
    for (const { holders } of this.#dispatches)
      holders.push({ token: 'before', from: Infinity, until: Infinity, isInProgress: false, isLeft: true });
  }

  /** A listener was called. */
  heard(token: string, watch: number): void {
    this.#now += 1;
    const one = this.#watches.get(token)?.[watch];
    if (one !== undefined) Object.assign(one, { heardAt: this.#now, isOwed: false });
  }

  /** Whether a listener has not been called since a change. */
  get isOwed(): boolean {
    return [...this.#watches.values()].flat().some(({ isOwed }) => isOwed);
  }

  /** Long enough after the last change. @throws BrokenPromise */
  assertHeard(): void {
    for (const [token, watches] of this.#watches)
      for (const [number, { isOwed, scope }] of watches.entries())
        if (isOwed) throw new BrokenPromise(`listener ${number} of ${token} missed a change of its ${scope}`);
  }

  #factsOf(call: SimulatedCall): DispatchState | null {
    if (!('dispatch' in call) || call.dispatch === null) return null;
    return this.#dispatches[call.dispatch] ?? null;
  }

  #task(task: number): Register {
    return this.#tasks[task] as Register;
  }

  #unsure(token: string): void {
    for (const facts of this.#dispatches) if (facts.sure === token) facts.sure = null;
  }

  #close({ token, isDisturbed }: BegunCall, outcome: ContractOutcome): void {
    if (outcome.kind === 'returned' && !isDisturbed) this.#releaseAll(token);
    // What it could not release is not that of the next opening of the process.
    for (const { holders } of this.#dispatches)
      for (const holder of holders) if (holder.token === token) holder.token = `${token}, closed`;
  }

  #releaseAll(token: string): void {
    for (const { holders } of this.#dispatches)
      for (const holder of holders)
        if (holder.token === token && !holder.isLeft) holder.until = Math.min(holder.until, this.#now);
  }

  #prune(): void {
    const oldest = Math.min(this.#now, ...[...this.#inProgress].map(({ began }) => began));
    for (const { holders, fields, events } of this.#dispatches) {
      if (holders.length > 20)
        holders.splice(0, holders.length, ...holders.filter(({ until }) => until >= oldest));
      for (const name of fieldNames) fields[name].prune(oldest);
      if (this.#now % 16 === 0) for (const register of events.values()) register.prune(oldest);
    }
  }

  #endClaim(
    { token, call, holder, began, isDisturbed }: BegunCall,
    outcome: ContractOutcome,
    facts: DispatchState,
  ) {
    const now = this.#now;
    const isOver = outcome.kind === 'returned' && !isDisturbed;
    const end = (isOf: (one: Holder) => boolean) => {
      for (const one of facts.holders)
        if (isOf(one) && !one.isInProgress) one.until = Math.min(one.until, now);
    };
    if (call.kind === 'release' && isOver) end((one) => one.token === token);
    if (holder === null) return;
    holder.isInProgress = false;
    if (outcome.kind === 'crashed' || (outcome.kind === 'failed' && outcome.code === 'STORE_UNAVAILABLE')) {
      holder.isLeft = true;
      return;
    }
    if (outcome.kind === 'failed') {
      if (!isDisturbed) holder.until = now;
      return;
    }
    // One that changed nothing can leave the claim to its owner.
    const isChange = call.kind !== 'accept loss' && (call.kind !== 'rewrite' || call.what !== 'fail');
    if (isChange) end((one) => one.token !== token && one.from < began);
    if (call.kind === 'claim' || call.kind === 'create') {
      const isContended =
        facts.holders.some((one) => one.token !== token && one.isInProgress) ||
        [...facts.takerBegan].some(([other, at]) => other !== token && at >= began);
      facts.sure = isContended || isDisturbed ? facts.sure : token;
      return;
    }
    // The contract does not say whether a claim lasts that its own opening breaks.
    if (isOver) holder.until = now;
    if (isOver && call.kind === 'delete') end((one) => one.token === token);
  }

  #broken({ token, call }: BegunCall, what: string): BrokenPromise {
    return new BrokenPromise(`${call.kind} of ${token} ${what} (${JSON.stringify(call).slice(0, 200)})`);
  }

  #judgeFailure(
    begun: BegunCall,
    { code, message }: { code: string; message: string },
    facts: DispatchState | null,
  ) {
    const { call, began, writes, token, wasSure, isDisturbed } = begun;
    const broken = () => this.#broken(begun, `failed with ${code}: ${message}`);
    const titles = facts?.fields.title.allowed(began, writes) ?? new Set([absent]);
    switch (code) {
      case 'STORE_UNAVAILABLE':
        return;
      case 'STORE_DISPATCH_NOT_FOUND':
        if (!titles.has(absent)) throw broken();
        return;
      case 'STORE_DISPATCH_EXISTS': {
        // A claim that began before the dispatch was deleted can be in the way.
        const isHeld = facts?.holders.some((one) => one.token !== token && one.until >= began) === true;
        const isThere = [...titles].some((title) => title !== absent);
        if (call.kind === 'create' ? !isThere && !isHeld : !isEnded(call)) throw broken();
        return;
      }
      case 'STORE_EVENT_CONFLICT': {
        const isOther = ({ register, candidate }: WriteInProgress) =>
          [...register.allowed(began, writes)].some((text) => text !== absent && text !== candidate.value);
        if (!writes.some(isOther) && call.kind !== 'take letters') throw broken();
        return;
      }
      case 'STORE_NEWER':
        if (call.kind !== 'put task') throw broken();
        if (![...this.#task(call.task).allowed(began, writes)].some((value) => value.startsWith('newer ')))
          throw broken();
        return;
      case 'STORE_INVALID_CURSOR':
        if (call.kind !== 'follow' || facts?.deletions === this.#cursors.get(`${token} ${call.dispatch}`))
          throw broken();
        return;
      case 'STORE_LOCKED':
        if (facts === null || isDisturbed) return;
        if (ofOwner.includes(call.kind) && wasSure && facts.sure === token) throw broken();
        if (!takers.includes(call.kind)) return;
        if (!facts.holders.some((one) => one.token !== token && one.until >= began)) throw broken();
        return;
      default:
        throw broken();
    }
  }

  #judge(begun: BegunCall, answer: ContractAnswer, facts: DispatchState | null): void {
    const { call, began, writes } = begun;
    if (
      call.kind === 'put task' &&
      [...this.#task(call.task).allowed(began, writes)].every((value) => value.startsWith('newer '))
    )
      throw this.#broken(begun, 'replaced what a newer version wrote');
    if (answer.kind === 'tasks') this.#judgeTasks(begun, answer.marks);
    else if (answer.kind === 'listing') this.#judgeListing(begun, answer.entries);
    else if (answer.kind === 'hits') this.#judgeHits(begun, answer.hits);
    else if (answer.kind === 'code') this.#judgeNewer(begun, answer.code);
    else if (answer.kind === 'copy') this.#judgeCopy(begun, answer.dispatches);
    if (facts === null) return;
    const titles = facts.fields.title.allowed(began, writes);
    if (call.kind === 'create') {
      if (!titles.has(absent)) throw this.#broken(begun, 'created what exists');
    } else if (call.kind !== 'release' && call.kind !== 'send letter' && call.kind !== 'watch')
      if ([...titles].every((title) => title === absent))
        throw this.#broken(begun, 'found what does not exist');
    if (call.kind === 'append' || call.kind === 'conflict') {
      for (const { register, candidate } of writes) {
        const texts = register.allowed(began, writes);
        if (!texts.has(absent) && !texts.has(candidate.value))
          throw this.#broken(begun, 'did not see other content');
      }
    }
    if (answer.kind === 'envelope') this.#judgeFields(begun, facts, answer.fields);
    else if (answer.kind === 'events') {
      if (answer.fields !== null) this.#judgeFields(begun, facts, answer.fields);
      else if (!titles.has(absent)) throw this.#broken(begun, 'has no envelope');
      this.#judgeAll(begun, facts, answer.events);
    } else if (answer.kind === 'positions') this.#judgePositions(begun, facts, idsOf(call), answer.positions);
    else if (answer.kind === 'page') this.#judgePage(begun, facts, answer);
    else if (answer.kind === 'damages' && answer.losses > 0) throw this.#broken(begun, 'found damage');
    else if (answer.kind === 'letters')
      for (const [id, letter] of facts.letters)
        if (letter.isPresent(began) && !answer.listed.includes(id))
          throw this.#broken(begun, `has lost ${id}`);
  }

  #judgeFields(begun: BegunCall, { fields }: DispatchState, found: Fields): void {
    for (const name of fieldNames)
      if (!fields[name].allowed(begun.began).has(found[name])) {
        const allowed = [...fields[name].allowed(begun.began)].join(' or ');
        throw this.#broken(begun, `has the ${name} ${found[name]}, not ${allowed}`);
      }
  }

  #judgeEvents(begun: BegunCall, facts: DispatchState, events: readonly EventText[]): void {
    const seen = new Set<string>();
    for (const [id, text] of events) {
      if (seen.has(id)) throw this.#broken(begun, `has ${id} twice`);
      seen.add(id);
      this.#judgeText(begun, facts, id, text);
    }
  }

  #judgeAll(begun: BegunCall, facts: DispatchState, events: readonly EventText[]): void {
    this.#judgeEvents(begun, facts, events);
    const found = new Set(events.map(([id]) => id));
    for (const [id, register] of facts.events)
      if (!found.has(id) && register.isPresent(begun.began)) throw this.#broken(begun, `has lost ${id}`);
  }

  /** A copy that was made while others wrote has everything that was acknowledged before, or says that it is damaged. */
  #judgeCopy(begun: BegunCall, dispatches: readonly (readonly EventText[] | string)[]): void {
    for (const [number, events] of dispatches.entries()) {
      const facts = this.#dispatches[number] as DispatchState;
      if (typeof events !== 'string') this.#judgeAll(begun, facts, events);
      else if (events === 'STORE_DISPATCH_NOT_FOUND' && facts.fields.title.isPresent(begun.began))
        throw this.#broken(begun, `has no d${number}`);
    }
  }

  #judgeText(begun: BegunCall, facts: DispatchState, id: string, text: string): void {
    const allowed = facts.events.get(id)?.allowed(begun.began);
    if (allowed?.has(text) !== true)
      throw this.#broken(
        begun,
        `has "${text.slice(0, 40)}", not ${[...(allowed ?? ['nothing'])].join(' or ').slice(0, 80)}`,
      );
  }

  #judgePositions(
    begun: BegunCall,
    facts: DispatchState,
    ids: readonly string[],
    positions: readonly number[],
  ): void {
    if (facts.deletions !== begun.deletions || facts.masses.size > 0) return;
    if (ids.length !== positions.length) throw this.#broken(begun, `returned ${positions.length} positions`);
    for (const [at, id] of ids.entries()) {
      const position = positions[at] as number;
      const [known, other] = [facts.positionOf.get(id), facts.idAt.get(position)];
      if ((known ?? position) !== position || (other ?? id) !== id)
        throw this.#broken(begun, `gave ${id} the position ${position} of ${other}, not ${known}`);
    }
  }

  #judgePage(begun: BegunCall, facts: DispatchState, page: Extract<ContractAnswer, { kind: 'page' }>): void {
    const { token, call, began } = begun;
    if (call.kind !== 'follow') return;
    this.#judgeEvents(begun, facts, page.events);
    const key = `${token} ${call.dispatch}`;
    const isSame = (this.#cursors.get(key) ?? facts.deletions) === facts.deletions;
    if (!isSame || facts.deletions !== begun.deletions) return;
    const { after, first, next, events } = page;
    if (first !== after + 1 || next !== after + events.length)
      throw this.#broken(begun, `has the page ${first} to ${next} after ${after}`);
    for (const [at, [id]] of events.entries()) {
      const known = facts.idAt.get(first + at);
      const position = facts.positionOf.get(id);
      if ((known ?? id) !== id || (position ?? first + at) !== first + at)
        throw this.#broken(begun, `has ${id} at ${first + at}, and not ${known}`);
    }
    for (const [id, position] of facts.positionOf)
      if (
        position > next &&
        position <= after + call.limit &&
        facts.events.get(id)?.isPresent(began) === true
      )
        throw this.#broken(begun, `ends at ${next}, before ${id}`);
  }

  #judgeTasks(begun: BegunCall, marks: readonly (string | null)[]): void {
    for (const [at, mark] of marks.entries()) {
      if (begun.isDisturbed && mark === 'STORE_UNAVAILABLE') continue;
      const allowed = this.#task(at % tasks).allowed(begun.began);
      const isAllowed =
        mark === 'STORE_NEWER'
          ? [...allowed].some((one) => one.startsWith('newer '))
          : allowed.has(mark ?? absent);
      if (!isAllowed) throw this.#broken(begun, `has ${mark}, not ${[...allowed].join(' or ')}`);
    }
  }

  #judgeNewer(begun: BegunCall, code: string): void {
    const allowed = this.#newer.allowed(begun.began);
    const isVerified = begun.call.kind === 'use newer' && begun.call.how === 'verify' && code === 'none';
    if ((code === 'STORE_NEWER' || isVerified) && allowed.has('newer')) return;
    // The lock of its creation can be there again.
    if (code === 'STORE_LOCKED' && this.#hasLostPower) return;
    if (code !== 'STORE_DISPATCH_NOT_FOUND' || !allowed.has(absent))
      throw this.#broken(begun, `was ${code} for what a newer version wrote`);
  }

  #judgeHits(begun: BegunCall, hits: readonly (readonly [string, ...EventText])[]): void {
    const { call, began } = begun;
    if (call.kind !== 'search') return;
    const isHit = (text: string) => text.split(/\W+/).includes(call.word);
    const found = new Set(hits.map(([dispatch, id]) => `${dispatch} ${id}`));
    for (const [dispatch, id, text] of hits) {
      const facts = this.#dispatches[numberOf(dispatch)];
      if (facts === undefined || !isHit(text))
        throw this.#broken(begun, `found ${id} of ${dispatch}: ${text}`);
      this.#judgeText(begun, facts, id, text);
    }
    for (const [number, { events }] of this.#dispatches.entries()) {
      if (call.scope === 'dispatch' && number !== 0) continue;
      for (const [id, register] of events) {
        const allowed = register.allowed(began);
        if (![...allowed].some((text) => !isHit(text)) && !found.has(`d${number} ${id}`))
          throw this.#broken(begun, `did not find ${id} of d${number}`);
      }
    }
  }

  #judgeListing(begun: BegunCall, entries: readonly ListedEntry[]): void {
    const { call, began } = begun;
    if (call.kind !== 'list') return;
    const expected = new Map<
      string,
      { readonly must: boolean; readonly may: boolean; readonly facts: DispatchState | null }
    >();
    const isOf = (status: string) => call.status === null || call.status === status;
    for (const [number, facts] of this.#dispatches.entries()) {
      const { title, status } = facts.fields;
      const statuses = [...status.allowed(began)].filter((one) => one !== absent);
      if (call.scope !== 'internal')
        expected.set(`${taskDir} d${number}`, {
          must: title.isPresent(began) && statuses.every(isOf),
          may: statuses.some(isOf),
          facts,
        });
      else
        for (const [id, letter] of facts.letters)
          expected.set(`${inboxOf(number)} ${id}`, {
            must: letter.isPresent(began) && isOf('completed'),
            may: isOf('completed'),
            facts: null,
          });
    }
    if (call.scope !== 'internal')
      expected.set(`${taskDir} ${newerId}`, { must: this.#newer.isPresent(began), may: true, facts: null });
    const counts = new Map<string, number>();
    if (begun.isDisturbed && entries.some(({ dispatchId }) => dispatchId === null)) return;
    for (const entry of entries) {
      const key = `${entry.taskDir} ${entry.dispatchId}`;
      const one = expected.get(key);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const isUnread = begun.isDisturbed && entry.code === 'STORE_UNAVAILABLE';
      if (one === undefined || (!one.may && !isUnread)) throw this.#broken(begun, `has ${key}`);
      if (entry.code !== null && !isUnread && (entry.dispatchId !== newerId || entry.code !== 'STORE_NEWER'))
        throw this.#broken(begun, `has ${entry.code} for ${key}`);
      if (one.facts !== null && entry.fields !== null) this.#judgeFields(begun, one.facts, entry.fields);
    }
    for (const [key, { must, facts }] of expected) {
      const count = counts.get(key) ?? 0;
      // A dispatch that could not be read for one page is after all others, and before them on the next page.
      if (must && count === 0 && !begun.isDisturbed) throw this.#broken(begun, `omits ${key}`);
      if (count > 1 && (facts === null || facts.fields.title.allowed(began).size === 1))
        throw this.#broken(begun, `has ${key} ${count} times`);
    }
    this.#judgeOrder(begun, entries, call.order);
  }

  /** Only of dispatches that nobody created or deleted meanwhile. */
  #judgeOrder(begun: BegunCall, entries: readonly ListedEntry[], order: 'oldest' | 'newest'): void {
    const places = entries.flatMap(({ startedAt, taskDir: task, dispatchId }) => {
      if (startedAt === null || dispatchId === null) return [];
      const facts = task === taskDir ? this.#dispatches[numberOf(dispatchId)] : undefined;
      if (facts !== undefined && facts.fields.title.allowed(begun.began).size > 1) return [];
      return [`${startedAt} ${task} ${dispatchId}`];
    });
    const sorted = [...places].sort();
    if (order === 'newest') sorted.reverse();
    if (sorted.join() !== places.join()) throw this.#broken(begun, `has the order ${places.join()}`);
  }

  /** What the call has shown, for later calls. */
  #acknowledge(
    { token, call, deletions }: BegunCall,
    answer: ContractAnswer,
    facts: DispatchState | null,
  ): void {
    if (call.kind === 'watch') {
      const watches = this.#watches.get(token) ?? [];
      this.#watches.set(token, watches);
      watches.push({ scope: call.scope, dispatch: call.dispatch, heardAt: this.#now, isOwed: false });
    }
    if (facts === null) return;
    if (call.kind === 'delete') {
      forgetPositions(facts);
      facts.deletions += 1;
    }
    if (call.kind === 'follow')
      this.#cursors.set(`${token} ${call.dispatch}`, deletions === facts.deletions ? deletions : -1);
    if (answer.kind === 'positions' && deletions === facts.deletions)
      for (const [at, id] of idsOf(call).entries()) {
        facts.positionOf.set(id, answer.positions[at] as number);
        facts.idAt.set(answer.positions[at] as number, id);
      }
  }

  #owe(call: SimulatedCall, began: number): void {
    const dispatch = 'dispatch' in call ? call.dispatch : null;
    for (const watch of [...this.#watches.values()].flat())
      if (watch.heardAt < began && (watch.dispatch === null || watch.dispatch === dispatch))
        watch.isOwed = true;
  }
}

/** Whether a call that takes letters did not append the letter with this text, because the log had it. */
function isLeftOut(answer: ContractAnswer, text: string): boolean {
  return answer.kind === 'letters' && !answer.taken.some((id) => textOf(id) === text);
}

/** Whether a call that was acknowledged has changed its dispatch for sure: an event can have been stored before. */
function isChange({ call, writes, began }: BegunCall): boolean {
  if (!changes.includes(call.kind)) return false;
  return writes.some(({ register, candidate }) => !register.allowed(began, writes).has(candidate.value));
}

function forgetPositions({ idAt, positionOf }: DispatchState): void {
  idAt.clear();
  positionOf.clear();
}

function idsOf(call: SimulatedCall): readonly string[] {
  if (call.kind === 'append') return call.ids;
  return call.kind === 'conflict' ? [call.id] : [];
}

/** Creations of ended dispatches, which may be repeated. */
function isEnded({ kind }: SimulatedCall): boolean {
  return kind === 'send letter' || kind === 'create newer';
}

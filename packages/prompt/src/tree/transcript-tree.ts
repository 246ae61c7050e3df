import type { CapturedEvent, EventData } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import {
  type Agent,
  type Branch,
  entryOf,
  isEntry,
  kindOf,
  newAgent,
  newBranch,
  type Place,
} from './places.ts';
import { type TreeProblem, TreeProblems } from './tree-problems.ts';

/**
 * What an event did to the current branch of its agent. `continues`: it stands at its end, or is a record beside it. `elsewhere`: it belongs to another
 * branch. `turns`: the current branch has another path now.
 */
export type Placement = 'continues' | 'elsewhere' | 'turns';

/** Whether an event only continues the current branch of its agent, whatever came before it. */
export function isStraightEvent({ type, follows, retracts, data }: CapturedEvent): boolean {
  if (follows !== undefined || retracts !== undefined || type === 'session:rewind') return false;
  return type !== 'agent:created' || data.inherits === undefined;
}

/** The path of a transcript from its beginning to an entry. */
export interface TranscriptPath<T> {
  /** The entries and the `agent:inference` records of their answers, without what was retracted. In the order of the log for each agent. */
  readonly values: readonly T[];
  /** The calls without a result that a rewind took back. */
  readonly takenBack: ReadonlySet<string>;
  /** The messages that the path has only a part of. What their provider would get back does not fit them. */
  readonly cut: ReadonlySet<string>;
  /** Whether everything is in the log: no entry follows an event that is missing, and an inherited head is there. */
  readonly isKnown: boolean;
}

/** Where a path ends, and which events it takes note of. */
export interface PathMark<T> {
  readonly agent: Agent<T>;
  readonly end: Place<T> | null;
  readonly through: number;
  readonly retractedThrough: number;
}

/** An event of an agent, and the entry that it follows on its path. */
export interface TranscriptStep<T> {
  readonly value: T;
  /** Whether it is part of prompts. Otherwise it is a record, such as `agent:inference`. */
  readonly isEntry: boolean;
  /** The entry before it, perhaps of an agent from which this one inherits. Null: the path begins with it. */
  readonly before: T | null;
}

/** A branch of a transcript, with what lies on it and on no branch before it. */
export interface TranscriptBranch {
  readonly agentId: string;
  /** `abandoned`: a rewind left it. `parallel`: a prompt began or continued another branch beside it. */
  readonly state: 'current' | 'abandoned' | 'parallel';
  /** Its address: the id of its last event. Null: the transcript is empty. */
  readonly address: string | null;
  /** The last entry that it shares with an earlier branch. Null: it begins the transcript anew, or is the first branch. */
  readonly from: string | null;
  readonly events: number;
  readonly prompts: number;
}

/** What of a branch is not on the current branch of its agent. Its fields are about that part: `from` is the entry before it. */
export interface LeftBranch<T> extends TranscriptBranch {
  readonly address: string;
  readonly values: readonly T[];
}

/**
 * The transcripts of the agents of a log as trees: a fold over events in the order of the log. `T` is what a caller keeps of an event. The
 * rules are in docs/contract.md, under "Branches".
 *
 * Invariants: every event has one place, and every entry one entry before it. Nothing that is added changes the place of an earlier event, so a
 * path to an entry never changes, except for an inherited head that comes later in the log.
 */
export class TranscriptTree<T> {
  readonly #agentOf: (event: Pick<CapturedEvent, 'agentId'>) => string;
  readonly #dispatched: string;
  readonly #agents = new Map<string, Agent<T>>();
  readonly #places: Place<T>[] = [];
  /** The first place of each id. Filled when it is needed: a log without branches never asks. */
  readonly #byId = new Map<string, Place<T>>();
  #indexed = 0;
  /** The calls that rewinds took back, by the number of the first one. */
  readonly #takenBack = new Map<Place<T>, number>();
  /** The ends of paths whose open calls were taken back. */
  readonly #swept = new Set<Place<T>>();
  readonly #firstOfMessages = new Map<
    Agent<T>,
    { indexed: number; readonly places: Map<string, Place<T>> }
  >();
  readonly #problems = new TreeProblems();
  #states: { readonly of: number; readonly states: ReadonlyMap<Place<T>, Branch<T>['state']> } | null = null;

  /** `agentOf` names the agent of an event. Absent: events without an agent have the agent ''. */
  constructor(agentOf: (event: Pick<CapturedEvent, 'agentId'>) => string = ({ agentId = '' }) => agentId) {
    this.#agentOf = agentOf;
    this.#dispatched = agentOf({});
  }

  /** Adds the next event of the log. */
  add(event: CapturedEvent, value: T): Placement {
    const agent = this.#agentNamed(this.#agentOf(event));
    const { id, type, follows, retracts, messageId, data } = event;
    const kind = kindOf(event);
    const { current } = agent;
    // Field by field: there is one for each event of a log, and spreading costs several times as much.
    const place: Place<T> = {
      id,
      value,
      number: this.#places.length,
      agent,
      kind,
      messageId,
      toolCallId: kind === 'call' || kind === 'result' ? data.toolCallId : undefined,
      before: current.end,
      branch: current,
      missing: undefined,
      currentEnd: undefined,
    };
    let placement: Placement = 'continues';
    if (follows !== undefined) placement = this.#follow(place, follows);
    else if (kind === 'inference' && !agent.isStraight) placement = this.#placeInference(place);
    if (kind === 'rewind' && isReadableAs(event, 'session:rewind'))
      placement = this.#rewind(place, event.data);
    if (type === 'agent:created' && isReadableAs(event, 'agent:created'))
      placement = this.#inherit(place, event.data);
    this.#append(place);
    if (retracts !== undefined && this.#retract(place, retracts)) placement = 'turns';
    const { end } = agent.current;
    if (entryOf(place) !== end) place.currentEnd = end;
    return placement;
  }

  /** Whether an agent has one branch, which has everything, and no head of another agent. */
  isStraight(agentId: string): boolean {
    return this.#agents.get(agentId)?.isStraight ?? true;
  }

  /** The agents with more than a straight line. */
  get branchedAgents(): readonly string[] {
    return [...this.#agents.values()].filter(({ isStraight }) => !isStraight).map(({ id }) => id);
  }

  /** The current branch of an agent after an event of any agent. Absent: after everything. */
  currentPath(agentId: string, after?: string): TranscriptPath<T> {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return nothing;
    const through = after === undefined ? undefined : this.#placeOf(after)?.number;
    return this.#pathTo(agent, currentEnd(agent, through), through);
  }

  /** Where `currentPath` ends after an event of any agent. Null: there is no such agent. */
  markAfter(agentId: string, after: string): PathMark<T> | null {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return null;
    const through = this.#placeOf(after)?.number ?? this.#places.length;
    return { agent, end: currentEnd(agent, through), through, retractedThrough: through };
  }

  /** Where `pathBefore` ends. Null: the event is not in the log. */
  markBefore(eventId: string): PathMark<T> | null {
    const place = this.#placeOf(eventId);
    if (place === undefined) return null;
    const { agent, before: end, number } = place;
    return { agent, end, through: number - 1, retractedThrough: number };
  }

  pathAt({ agent, end, through, retractedThrough }: PathMark<T>): TranscriptPath<T> {
    return this.#pathTo(agent, end, through, retractedThrough);
  }

  /**
   * What a path has after an earlier path of the agent, which has whole messages only. Null if more than that can differ, or if only the paths themselves
   * show it. The cost depends on the number of events between the two.
   */
  addedBetween(from: PathMark<T>, to: PathMark<T>, takenBack: ReadonlySet<string>): readonly T[] | null {
    const { agent } = from;
    const isLater = from.through <= to.through && from.retractedThrough <= to.retractedThrough;
    if (to.agent !== agent || agent.inherits !== undefined || !isLater) return null;
    const line = new Set<Place<T>>();
    for (let place = to.end; place !== from.end; place = place.before) {
      if (place === null || place.number <= from.through) return null;
      line.add(place);
    }
    for (const number of agent.retracted.values())
      if (number > from.retractedThrough && number <= to.retractedThrough) return null;
    const messages = new Set<string | undefined>();
    const added: T[] = [];
    for (
      let at = firstAfter(agent, from.through);
      (agent.places[at]?.number ?? Infinity) <= to.through;
      at += 1
    ) {
      const place = agent.places[at] as Place<T>;
      const { kind, messageId, value } = place;
      if (kind === 'rewind') return null;
      if (kind === 'inference') {
        if (messageId === undefined) continue;
        if (!messages.has(messageId)) return null;
        added.push(value);
      } else if (line.delete(place)) {
        const isOpen = (kind === 'call' || kind === 'result') && takenBack.has(String(place.toolCallId));
        if (isOpen || this.#isRetracted(place, to.retractedThrough)) return null;
        if (messageId !== undefined && !messages.has(messageId) && this.#firstOf(place) !== place)
          return null;
        messages.add(messageId);
        added.push(value);
      } else if (isEntry(place) && messageId !== undefined) return null;
    }
    return line.size === 0 ? added : null;
  }

  /** The first entry or call of its message. */
  #firstOf({ agent, messageId }: Place<T>): Place<T> | undefined {
    const known = this.#firstOfMessages.get(agent) ?? { indexed: 0, places: new Map<string, Place<T>>() };
    this.#firstOfMessages.set(agent, known);
    for (; known.indexed < agent.places.length; known.indexed += 1) {
      const place = agent.places[known.indexed] as Place<T>;
      const counts = isEntry(place) || place.kind === 'inference';
      if (counts && place.messageId !== undefined && !known.places.has(place.messageId))
        known.places.set(place.messageId, place);
    }
    return known.places.get(messageId ?? '');
  }

  /** The last entry of the current branch of an agent after an event of any agent. Null: there is none. Absent: after everything. */
  currentEnd(agentId: string, after?: string): T | null {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return null;
    const through = after === undefined ? undefined : this.#placeOf(after)?.number;
    return this.#entryAt(currentEnd(agent, through));
  }

  /** The entry of another agent with which a transcript begins. Null: it begins with its own, or that entry is not in the log. */
  headOf(agentId: string): T | null {
    const agent = this.#agents.get(agentId);
    return agent === undefined ? null : this.#entryAt(agent.head);
  }

  /** All events of an agent, on any branch, in the order of the log. */
  *steps(agentId: string): Generator<TranscriptStep<T>, void> {
    for (const place of this.#agents.get(agentId)?.places ?? [])
      yield { value: place.value, isEntry: isEntry(place), before: this.#entryAt(place.before) };
  }

  /** Whether the path to an event has an entry, retracted or not. */
  isOnPath(entryId: string, eventId: string): boolean {
    const [entry, end] = [this.#placeOf(entryId), this.#placeOf(eventId)];
    return entry !== undefined && end !== undefined && isEntry(entry) && this.#isOn(entry, entryOf(end));
  }

  /** The place of an event among all that were added, from 0. Null: it was not added. */
  numberOf(eventId: string): number | null {
    return this.#placeOf(eventId)?.number ?? null;
  }

  /** The last event of an agent, on any branch. Null: it has none. */
  lastOf(agentId: string): T | null {
    return this.#agents.get(agentId)?.places.at(-1)?.value ?? null;
  }

  /** What the caller keeps of an event. Null: it is not in the log. */
  valueOf(eventId: string): T | null {
    return this.#placeOf(eventId)?.value ?? null;
  }

  /** The path to an event, with the event. Null: it is not in the log. */
  pathThrough(eventId: string): TranscriptPath<T> | null {
    const place = this.#placeOf(eventId);
    return place === undefined ? null : this.#pathTo(place.agent, entryOf(place));
  }

  /** The path on which an event was made, without the event: what the model of an answer was given. Null: it is not in the log. */
  pathBefore(eventId: string): TranscriptPath<T> | null {
    const place = this.#placeOf(eventId);
    return place === undefined
      ? null
      : this.#pathTo(place.agent, place.before, place.number - 1, place.number);
  }

  /** Whether the current branch of its agent has an event. A record that is not an entry is where the entry before it is. */
  isCurrent(eventId: string): boolean {
    return this.standing(eventId) === 'current';
  }

  /**
   * Whether the current branch of its agent has an event; otherwise whether a parallel branch has it, or only branches that were abandoned. A record that is
   * not an entry is where the entry before it is.
   */
  standing(eventId: string): TranscriptBranch['state'] {
    const place = this.#placeOf(eventId);
    if (place === undefined || place.agent.isStraight) return 'current';
    const entry = entryOf(place);
    if (entry === null || entry.kind === 'head') return 'current';
    if (entry.agent !== place.agent)
      return this.#isOn(entry, place.agent.current.end) ? 'current' : 'abandoned';
    return this.#statesNow().get(entry) ?? 'abandoned';
  }

  /** The events that engines took back, each with the event that says so, in the order of those. */
  get retractions(): readonly { readonly of: T; readonly by: T }[] {
    const all = [...this.#agents.values()].flatMap((agent) =>
      [...agent.retracted].flatMap(([id, number]) => {
        const of = this.#placeOf(id);
        const by = this.#places[number];
        return of === undefined || by === undefined || of.agent !== agent ? [] : [{ of, by }];
      }),
    );
    all.sort((one, other) => one.by.number - other.by.number);
    return all.map(({ of, by }) => ({ of: of.value, by: by.value }));
  }

  /** Whether an engine took an event back. */
  isRetracted(eventId: string): boolean {
    const place = this.#placeOf(eventId);
    return place !== undefined && this.#isRetracted(place, this.#places.length);
  }

  /** The branches of an agent, in the order in which they began. */
  branches(agentId: string): TranscriptBranch[] {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return [];
    const all = agent.branches.includes(agent.current) ? agent.branches : [...agent.branches, agent.current];
    return all.map((branch) => this.#describe(branch));
  }

  /**
   * What is not on the current branches, by branch, in the order of the first events. Together with the current branches it is the log: a
   * record that is not an entry is where the entry before it is. A record before the first entry of its agent, such as `agent:created`, is never left.
   */
  leftBranches(): LeftBranch<T>[] {
    const left = new Map<Branch<T>, Place<T>[]>();
    for (const agent of this.#agents.values()) {
      if (agent.isStraight) continue;
      const current = new Set(this.#lineTo(agent.current.end));
      for (const place of agent.places) {
        const entry = entryOf(place);
        if (entry === null || entry.kind === 'head' || entry.agent !== agent || current.has(entry)) continue;
        const own = left.get(place.branch);
        if (own === undefined) left.set(place.branch, [place]);
        else own.push(place);
      }
    }
    return [...left]
      .sort(([, [one]], [, [other]]) => (one?.number ?? 0) - (other?.number ?? 0))
      .map(([{ agent, state }, own]) => ({
        agentId: agent.id,
        state,
        address: own.at(-1)?.id ?? '',
        from: this.#idOf(own[0] === undefined ? null : (entryOf(own[0])?.before ?? null)),
        events: own.length,
        prompts: own.filter(({ kind }) => kind === 'prompt').length,
        values: own.map(({ value }) => value),
      }));
  }

  /** The events that engines took back, in the order of the log. */
  retracted(): T[] {
    const retracted = [...this.#agents.values()].flatMap((agent) =>
      [...agent.retracted.keys()].flatMap((id) => this.#placeOf(id) ?? []),
    );
    return retracted.sort((one, other) => one.number - other.number).map(({ value }) => value);
  }

  /**
   * The events of one branch, from the beginning of the transcript to an event: the entries, and the records of the branches that they lie on. Null: the
   * event is not in the log.
   */
  eventsThrough(eventId: string): T[] | null {
    const last = this.#placeOf(eventId);
    if (last === undefined) return null;
    const line = new Set(this.#lineTo(entryOf(last)));
    const branches = new Set([...line].map(({ branch }) => branch).concat(last.branch));
    const agents = new Set([...line].map(({ agent }) => agent).concat(last.agent));
    const answers = new Set([...line].flatMap(({ messageId }) => messageId ?? []));
    const isOn = (place: Place<T>) => {
      if (isEntry(place)) return line.has(place);
      // The record of an answer can come later than the answer.
      if (place.kind === 'inference' && answers.has(place.messageId ?? '')) return true;
      const entry = place.before;
      if (place.number > last.number || !branches.has(place.branch)) return false;
      return entry === null || entry.kind === 'head' || line.has(entry);
    };
    return [...agents]
      .flatMap(({ places }) => places.filter(isOn))
      .sort((one, other) => one.number - other.number)
      .map(({ value }) => value);
  }

  /** The branch that an event lies on, and on no earlier one. Null: it is not in the log. */
  branchOf(eventId: string): TranscriptBranch | null {
    const place = this.#placeOf(eventId);
    return place === undefined ? null : this.#describe(place.branch);
  }

  /** The events of the branch that an event lies on, from the beginning of the transcript. Null: it is not in the log. */
  branchPath(eventId: string): TranscriptPath<T> | null {
    const place = this.#placeOf(eventId);
    return place === undefined ? null : this.#pathTo(place.agent, place.branch.end);
  }

  /** What is wrong in the links of the log, in its order. */
  get problems(): readonly TreeProblem[] {
    // Heads are followed when they are needed.
    for (const agent of this.#agents.values()) if (agent.inherits !== undefined) this.#lineTo(agent.head);
    return this.#problems.list((id) => this.#placeOf(id) !== undefined);
  }

  #agentNamed(id: string): Agent<T> {
    let agent = this.#agents.get(id);
    if (agent === undefined) {
      agent = newAgent(id);
      this.#agents.set(id, agent);
    }
    return agent;
  }

  #append(place: Place<T>): void {
    const { agent, branch } = place;
    this.#places.push(place);
    agent.places.push(place);
    if (!isEntry(place)) return;
    if (agent.missing !== undefined && branch === agent.current) {
      place.missing = agent.missing;
      agent.missing = undefined;
    }
    if (branch.own === 0) agent.branches.push(branch);
    branch.own += 1;
    branch.end = place;
    branch.extended = place.number;
  }

  #follow(place: Place<T>, follows: string): Placement {
    const { agent } = place;
    const entry = this.#entryNamed(place, follows, 'follows');
    if (entry === undefined) {
      agent.missing = follows;
      agent.isStraight = false;
      return 'continues';
    }
    const { current } = agent;
    if (entry === current.end) return 'continues';
    if (place.kind === 'prompt') {
      const branch = branchEnding(agent, entry) ?? newBranch(agent, entry);
      current.state = 'parallel';
      this.#makeCurrent(branch);
      putOn(place, branch);
      return 'turns';
    }
    if (this.#isOn(entry, current.end)) return 'continues';
    const branch = this.#branchWith(agent, entry);
    if (branch === undefined) return 'continues';
    putOn(place, branch);
    return 'elsewhere';
  }

  /** The call of an answer is where the last block of the answer is. */
  #placeInference(place: Place<T>): Placement {
    const { agent, messageId } = place;
    const block = agent.places.findLast((one) => one.messageId === messageId && isEntry(one));
    if (block === undefined || messageId === undefined) return 'continues';
    if (this.#isOn(block, agent.current.end)) return 'continues';
    place.before = block;
    place.branch = block.branch;
    return 'elsewhere';
  }

  #rewind(place: Place<T>, { keptThrough, left }: EventData<'session:rewind'>): Placement {
    const { agent } = place;
    const target = keptThrough === null ? null : this.#entryNamed(place, keptThrough, 'keptThrough');
    if (target === undefined) {
      agent.missing = keptThrough ?? undefined;
      agent.isStraight = false;
      return 'continues';
    }
    const { current } = agent;
    const last = left === undefined ? undefined : this.#entryNamed(place, left, 'left');
    const leaving = last == null ? current : (this.#branchWith(agent, last) ?? current);
    if (leaving === current && target === current.end) return 'continues';
    this.#takeBack(leaving.end, place);
    this.#takeBack(target, place);
    const next = target === current.end ? current : (branchEnding(agent, target) ?? newBranch(agent, target));
    if (next !== current) current.state = 'parallel';
    if (next !== leaving) leaving.state = 'abandoned';
    this.#makeCurrent(next);
    putOn(place, next);
    return 'turns';
  }

  #makeCurrent(branch: Branch<T>): void {
    const { agent } = branch;
    agent.isStraight = false;
    branch.state = 'current';
    agent.current = branch;
  }

  /** The calls of an agent on a path without a result there are over. Before an end that was swept, no other call can be open. */
  #takeBack(end: Place<T> | null, { agent, number }: Place<T>): void {
    const own: Place<T>[] = [];
    for (let place = end; place !== null && place.kind !== 'head'; place = place.before) {
      if (place.agent !== agent || this.#swept.has(place)) break;
      own.push(place);
    }
    for (const call of openCallsOf(own.reverse()))
      if (!this.#takenBack.has(call)) this.#takenBack.set(call, number);
    if (end?.agent === agent) this.#swept.add(end);
  }

  #inherit({ agent, id }: Place<T>, { inherits }: EventData<'agent:created'>): Placement {
    if (inherits === undefined || agent.inherits !== undefined) return 'continues';
    agent.inherits = { ...inherits, eventId: id };
    agent.isStraight = false;
    return 'turns';
  }

  /** Whether the current path of an agent changed. */
  #retract({ agent, id, number }: Place<T>, retracts: readonly string[]): boolean {
    for (const eventId of retracts) {
      const place = this.#placeOf(eventId);
      if (place !== undefined && place.agent !== agent) this.#problems.otherAgent(id, 'retracts', eventId);
      else if (!agent.retracted.has(eventId)) agent.retracted.set(eventId, number);
    }
    agent.isStraight = false;
    return true;
  }

  #isRetracted({ id, agent }: Place<T>, through: number): boolean {
    return agent.retracted.size > 0 && (agent.retracted.get(id) ?? Number.POSITIVE_INFINITY) <= through;
  }

  /** The entry that a link names: the entry with the id, or the entry before the record with the id. Undefined: not known. */
  #entryNamed(place: Place<T>, id: string, field: string): Place<T> | null | undefined {
    const { agent } = place;
    const named = this.#placeOf(id);
    if (named === undefined) {
      this.#problems.unknown(place.id, field, id);
      return undefined;
    }
    const entry = entryOf(named);
    if (named.agent === agent) return entry;
    if (entry === null || !this.#isOn(entry, agent.head)) {
      this.#problems.otherAgent(place.id, field, id);
      return undefined;
    }
    return entry === this.#upFrom(agent.head).next().value ? agent.head : entry;
  }

  /** The branch with an entry: the current branch if possible, otherwise the branch that was extended last. */
  #branchWith(agent: Agent<T>, entry: Place<T> | null): Branch<T> | undefined {
    if (this.#isOn(entry, agent.current.end)) return agent.current;
    return agent.branches
      .toSorted((one, other) => other.extended - one.extended)
      .find(({ end }) => this.#isOn(entry, end));
  }

  #placeOf(id: string): Place<T> | undefined {
    for (; this.#indexed < this.#places.length; this.#indexed += 1) {
      const place = this.#places[this.#indexed] as Place<T>;
      if (!this.#byId.has(place.id)) this.#byId.set(place.id, place);
    }
    return this.#byId.get(id);
  }

  /** The entry of another agent with which a transcript begins. Null: it begins with nothing. Undefined: that entry is not in the log. */
  #inherited({ inherits }: Agent<T>): Place<T> | null | undefined {
    if (inherits === undefined) return null;
    const place = this.#placeOf(inherits.through);
    const agentId = inherits.agentId ?? this.#dispatched;
    return place?.agent.id === agentId ? entryOf(place) : undefined;
  }

  /** The entries from the end of a path to its beginning, through the transcripts that it inherits. */
  *#upFrom(end: Place<T> | null): Generator<Place<T>, void> {
    const heads = new Set<Agent<T>>();
    let place: Place<T> | null | undefined = end;
    while (place != null) {
      if (place.kind !== 'head') {
        yield place;
        place = place.before;
        continue;
      }
      const { agent } = place;
      if (heads.has(agent)) {
        this.#problems.cycle(agent.inherits?.eventId ?? '', agent.id);
        return;
      }
      heads.add(agent);
      place = this.#inherited(agent);
      if (place === undefined && agent.inherits !== undefined)
        this.#problems.unknown(agent.inherits.eventId, 'inherits', agent.inherits.through);
    }
  }

  #lineTo(end: Place<T> | null): Place<T>[] {
    const line: Place<T>[] = [];
    let place = end;
    // A generator costs several times as much.
    for (; place !== null && place.kind !== 'head'; place = place.before) line.push(place);
    if (place !== null) line.push(...this.#upFrom(place));
    return line.reverse();
  }

  /** The cost depends on the number of branches up to the entry, not on that of entries. */
  #isOn(entry: Place<T> | null, end: Place<T> | null): boolean {
    if (entry === end) return true;
    if (entry === null) return false;
    if (entry.kind === 'head') return this.#rootOf(end) === entry;
    const heads = new Set<Agent<T>>();
    let place: Place<T> | null | undefined = end;
    while (place != null) {
      if (place.kind === 'head') {
        if (heads.has(place.agent)) return false;
        heads.add(place.agent);
        place = this.#inherited(place.agent);
        continue;
      }
      if (place.branch === entry.branch && entry.number <= place.number) return true;
      if (place.agent === entry.agent && place.number < entry.number) return false;
      place = place.branch.base;
    }
    return false;
  }

  /** The head at which the entries of its own agent begin; null: a rewind to nothing left it. */
  #rootOf(end: Place<T> | null): Place<T> | null {
    let place = end;
    while (place !== null && place.kind !== 'head') place = place.branch.base;
    return place;
  }

  /** The entry at a place; of a head, the entry that is inherited there. */
  #entryAt(place: Place<T> | null): T | null {
    return this.#upFrom(place).next().value?.value ?? null;
  }

  /** The entries of branched agents that a current or a parallel branch has. */
  #statesNow(): ReadonlyMap<Place<T>, Branch<T>['state']> {
    if (this.#states?.of === this.#places.length) return this.#states.states;
    const states = new Map<Place<T>, Branch<T>['state']>();
    const live = (agent: Agent<T>) => agent.branches.filter(({ state }) => state === 'parallel');
    for (const agent of this.#agents.values()) {
      if (agent.isStraight) continue;
      for (const { state, end } of [agent.current, ...live(agent)])
        for (let at = end; at !== null && at.agent === agent && !states.has(at); at = at.before)
          states.set(at, state);
    }
    this.#states = { of: this.#places.length, states };
    return states;
  }

  /** The path to an entry, as it was after the event with a number. */
  #pathTo(
    agent: Agent<T>,
    end: Place<T> | null,
    through = this.#places.length,
    /** An answer can retract what it supersedes. */
    retractedThrough = through,
  ): TranscriptPath<T> {
    const line = this.#lineTo(end);
    const shown = line.filter((place) => !this.#isRetracted(place, retractedThrough));
    // An open call of an inherited head is not a call of this agent: its result goes to the other agent.
    const open = [...openCallsOf(line)].filter(
      (call) => call.agent !== agent || (this.#takenBack.get(call) ?? Number.POSITIVE_INFINITY) <= through,
    );
    const { calls, cut } = answersOn(shown, agent, through);
    return {
      values: calls.flatMap(({ value }) => [value]),
      takenBack: new Set(open.map(({ toolCallId }) => String(toolCallId))),
      cut,
      isKnown: line.every(({ missing }) => missing === undefined) && this.#isHeadKnown(end),
    };
  }

  #isHeadKnown(end: Place<T> | null): boolean {
    const seen = new Set<Agent<T>>();
    let head = this.#rootOf(end);
    while (head !== null) {
      if (seen.has(head.agent)) return false;
      seen.add(head.agent);
      const inherited = this.#inherited(head.agent);
      if (inherited === undefined) return false;
      head = this.#rootOf(inherited);
    }
    return true;
  }

  #describe(branch: Branch<T>): TranscriptBranch {
    const { agent, state, start, end } = branch;
    const own = agent.places.filter((place) => place.branch === branch);
    return {
      agentId: agent.id,
      state,
      address: own.at(-1)?.id ?? this.#idOf(end),
      from: this.#idOf(start),
      events: own.length,
      prompts: own.filter(({ kind }) => kind === 'prompt').length,
    };
  }

  #idOf(entry: Place<T> | null): string | null {
    return this.#upFrom(entry).next().value?.id ?? null;
  }
}

const nothing = { values: [], takenBack: new Set<string>(), cut: new Set<string>(), isKnown: true } as const;

/** The entries of a path with the calls of their answers, and the messages of which it lacks blocks. */
function answersOn<T>(
  line: readonly Place<T>[],
  ofPath: Agent<T>,
  through: number,
): { readonly calls: readonly Place<T>[]; readonly cut: ReadonlySet<string> } {
  const calls: Place<T>[] = [];
  const cut = new Set<string>();
  for (let from = 0; from < line.length; ) {
    const agent = (line[from] as Place<T>).agent;
    let to = from + 1;
    while (to < line.length && line[to]?.agent === agent) to += 1;
    const own = line.slice(from, to);
    // An inherited head can come later in the log.
    const limit = agent === ofPath ? through : Number.POSITIVE_INFINITY;
    const shown = new Set(own);
    const messages = new Set(own.map(({ messageId }) => messageId));
    const records: Place<T>[] = [];
    for (const place of agent.places) {
      if (place.messageId === undefined || place.number > limit || !messages.has(place.messageId)) continue;
      if (place.kind === 'inference') records.push(place);
      else if (isEntry(place) && !shown.has(place)) cut.add(place.messageId);
    }
    calls.push(...[...own, ...records].sort((one, other) => one.number - other.number));
    from = to;
  }
  return { calls, cut };
}

/** The calls without a result on a path. */
function openCallsOf<T>(line: readonly Place<T>[]): Iterable<Place<T>> {
  const open = new Map<unknown, Place<T>>();
  for (const place of line) {
    if (place.kind === 'call') open.set(place.toolCallId, place);
    else if (place.kind === 'result') open.delete(place.toolCallId);
  }
  return open.values();
}

function putOn<T>(place: Place<T>, branch: Branch<T>): void {
  place.before = branch.end;
  place.branch = branch;
}

function branchEnding<T>(agent: Agent<T>, end: Place<T> | null): Branch<T> | undefined {
  return agent.branches.find((branch) => branch.end === end);
}

/** The end of the current branch of an agent after the event with a number; absent: after everything. */
function currentEnd<T>({ places, head, current }: Agent<T>, through: number | undefined): Place<T> | null {
  if (through === undefined) return current.end;
  const last = places[firstAfter({ places }, through) - 1];
  return last === undefined ? head : endAfter(last);
}

/** The index of the first event of an agent after the event with this number. */
function firstAfter<T>({ places }: Pick<Agent<T>, 'places'>, through: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] as Place<T>).number <= through) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The end of the current branch after an event. */
function endAfter<T>(place: Place<T>): Place<T> | null {
  return place.currentEnd === undefined ? entryOf(place) : place.currentEnd;
}

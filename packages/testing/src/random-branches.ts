import type { CapturedEvent, EventLinks, JsonObject } from '@hansard/events';
import { randomFrom } from './made-events.ts';

/** A path of a transcript as the writer of the log keeps it: the whole list of its entries. */
interface WrittenPath {
  readonly ids: string[];
  /** Whether it begins with the head of the agent, and not with a rewind to nothing. */
  readonly isRooted: boolean;
  readonly from: string | null;
  state: 'current' | 'abandoned' | 'parallel';
  entries: number;
  events: number;
  prompts: number;
  extended: number;
  address: string | null;
}

/** What an agent's next prompt is made of. */
export interface WrittenPrompt {
  readonly agentId: string;
  /** The entries of the current branch, without what was retracted. */
  readonly ids: readonly string[];
  readonly takenBack: readonly string[];
  readonly isKnown: boolean;
}

/** An answer, and what its model was given as its writer saw it. */
interface WrittenAnswer {
  readonly agentId: string;
  readonly messageId: string;
  /** Its first event. */
  readonly id: string;
  /** Of a recorded call: the entries of the prompt, without what was retracted by then. Null: not recorded. */
  readonly prompt: readonly string[] | null;
  /** Of a recorded call: the last event of the agent before it. */
  readonly through: string | null;
}

/** An utterance that reached another agent. */
interface WrittenDelivery {
  readonly utterance: string;
  readonly agentId: string;
  /** The event by which it did. */
  readonly id: string;
}

interface WrittenAgent {
  readonly id: string;
  /** The entries that it inherits. A head that is not in the log is one entry that begins with "?". */
  readonly head: readonly string[];
  readonly paths: WrittenPath[];
  readonly events: string[];
  readonly messages: string[];
  readonly retracted: Set<string>;
  current: WrittenPath;
  missing: boolean;
  /** What the model was given that has not answered yet. */
  call: Pick<WrittenAnswer, 'prompt' | 'through'> | null;
}

/** A log with branches, and the truth about it: its writer keeps every path as a list. */
export interface BranchedLog {
  readonly events: readonly CapturedEvent[];
  /** By event: the next prompt of its agent after it. */
  readonly prompts: readonly WrittenPrompt[];
  readonly agents: readonly {
    readonly agentId: string;
    /** The entries that it inherits. */
    readonly head: readonly string[];
    readonly paths: readonly WrittenPath[];
    readonly prompt: WrittenPrompt;
  }[];
  /** By entry: all entries up to it. */
  readonly pathTo: ReadonlyMap<string, readonly string[]>;
  /** By event: the entries up to it, the agent, and the path that it was added to. */
  readonly placed: ReadonlyMap<string, PlacedEvent>;
  /** The retracted events. */
  readonly retracted: ReadonlySet<string>;
  /** How many links name an unknown event, and how many one of another agent. */
  readonly badLinks: number;
  readonly answers: readonly WrittenAnswer[];
  readonly deliveries: readonly WrittenDelivery[];
  /** By event: the number of the event that took it back. */
  readonly retractedBy: ReadonlyMap<string, number>;
}

interface PlacedEvent {
  readonly ids: readonly string[];
  readonly agentId: string;
  readonly path: WrittenPath;
}

export interface BranchedLogOptions {
  readonly seed: number;
  readonly length: number;
  /** Without compactions, system prompts of the middle and links that lead nowhere, so that every prompt is a plain list. */
  readonly isPlain?: boolean;
  /**
   * The agents talk: utterances reach other agents, are passed on, and come as results of calls. Some model calls record what they were given. Call
   * ids occur again on other branches.
   */
  readonly talks?: boolean;
}

/**
 * A random log of several agents with rewinds to any event, returns to abandoned branches, late records, parallel branches, retractions, heads of
 * other agents, and links that lead nowhere.
 */
export function branchedLog(options: BranchedLogOptions): BranchedLog {
  const writer = new BranchWriter(options);
  while (writer.events.length < options.length) writer.step();
  return writer.finish();
}

class BranchWriter {
  readonly events: CapturedEvent[] = [];
  readonly #random: () => number;
  readonly #isPlain: boolean;
  readonly #talks: boolean;
  readonly #answers: WrittenAnswer[] = [];
  readonly #deliveries: WrittenDelivery[] = [];
  /** By agent and event. */
  readonly #retractedBy = new Map<string, number>();
  /** The utterances, and what they were called when they were passed on. */
  readonly #said: { readonly id: string; readonly utterance: string; readonly by: string }[] = [];
  /** The messages without a record of their call, with what that records. */
  readonly #unrecorded: {
    readonly agent: WrittenAgent;
    readonly messageId: string;
    readonly context: JsonObject;
  }[] = [];
  readonly #agents: WrittenAgent[] = [];
  readonly #prompts: WrittenPrompt[] = [];
  readonly #byId = new Map<string, CapturedEvent>();
  /** By event: the list of the entries up to it, and whether that begins with the head. */
  readonly #anchor = new Map<string, { readonly ids: readonly string[]; readonly isRooted: boolean }>();
  readonly #ownerOf = new Map<string, WrittenAgent>();
  readonly #pathTo = new Map<string, readonly string[]>();
  readonly #placed = new Map<string, PlacedEvent>();
  readonly #takenBack = new Set<string>();
  readonly #unknownBefore = new Set<string>();
  readonly #badLinks = new Set<string>();

  constructor({ seed, isPlain = false, talks = false }: BranchedLogOptions) {
    this.#random = randomFrom(seed);
    this.#isPlain = isPlain;
    this.#talks = talks;
    this.#create(null);
  }

  step(): void {
    const agent = this.#pick(this.#agents);
    if (this.#talks && this.#chance(0.4)) {
      this.#talk(agent);
      return;
    }
    const kind = this.#below(100);
    if (kind < 4 && this.#agents.length < 4) this.#create(this.#chance(0.6) ? agent : null);
    else if (kind < 12) this.#rewind(agent);
    else if (kind < 16) this.#retract(agent);
    else if (kind < 24) this.#late(agent);
    else if (kind < 30) this.#promptElsewhere(agent);
    else if (kind < 36) this.#inference(agent);
    else if (kind < 42) this.#add(agent, this.#note(), {});
    else this.#add(agent, this.#entry(agent), this.#chance(0.1) ? this.#naturalLink(agent) : {});
  }

  finish(): BranchedLog {
    while (this.#unrecorded.length > 0) this.#record();
    return {
      events: this.events,
      prompts: this.#prompts,
      agents: this.#agents.map((agent) => {
        const isListed = agent.paths.includes(agent.current);
        const paths = isListed ? agent.paths : [...agent.paths, agent.current];
        return { agentId: agent.id, head: agent.head, paths, prompt: this.#promptOf(agent) };
      }),
      pathTo: this.#pathTo,
      placed: this.#placed,
      retracted: new Set(this.#agents.flatMap(({ retracted }) => [...retracted])),
      badLinks: this.#badLinks.size,
      answers: this.#answers,
      deliveries: this.#deliveries,
      retractedBy: new Map(
        this.events.flatMap(({ id, agentId }) => {
          const number = this.#retractedBy.get(`${agentId} ${id}`);
          return number === undefined ? [] : [[id, number]];
        }),
      ),
    };
  }

  #talk(agent: WrittenAgent): void {
    const kind = this.#below(10);
    if (kind < 3) this.#say(agent);
    else if (kind < 7) this.#deliver(agent);
    else if (kind < 8) this.#record();
    else if (agent.call === null && !agent.missing) {
      this.#recordAll(agent);
      // What another agent took back of a shared head since the last event is not recorded.
      const through = agent.events.at(-1) ?? '';
      const { ids = [] } = this.#prompts[this.events.findIndex(({ id }) => id === through)] ?? {};
      agent.call = { prompt: ids, through };
    }
  }

  /** An utterance: the answer to the call that is open, or to one that is not recorded. */
  #say(agent: WrittenAgent): void {
    this.#recordAll(agent);
    const id = `e${this.events.length}`;
    const messageId = `said-${this.events.length}`;
    const { prompt, through } = agent.call ?? { prompt: null, through: null };
    agent.call = null;
    this.#said.push({ id, utterance: id, by: agent.id });
    this.#answers.push({ agentId: agent.id, messageId, id, prompt, through });
    const context = prompt === null ? {} : { context: { through } };
    this.#unrecorded.push({ agent, messageId, context });
    this.#add(agent, { type: 'agent:text', messageId, data: { text: `${agent.id} says ${id}` } }, {});
    if (this.#chance(0.6)) this.#record();
  }

  /** A model that is called makes no other answer meanwhile on a branch that has its prompt. */
  #isCalled({ call, current }: WrittenAgent): boolean {
    const last = call?.prompt?.at(-1);
    return call !== null && (last === undefined || current.ids.includes(last));
  }

  /** The record of the call of an answer. */
  #record(): void {
    const record = this.#unrecorded.shift();
    if (record !== undefined) this.#addInference(record.agent, record.messageId, record.context);
  }

  /** The calls of an agent are recorded before it answers again. */
  #recordAll(agent: WrittenAgent): void {
    const own = this.#unrecorded.filter((record) => record.agent === agent);
    for (const record of own) {
      this.#unrecorded.splice(this.#unrecorded.indexOf(record), 1);
      this.#addInference(agent, record.messageId, record.context);
    }
  }

  /** What another agent said, or passed on, as a message or as the result of a call. */
  #deliver(agent: WrittenAgent): void {
    const others = this.#said.filter(({ by }) => by !== agent.id);
    if (others.length === 0) return;
    const { id: substance, utterance, by } = this.#pick(others.slice(-6));
    const id = `e${this.events.length}`;
    const text = `[${by}]: ${by} says ${utterance}`;
    const source = { kind: 'agent', agentId: by };
    const made: Made = this.#chance(0.3)
      ? this.#result(agent, text)
      : { type: 'user:message', isPrompt: true, data: { text, source } };
    this.#deliveries.push({ utterance, agentId: agent.id, id });
    if (this.#chance(0.3)) this.#said.push({ id, utterance, by: agent.id });
    this.#add(agent, made, { substance });
  }

  #create(parent: WrittenAgent | null): void {
    const id = `agent_${this.#agents.length}`;
    const through =
      parent === null ? null : this.#chance(0.1) && !this.#isPlain ? 'gone' : this.#anyOf(parent);
    const head = through === null ? [] : (this.#anchor.get(through)?.ids ?? [`?${id}`]);
    const agent: WrittenAgent = {
      ...{ id, head, paths: [], events: [], messages: [] },
      ...{ retracted: new Set(), current: newPath(head, true, null), missing: false, call: null },
    };
    this.#agents.push(agent);
    if (through !== null && !this.#anchor.has(through)) this.#bad('inherits', through);
    const inherits = through === null || parent === null ? {} : { inherits: { agentId: parent.id, through } };
    this.#add(agent, { type: 'agent:created', data: { name: id, ...inherits } }, {});
  }

  #entry(agent: WrittenAgent): Made {
    this.#recordAll(agent);
    const kind = this.#below(this.#isPlain ? 9 : 11);
    const text = `${agent.id} says ${this.events.length}`;
    if (kind < 2) return this.#prompt(text);
    if (kind === 2) return { type: 'user:message', data: { text, source: { kind: 'system', hook: 'h' } } };
    if (kind < 7 && this.#isCalled(agent)) return this.#prompt(text);
    if (kind < 5) return { type: 'agent:text', messageId: this.#message(agent), data: { text } };
    if (kind < 7) {
      const toolCallId = `call-${this.#talks ? this.#below(4) : this.events.length}`;
      const call = { toolCallId, tool: 'look', input: { text }, metadata: {} };
      return { type: 'agent:tool_call', messageId: this.#message(agent), data: call };
    }
    if (kind < 9) return this.#result(agent, text);
    if (kind === 9) return { type: 'session:compaction', data: { trigger: 'auto', summary: text } };
    return { type: 'agent:given', data: { role: 'user', text } };
  }

  #prompt(text: string): Made {
    const source = this.#pick([
      { kind: 'user' },
      { kind: 'agent', agentId: 'agent_0' },
      { kind: 'external' },
    ]);
    return { type: 'user:message', isPrompt: true, data: { text, source } };
  }

  #result(agent: WrittenAgent, output: string): Made {
    const calls = this.#shown(agent.current.ids).filter(({ type }) => type === 'agent:tool_call');
    const toolCallId = calls.length === 0 ? 'call-of-nobody' : this.#pick(calls).data.toolCallId;
    const data = { toolCallId: String(toolCallId), tool: 'look', status: 'completed', output, metadata: {} };
    return { type: 'agent:tool_result', data };
  }

  #note(): Made {
    return { type: this.#pick(['system:hook_progress', 'harness:stall']), data: { idleMs: 1, limitMs: 2 } };
  }

  #message(agent: WrittenAgent): string {
    const last = agent.messages.at(-1);
    if (last === undefined || this.#chance(0.6) || (this.#talks && !this.#isWhole(agent, last)))
      return this.#newMessage(agent);
    return last;
  }

  #newMessage(agent: WrittenAgent): string {
    const messageId = `m${this.events.length}`;
    agent.messages.push(messageId);
    return messageId;
  }

  /** Whether the current branch has all blocks of a message: otherwise a later answer is another message. */
  #isWhole(agent: WrittenAgent, messageId: string): boolean {
    const blocks = agent.events.filter(
      (id) => this.#byId.get(id)?.messageId === messageId && this.#pathTo.has(id),
    );
    return blocks.length > 0 && blocks.every((id) => agent.current.ids.includes(id));
  }

  /** `follows` as a writer sets it that names the entry before each one. */
  #naturalLink(agent: WrittenAgent): EventLinks {
    const last = agent.current.ids.at(-1);
    if (last?.startsWith('?') === true) return {};
    return last === undefined ? {} : { follows: last };
  }

  #inference(agent: WrittenAgent): void {
    const messageId = agent.messages.length === 0 ? 'm-of-nobody' : this.#pick(agent.messages.slice(-3));
    this.#addInference(agent, messageId, {});
  }

  #addInference(agent: WrittenAgent, messageId: string, context: JsonObject): void {
    const usage = { inputTokens: 1, outputTokens: 1 };
    const blocks = agent.events.filter((id) => this.#byId.get(id)?.messageId === messageId);
    const block = blocks.findLast((id) => this.#pathTo.has(id));
    const made: Made = { type: 'agent:inference', messageId, data: { model: 'm', usage, ...context } };
    if (block === undefined || agent.current.ids.includes(block)) this.#add(agent, made, {});
    else this.#add(agent, made, {}, this.#pathOwning(agent, block), block);
  }

  /** A record, or an entry that is not a prompt, that follows any event. */
  #late(agent: WrittenAgent): void {
    const made = this.#latePart(agent);
    if (made.isPrompt === true) return;
    const follows = this.#target(agent);
    const named = this.#named(agent, follows);
    if (named === null) {
      this.#bad('follows', follows);
      agent.missing = true;
      this.#add(agent, made, { follows });
      return;
    }
    const current = holds(agent.current, named) ? agent.current : undefined;
    const others = agent.paths.filter((path) => holds(path, named));
    const latest = others.reduce<WrittenPath | undefined>(
      (best, path) => (best === undefined || path.extended > best.extended ? path : best),
      undefined,
    );
    this.#add(agent, made, { follows }, current ?? latest ?? agent.current);
  }

  #latePart(agent: WrittenAgent): Made {
    const made = this.#chance(0.3) || agent.call !== null ? this.#note() : this.#entry(agent);
    // It can stand on another branch than the message that the agent writes.
    return this.#talks && made.messageId !== undefined
      ? { ...made, messageId: this.#newMessage(agent) }
      : made;
  }

  #promptElsewhere(agent: WrittenAgent): void {
    const follows = this.#target(agent);
    const named = this.#named(agent, follows);
    const made = this.#prompt(`${agent.id} is asked ${this.events.length}`);
    if (named === null) {
      this.#bad('follows', follows);
      agent.missing = true;
    } else if (!ends(agent.current, named)) {
      const next = agent.paths.find((path) => ends(path, named)) ?? this.#pathFrom(named);
      agent.current.state = 'parallel';
      next.state = 'current';
      agent.current = next;
    }
    this.#add(agent, made, { follows });
  }

  #rewind(agent: WrittenAgent): void {
    const keptThrough = this.#chance(0.12) ? null : this.#target(agent);
    const left = this.#chance(0.2) ? this.#anyOf(agent) : undefined;
    const data = { keptThrough, ...(left === undefined ? {} : { left }) };
    const named = keptThrough === null ? { ids: [], isRooted: false } : this.#named(agent, keptThrough);
    if (named === null) {
      this.#bad('keptThrough', String(keptThrough));
      agent.missing = true;
      this.#add(agent, { type: 'session:rewind', data }, {});
      return;
    }
    const lastLeft = left === undefined ? undefined : this.#anchor.get(left);
    // An anchor at nothing, after a rewind to nothing, is not an entry that a branch could have.
    const isNothing = lastLeft !== undefined && lastLeft.ids.length === 0 && !lastLeft.isRooted;
    const leaving = lastLeft === undefined || isNothing ? agent.current : this.#leaving(agent, lastLeft);
    if (leaving !== agent.current || !ends(agent.current, named)) {
      this.#takeBack(agent, leaving.ids);
      this.#takeBack(agent, named.ids);
      const isCurrent = ends(agent.current, named);
      const next = isCurrent
        ? agent.current
        : (agent.paths.find((path) => ends(path, named)) ?? this.#pathFrom(named));
      if (next !== agent.current) agent.current.state = 'parallel';
      if (next !== leaving) leaving.state = 'abandoned';
      next.state = 'current';
      agent.current = next;
    }
    this.#add(agent, { type: 'session:rewind', data }, {});
  }

  #leaving(agent: WrittenAgent, named: Named): WrittenPath {
    if (holds(agent.current, named)) return agent.current;
    const others = agent.paths.filter((path) => holds(path, named));
    others.sort((one, other) => other.extended - one.extended);
    return others[0] ?? agent.current;
  }

  #retract(agent: WrittenAgent): void {
    this.#recordAll(agent);
    const retracts = Array.from({ length: 1 + this.#below(2) }, () => {
      if (this.#isPlain || this.#chance(0.8)) return this.#anyOf(agent);
      return this.#chance(0.5) ? `e${this.events.length + 3}` : this.#anyOf(this.#pick(this.#agents));
    });
    for (const id of retracts) {
      const owner = this.#ownerOf.get(id);
      if (owner !== undefined && owner !== agent) this.#bad('retracts', id);
      else {
        agent.retracted.add(id);
        const key = `${agent.id} ${id}`;
        if (!this.#retractedBy.has(key)) this.#retractedBy.set(key, this.events.length);
      }
    }
    this.#add(agent, this.#chance(0.5) ? this.#note() : this.#entry(agent), { retracts });
  }

  /** The id of an event that a link names. */
  #target(agent: WrittenAgent): string {
    const kind = this.#isPlain ? 5 : this.#below(20);
    if (kind === 0) return 'gone';
    if (kind === 1) return `e${this.events.length + 2 + this.#below(3)}`;
    if (kind === 2) return this.#anyOf(this.#pick(this.#agents));
    const inherited = agent.head.filter((id) => !id.startsWith('?'));
    if (kind < 6 && inherited.length > 0) return this.#pick(inherited);
    return this.#anyOf(agent);
  }

  /** The path to the event that a link names; null: it is not known, or belongs to an agent from which this one does not inherit. */
  #named(agent: WrittenAgent, id: string): Named | null {
    const anchor = this.#anchor.get(id);
    if (anchor === undefined) return null;
    if (this.#ownerOf.get(id) === agent) return anchor;
    const last = anchor.ids.at(-1);
    // Before its first entry an agent of another transcript has nothing that could be named.
    // A record before the first entry of another agent stands in no transcript that this one has.
    if (last === undefined || this.#ownerOf.get(last) !== this.#ownerOf.get(id)) return null;
    return agent.head.includes(last)
      ? { ids: anchor.ids, isRooted: anchor.ids.length === agent.head.length }
      : null;
  }

  #pathFrom({ ids, isRooted }: Named): WrittenPath {
    const last = ids.at(-1);
    return newPath(ids, isRooted, last === undefined || last.startsWith('?') ? null : last);
  }

  /** The path to which an entry was added. */
  #pathOwning(agent: WrittenAgent, id: string): WrittenPath {
    const own = agent.paths.find(({ ids, entries }) => ids.indexOf(id) >= ids.length - entries);
    return own ?? agent.current;
  }

  #bad(field: string, target: string): void {
    this.#badLinks.add(`e${this.events.length} ${field} ${target}`);
  }

  #add(agent: WrittenAgent, made: Made, links: EventLinks, on = agent.current, block?: string): void {
    const { type, messageId, isPrompt = false, data } = made;
    const id = `e${this.events.length}`;
    const event: CapturedEvent = {
      ...{ id, type, timestamp: '2026-03-01T09:30:00.000Z', agentId: agent.id },
      ...(messageId === undefined ? {} : { messageId }),
      ...links,
      data,
    };
    if (messageId !== undefined && entryTypes.has(type) && !this.#isAnswered(agent, messageId))
      this.#answers.push({ agentId: agent.id, messageId, id, prompt: null, through: null });
    if (entryTypes.has(type)) {
      if (on === agent.current && agent.missing) {
        agent.missing = false;
        this.#unknownBefore.add(id);
      }
      if (on.entries === 0) agent.paths.push(on);
      on.ids.push(id);
      on.entries += 1;
      on.extended = this.events.length;
      this.#pathTo.set(id, [...on.ids]);
    }
    on.events += 1;
    on.address = id;
    if (isPrompt) on.prompts += 1;
    const anchored = block === undefined ? on.ids : on.ids.slice(0, on.ids.indexOf(block) + 1);
    this.#anchor.set(id, { ids: [...anchored], isRooted: on.isRooted });
    this.#placed.set(id, { ids: [...anchored], agentId: agent.id, path: on });
    this.#ownerOf.set(id, agent);
    this.#byId.set(id, event);
    agent.events.push(id);
    this.events.push(event);
    this.#prompts.push(this.#promptOf(agent));
  }

  #isAnswered({ id }: WrittenAgent, messageId: string): boolean {
    return this.#answers.some((answer) => answer.agentId === id && answer.messageId === messageId);
  }

  #promptOf(agent: WrittenAgent): WrittenPrompt {
    const { ids } = agent.current;
    const isRetracted = (id: string) => this.#ownerOf.get(id)?.retracted.has(id) === true;
    const open = this.#openCalls(ids);
    const own = new Set(agent.events);
    return {
      agentId: agent.id,
      ids: ids.filter((id) => !id.startsWith('?') && !isRetracted(id)),
      takenBack: [...open]
        .filter(([toolCallId, id]) => this.#takenBack.has(toolCallId) || !own.has(id))
        .map(([toolCallId]) => toolCallId)
        .sort(),
      isKnown: ids.every((id) => !id.startsWith('?') && !this.#unknownBefore.has(id)),
    };
  }

  #takeBack(agent: WrittenAgent, ids: readonly string[]): void {
    for (const [toolCallId, id] of this.#openCalls(ids))
      if (this.#ownerOf.get(id) === agent) this.#takenBack.add(toolCallId);
  }

  /** The calls of a list that have no result in it: the id of the event by that of the call. */
  #openCalls(ids: readonly string[]): ReadonlyMap<string, string> {
    const open = new Map<string, string>();
    for (const { id, type, data } of this.#shown(ids)) {
      if (type === 'agent:tool_call') open.set(String(data.toolCallId), id);
      else if (type === 'agent:tool_result') open.delete(String(data.toolCallId));
    }
    return open;
  }

  #shown(ids: readonly string[]): CapturedEvent[] {
    return ids.flatMap((id) => this.#byId.get(id) ?? []);
  }

  #anyOf(agent: WrittenAgent): string {
    // Mostly recent ones: a rewind to the beginning leaves nothing to branch from.
    const { events } = agent;
    return events[Math.floor(this.#random() ** 0.5 * events.length)] as string;
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }
}

interface Made {
  readonly type: CapturedEvent['type'];
  readonly messageId?: string;
  readonly isPrompt?: boolean;
  readonly data: JsonObject;
}

interface Named {
  readonly ids: readonly string[];
  readonly isRooted: boolean;
}

const entryTypes: ReadonlySet<string> = new Set([
  'user:message',
  'agent:text',
  'agent:tool_call',
  'agent:tool_result',
  'agent:given',
  'session:compaction',
]);

function newPath(ids: readonly string[], isRooted: boolean, from: string | null): WrittenPath {
  return {
    ...{ ids: [...ids], isRooted, from, state: 'current', entries: 0, events: 0, prompts: 0 },
    ...{ extended: -1, address: null },
  };
}

/** Whether a list ends where another one does. */
function ends(path: WrittenPath, { ids, isRooted }: Named): boolean {
  return path.isRooted === isRooted && path.ids.join() === ids.join();
}

/** Whether a list begins with another one. */
function holds(path: WrittenPath, { ids, isRooted }: Named): boolean {
  const last = ids.at(-1);
  return last === undefined ? path.isRooted && isRooted : path.ids.includes(last);
}

/** A message that a model is given, as far as these logs have it. */
export type WrittenMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly JsonObject[] }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
    };

/** The messages of a prompt of a plain log. `textOf`: the text of a call without a result, by what ended it. */
export function writtenMessages(
  { events }: Pick<BranchedLog, 'events'>,
  { ids, takenBack }: WrittenPrompt,
  textOf: { readonly takenBack: string; readonly interrupted: string },
): WrittenMessage[] {
  const shown = ids.flatMap((id) => events.find((event) => event.id === id) ?? []);
  const isOf = (type: string) => (event: CapturedEvent) => event.type === type;
  const first = (event: CapturedEvent) => shown.find(({ messageId }) => messageId === event.messageId);
  return shown.flatMap((event): WrittenMessage[] => {
    if (isOf('user:message')(event)) return [{ role: 'user', text: String(event.data.text) }];
    if (event.messageId === undefined || first(event) !== event) return [];
    const blocks = shown.filter(({ messageId }) => messageId === event.messageId);
    const calls = blocks.filter(isOf('agent:tool_call'));
    const text = blocks.filter(isOf('agent:text')).map(({ data }) => String(data.text));
    const toolCalls = calls.map(({ data: { toolCallId, tool, input } }) => ({ toolCallId, tool, input }));
    const results = calls.map(({ data }): WrittenMessage => {
      const toolCallId = String(data.toolCallId);
      const outputs = shown
        .filter(isOf('agent:tool_result'))
        .filter((result) => result.data.toolCallId === toolCallId)
        .map((result) => String(result.data.output));
      const open = takenBack.includes(toolCallId) ? textOf.takenBack : textOf.interrupted;
      const isError = outputs.length === 0;
      return { role: 'tool', toolCallId, tool: 'look', text: isError ? open : outputs.join('\n'), isError };
    });
    return [{ role: 'assistant', text: text.join(''), toolCalls: toolCalls as JsonObject[] }, ...results];
  });
}

import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import type { LogNode } from '../log/log-node.ts';
import { type Nameable, type RowGroup, saysSomething } from './row-group.ts';

export interface RowReach {
  /**
   * How many events after its first one a row can still change. Later results and deliveries are rows of their own.
   * Absent: 2,000.
   */
  readonly events?: number;
  /** How much text may be read after its first event, in characters, until a row can no longer change. Absent: 16 M. */
  readonly characters?: number;
  /**
   * Whether the dispatch has ended, so that a call without a result is not open: it has `no result on record`, or `no result
   * nearby` where later events were out of reach. Absent: false.
   */
  readonly hasEnded?: boolean;
}

/** How many settled rows are forgotten together. */
const fewestForgotten = 1_000;

/** The rows that can still change, with the names by which events refer to them. Forgets a row when it is out of reach. */
export class OpenGroups {
  readonly #mostEvents: number;
  readonly #mostCharacters: number;
  readonly #onSettle: (group: RowGroup) => void;
  /** In order of position; those before `#oldest` are settled. */
  readonly #queue: RowGroup[] = [];
  #oldest = 0;
  /** By the ids of their events. An id contains no space, so what else a row is named after is marked by a word before it. */
  readonly #byId = new NamedGroups();
  readonly #byMessage = new NamedGroups();
  readonly #byCall = new NamedGroups();
  #settled: RowGroup[] = [];
  /** The row with the latest position; null: it is settled. */
  #latest: RowGroup | null = null;
  #read = 0;

  /** `onSettle` receives a row that no later event can change. */
  constructor({ events = 2_000, characters = 16_000_000 }: RowReach, onSettle: (group: RowGroup) => void) {
    this.#onSettle = onSettle;
    this.#mostEvents = events;
    this.#mostCharacters = characters;
  }

  /** Settles the rows that an event, which is read next, is too far from. */
  advance({ event, position }: LogNode): void {
    this.#read += sizeOf(event.data);
    for (let group = this.#queue[this.#oldest]; group !== undefined; group = this.#queue[this.#oldest]) {
      const isFar = position - group.position > this.#mostEvents;
      const isLong = this.#read - group.readBefore > this.#mostCharacters;
      if (!isFar && !isLong) break;
      group.isOutOfReach = true;
      this.#oldest += 1;
      this.#settle(group);
    }
    if (this.#oldest < fewestForgotten) return;
    this.#queue.splice(0, this.#oldest);
    this.#oldest = 0;
  }

  add(group: RowGroup): void {
    group.readBefore = this.#read;
    this.#queue.push(group);
    this.#latest = group;
    this.nameBlock(group);
  }

  /** Names a row after the block of a message that it is about. */
  nameBlock(group: RowGroup): void {
    if (group.kind === 'noise') return;
    const { messageId, data } = group.main.event;
    if (messageId !== undefined) this.#byMessage.add(messageId, group);
    if (group.kind === 'call') this.#byCall.add(String(data.toolCallId), group);
  }

  /** Lets later events refer to a row by the id of one of its events. */
  name(group: RowGroup, id: string): void {
    if (this.#byId.add(id, group)) group.names.push(id);
  }

  /** Lets later deliveries refer to what a row says by the id of a result that carries it. */
  carry(group: RowGroup, id: string): void {
    this.name(group, `carried ${id}`);
  }

  /** Lets a later event refer to a call by the name of the file that has the output. */
  nameOutput(group: RowGroup, file: unknown): void {
    if (typeof file === 'string') this.name(group, `output ${file}`);
  }

  /** The call whose output a file has: its result names the file, or the file is named after the call. */
  outputOf({ file, toolUseID }: JsonObject): RowGroup | null {
    return (
      this.#byId.first(`output ${file}`) ?? this.callNamed(typeof toolUseID === 'string' ? toolUseID : null)
    );
  }

  /** The row of the event or message with an id. */
  of(id: string): RowGroup | null {
    return this.#byId.first(id) ?? this.#byMessage.first(id);
  }

  /** The row that says what a delivery carries. The id of a message means its first text. */
  saying(id: string | undefined): RowGroup | null {
    if (id === undefined) return null;
    const text = this.#byMessage.find(id, ({ kind }) => kind === 'said' || kind === 'aside');
    const group = text ?? this.#byId.first(`carried ${id}`) ?? this.#byId.first(id);
    return group !== null && saysSomething(group) ? group : null;
  }

  /** Whether what passed through an event was altered: by the decision of a hook, or by something that is out of reach. */
  isAlteration(via: string): boolean {
    const group = this.#byId.first(via);
    if (group === null) return true;
    const decision = [...group.decisions, group.main].find(({ event }) => event.id === via)?.event;
    // Another event, such as the answer of a translator, says nothing about the text.
    if (decision?.type !== 'harness:hook_decision') return false;
    return decision.data.on !== 'tool_call' && decision.data.decision !== 'allow';
  }

  /** The row that the figures of a model call belong to: that of the first block of its message. */
  message({ agentId = '', messageId }: Nameable): RowGroup | null {
    const group = this.#byMessage.find(messageId, ({ agent }) => agent.agentId === agentId);
    return group !== null && group.inference === null ? group : null;
  }

  /** The row of a model call whose message has no block yet. */
  modelRow({ agentId = '', messageId }: Nameable): RowGroup | null {
    const group = this.#byMessage.find(
      messageId,
      ({ agent, inference, position }) => agent.agentId === agentId && inference?.position === position,
    );
    return group !== null && group.main.event.type === 'agent:inference' ? group : null;
  }

  textsOf({ agentId = '', messageId }: Nameable): readonly RowGroup[] {
    return this.#byMessage
      .all(messageId)
      .filter(({ agent, kind }) => kind === 'said' && agent.agentId === agentId);
  }

  hasCall({ agentId = '', messageId }: Nameable): boolean {
    return (
      this.#byMessage.find(messageId, ({ agent, kind }) => kind === 'call' && agent.agentId === agentId) !==
      null
    );
  }

  /** The latest call of the event's agent with its call id. */
  call({ agentId = '', data }: CapturedEvent): RowGroup | null {
    return this.#byCall.all(data.toolCallId).findLast(({ agent }) => agent.agentId === agentId) ?? null;
  }

  /** The first call of the event's agent with its call id that has no result. */
  unansweredCall({ agentId = '', data }: CapturedEvent): RowGroup | null {
    return this.#byCall.find(
      data.toolCallId,
      ({ agent, result }) => result === null && agent.agentId === agentId,
    );
  }

  /** The latest call with a call id, of any agent. */
  callNamed(id: string | null): RowGroup | null {
    return this.#byCall.all(id).at(-1) ?? null;
  }

  /** The same of the first id that a call has. */
  callAmong(ids: readonly string[]): RowGroup | null {
    for (const id of ids) {
      const call = this.callNamed(id);
      if (call !== null) return call;
    }
    return null;
  }

  /** The run of noise that the next noise continues: the latest row, if it is one. */
  run(): RowGroup | null {
    return this.#latest?.kind === 'noise' ? this.#latest : null;
  }

  at(position: number): RowGroup | null {
    let [low, high] = [this.#oldest, this.#queue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#queue[middle] as RowGroup).position < position) low = middle + 1;
      else high = middle;
    }
    const group = this.#queue[low];
    if (group?.position === position) return group;
    return this.#settled.find((settled) => settled.position === position) ?? null;
  }

  takeSettled(): readonly RowGroup[] {
    // Most events settle no row.
    if (this.#settled.length === 0) return none;
    const settled = this.#settled;
    this.#settled = [];
    return settled;
  }

  takeAll(): readonly RowGroup[] {
    for (const group of this.#queue.splice(0).slice(this.#oldest)) this.#settle(group);
    this.#oldest = 0;
    return this.takeSettled();
  }

  /** The rows from a position that can still change, of what somebody received and others could have. */
  heardFrom(position: number): readonly RowGroup[] {
    if (position === Number.POSITIVE_INFINITY) return none;
    const heard: RowGroup[] = [];
    for (let at = this.#queue.length - 1; at >= this.#oldest; at -= 1) {
      const group = this.#queue[at] as RowGroup;
      if (group.position < position) break;
      if (group.hearings.length > 0 && group.company.length > 0) heard.push(group);
    }
    return heard;
  }

  #settle(group: RowGroup): void {
    this.#onSettle(group);
    if (this.#latest === group) this.#latest = null;
    this.#settled.push(group);
    for (const name of group.names) this.#byId.delete(name, group);
    if (group.kind === 'noise') return;
    const { messageId, data } = group.main.event;
    if (messageId !== undefined) this.#byMessage.delete(messageId, group);
    if (group.kind === 'call') this.#byCall.delete(String(data.toolCallId), group);
  }
}

const none: readonly RowGroup[] = [];

/** Rows by names, in the order in which they got them. Most names have one row: it is kept without a list. */
class NamedGroups {
  readonly #groups = new Map<unknown, RowGroup | RowGroup[]>();

  /** Whether the row did not have the name before. */
  add(name: string, group: RowGroup): boolean {
    const known = this.#groups.get(name);
    if (known === undefined) this.#groups.set(name, group);
    else if (!Array.isArray(known)) {
      if (known === group) return false;
      this.#groups.set(name, [known, group]);
    } else {
      if (known.includes(group)) return false;
      known.push(group);
    }
    return true;
  }

  delete(name: string, group: RowGroup): void {
    const known = this.#groups.get(name);
    if (known === group) this.#groups.delete(name);
    else if (Array.isArray(known)) {
      const others = known.filter((other) => other !== group);
      this.#groups.set(name, others.length === 1 ? (others[0] as RowGroup) : others);
    }
  }

  first(name: string): RowGroup | null {
    const known = this.#groups.get(name);
    return (Array.isArray(known) ? known[0] : known) ?? null;
  }

  find(name: unknown, passes: (group: RowGroup) => boolean): RowGroup | null {
    const known = this.#groups.get(name);
    if (known === undefined) return null;
    if (Array.isArray(known)) return known.find(passes) ?? null;
    return passes(known) ? known : null;
  }

  /** A name that is not a text has no row. */
  all(name: unknown): readonly RowGroup[] {
    const known = this.#groups.get(name);
    if (known === undefined) return none;
    return Array.isArray(known) ? known : [known];
  }
}

/** About how many characters a value has as JSON. */
function sizeOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 6;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item);
  else for (const key in value) size += key.length + 4 + sizeOf(value[key]);
  return size;
}

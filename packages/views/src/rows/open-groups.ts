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
  /** By position. */
  readonly #groups = new Map<number, RowGroup>();
  /** In order; those before `#oldest` are settled. The first key of a map from which others were deleted is found slowly. */
  readonly #queue: RowGroup[] = [];
  #oldest = 0;
  readonly #byKey = new Map<string, RowGroup[]>();
  readonly #settled: RowGroup[] = [];
  /** The characters of all events up to the first one of each open row. */
  readonly #readBefore = new Map<number, number>();
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
      const isLong = this.#read - (this.#readBefore.get(group.position) ?? 0) > this.#mostCharacters;
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
    this.#groups.set(group.position, group);
    this.#queue.push(group);
    this.#readBefore.set(group.position, this.#read);
    this.#latest = group;
    this.nameBlock(group);
    if (group.kind === 'event' && group.inference !== null)
      this.#put(group, messageKey('model', group.main.event));
  }

  /** Names a row after the block of a message that it is about. */
  nameBlock(group: RowGroup): void {
    const { event } = group.main;
    if (group.kind === 'noise') return;
    this.#put(group, messageKey('message', event));
    if (event.messageId !== undefined) this.#put(group, `block ${event.messageId}`);
    if (group.kind === 'said' || group.kind === 'aside') this.#put(group, messageKey('text', event));
    if (group.kind === 'call') {
      this.#put(group, messageKey('has-call', event));
      this.#put(group, callKey(event));
      this.#put(group, `call ${event.data.toolCallId}`);
    }
  }

  /** Lets later events refer to a row by the id of one of its events. */
  name(group: RowGroup, id: string): void {
    this.#put(group, `id ${id}`);
  }

  /** Lets later deliveries refer to what a row says by the id of a result that carries it. */
  carry(group: RowGroup, id: string): void {
    this.#put(group, `carried ${id}`);
  }

  /** Lets a later event refer to a call by the name of the file that has the output. */
  nameOutput(group: RowGroup, file: unknown): void {
    if (typeof file === 'string') this.#put(group, `output ${file}`);
  }

  /** The call whose output a file has: its result names the file, or the file is named after the call. */
  outputOf({ file, toolUseID }: JsonObject): RowGroup | null {
    return this.#first(`output ${file}`) ?? this.callNamed(typeof toolUseID === 'string' ? toolUseID : null);
  }

  /** The row of the event or message with an id. */
  of(id: string): RowGroup | null {
    return this.#first(`id ${id}`) ?? this.#first(`block ${id}`);
  }

  /** The row that says what a delivery carries. The id of a message means its first text. */
  saying(id: string | undefined): RowGroup | null {
    if (id === undefined) return null;
    const group = this.#first(`main ${id}`) ?? this.#first(`carried ${id}`) ?? this.#first(`id ${id}`);
    return group !== null && saysSomething(group) ? group : null;
  }

  /** Whether what passed through an event was altered: by the decision of a hook, or by something that is out of reach. */
  isAlteration(via: string): boolean {
    const group = this.#first(`id ${via}`);
    if (group === null) return true;
    const decision = [...group.decisions, group.main].find(({ event }) => event.id === via)?.event;
    // Another event, such as the answer of a translator, says nothing about the text.
    if (decision?.type !== 'harness:hook_decision') return false;
    return decision.data.on !== 'tool_call' && decision.data.decision !== 'allow';
  }

  /** The row that the figures of a model call belong to: that of the first block of its message. */
  message(event: CapturedEvent): RowGroup | null {
    const group = this.#first(messageKey('message', event));
    return group !== null && group.inference === null ? group : null;
  }

  /** The row of a model call whose message has no block yet. */
  modelRow(event: Nameable): RowGroup | null {
    const group = this.#first(messageKey('model', event));
    return group !== null && group.main.event.type === 'agent:inference' ? group : null;
  }

  textsOf(event: Nameable): readonly RowGroup[] {
    return this.#all(messageKey('text', event)).filter(({ kind }) => kind === 'said');
  }

  hasCall(event: Nameable): boolean {
    return this.#first(messageKey('has-call', event)) !== null;
  }

  /** The latest call of the event's agent with its call id. */
  call(event: CapturedEvent): RowGroup | null {
    return this.#all(callKey(event)).at(-1) ?? null;
  }

  /** The first call of the event's agent with its call id that has no result. */
  unansweredCall(event: CapturedEvent): RowGroup | null {
    return this.#all(callKey(event)).find(({ result }) => result === null) ?? null;
  }

  /** The latest call with a call id, of any agent. */
  callNamed(id: string | null): RowGroup | null {
    return this.#all(id === null ? null : `call ${id}`).at(-1) ?? null;
  }

  /** The run of noise that the next noise continues: the latest row, if it is one. */
  run(): RowGroup | null {
    const latest = this.#latest;
    return latest?.kind === 'noise' && this.#groups.has(latest.position) ? latest : null;
  }

  at(position: number): RowGroup | null {
    return this.#groups.get(position) ?? this.#settled.find((group) => group.position === position) ?? null;
  }

  takeSettled(): RowGroup[] {
    return this.#settled.splice(0);
  }

  takeAll(): RowGroup[] {
    for (const group of this.#queue.splice(0).slice(this.#oldest)) this.#settle(group);
    this.#oldest = 0;
    return this.takeSettled();
  }

  /** The rows from a position that can still change, of what somebody received and others could have. */
  heardFrom(position: number): readonly RowGroup[] {
    const heard: RowGroup[] = [];
    const oldest = this.#queue[this.#oldest]?.position ?? Number.POSITIVE_INFINITY;
    for (let at = this.#latest?.position ?? -1; at >= Math.max(position, oldest); at -= 1) {
      const group = this.#groups.get(at);
      if (group !== undefined && group.hearings.length > 0 && group.company.length > 0) heard.push(group);
    }
    return heard;
  }

  #settle(group: RowGroup): void {
    this.#onSettle(group);
    this.#groups.delete(group.position);
    this.#readBefore.delete(group.position);
    this.#settled.push(group);
    for (const key of group.keys) {
      const all = this.#all(key);
      if (all.length === 1 && all[0] === group) this.#byKey.delete(key);
      else
        this.#byKey.set(
          key,
          all.filter((other) => other !== group),
        );
    }
  }

  #put(group: RowGroup, key: string | null): void {
    if (key === null) return;
    const known = this.#byKey.get(key);
    if (known?.includes(group)) return;
    group.keys.push(key);
    if (known === undefined) this.#byKey.set(key, [group]);
    else known.push(group);
    // The id of a message means its first text.
    if (key.startsWith('text ')) this.#put(group, `main ${group.main.event.messageId}`);
  }

  #first(key: string | null): RowGroup | null {
    return this.#all(key)[0] ?? null;
  }

  #all(key: string | null): readonly RowGroup[] {
    return (key === null ? undefined : this.#byKey.get(key)) ?? [];
  }
}

/** An id contains no space. */
function messageKey(
  what: 'message' | 'text' | 'has-call' | 'model',
  { agentId = '', messageId }: Nameable,
): string | null {
  return messageId === undefined ? null : `${what} ${agentId} ${messageId}`;
}

function callKey({ agentId = '', data }: CapturedEvent): string | null {
  return typeof data.toolCallId === 'string' ? `of ${agentId} ${data.toolCallId}` : null;
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

import type { CapturedEvent } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';

/**
 * What an event is in a tree. Entries are `prompt` (a message of a person, another agent or the outside world), `call`, `result` and `entry` (any
 * other part of a prompt). `inference` and `rewind` are records that the tree reads, `note` is any other record. `head` is the beginning of a
 * transcript.
 */
type PlaceKind = 'prompt' | 'call' | 'result' | 'entry' | 'inference' | 'rewind' | 'note' | 'head';

/** An event in the tree of its agent. */
export interface Place<T> {
  readonly id: string;
  readonly value: T;
  /** The number of the event in the order of the log. */
  readonly number: number;
  readonly agent: Agent<T>;
  readonly kind: PlaceKind;
  readonly messageId: string | undefined;
  /** Of a call or a result. */
  readonly toolCallId: unknown;
  /** The entry before it. Null: it is the first one after a rewind to nothing. */
  before: Place<T> | null;
  /** The branch that it extended, or that was current when it was recorded. */
  branch: Branch<T>;
  /** The event that it follows and that the log does not have. */
  missing: string | undefined;
  /** The end of the current branch after it. Undefined: itself, or the entry before it. */
  currentEnd: Place<T> | null | undefined;
}

export interface Branch<T> {
  readonly agent: Agent<T>;
  /** The entry at which it leaves an earlier branch. Null: it is the first branch, or begins anew. */
  readonly start: Place<T> | null;
  /** What its first own entry follows: `start`, or the head of the first branch. */
  readonly base: Place<T> | null;
  end: Place<T> | null;
  state: 'current' | 'abandoned' | 'parallel';
  /** How many entries were added to it. */
  own: number;
  /** The number of the event that was added last. */
  extended: number;
}

export interface Agent<T> {
  readonly id: string;
  readonly head: Place<T>;
  /** All its events, in the order of the log. */
  readonly places: Place<T>[];
  /** Those with entries of their own. */
  readonly branches: Branch<T>[];
  /** By id: the number of the event that took it back. */
  readonly retracted: Map<string, number>;
  current: Branch<T>;
  /** Whether it has one branch, with everything, and no inherited head. */
  isStraight: boolean;
  inherits:
    | { readonly agentId?: string | undefined; readonly through: string; readonly eventId: string }
    | undefined;
  /** An event that is not in the log, and that the next entry follows. */
  missing: string | undefined;
}

export function newAgent<T>(id: string): Agent<T> {
  const agent = { id, places: [], branches: [], retracted: new Map(), isStraight: true } as unknown as {
    -readonly [Key in keyof Agent<T>]: Agent<T>[Key];
  };
  agent.head = {
    ...{ id: '', value: undefined as T, number: -1, agent, kind: 'head', messageId: undefined },
    ...{ toolCallId: undefined, before: null, missing: undefined, currentEnd: undefined },
    branch: undefined as unknown as Branch<T>,
  };
  agent.current = { ...newBranch(agent, agent.head), start: null };
  agent.head.branch = agent.current;
  agent.inherits = undefined;
  agent.missing = undefined;
  return agent;
}

export function newBranch<T>(agent: Agent<T>, start: Place<T> | null): Branch<T> {
  return { agent, start, base: start, end: start, state: 'current', own: 0, extended: -1 };
}

export function isEntry({ kind }: Place<unknown>): boolean {
  return kind === 'prompt' || kind === 'call' || kind === 'result' || kind === 'entry';
}

/** The entry that an event is, or that it stands after. */
export function entryOf<T>(place: Place<T>): Place<T> | null {
  return isEntry(place) || place.kind === 'head' ? place : place.before;
}

const kinds: ReadonlyMap<string, PlaceKind> = new Map([
  ['agent:system_prompt', 'entry'],
  ['agent:given', 'entry'],
  ['agent:text', 'entry'],
  ['agent:rejected', 'entry'],
  ['agent:thinking', 'entry'],
  ['agent:tool_call', 'call'],
  ['agent:tool_result', 'result'],
  ['agent:output', 'entry'],
  ['agent:inference', 'inference'],
  ['session:compaction', 'entry'],
  ['session:rewind', 'rewind'],
]);

export function kindOf({ type, data }: CapturedEvent): PlaceKind {
  if (type === 'user:message') return isFromSystem(data.source) || data.command === true ? 'entry' : 'prompt';
  // Parts of a message to an agent that have events of their own, such as `user:image`.
  return kinds.get(type) ?? (type.startsWith('user:') ? 'entry' : 'note');
}

/** Whether an event is a message of a person, another agent or the outside world to an agent. */
export function isPrompt(event: CapturedEvent): boolean {
  return kindOf(event) === 'prompt';
}

/** Whether the engine, a hook or the orchestrator sent a message. */
function isFromSystem(source: unknown): boolean {
  return isPlainObject(source) && (source.kind === 'system' || source.hook !== undefined);
}

/** Whether an event is an entry: a part of a prompt. */
export function isEntryEvent(event: CapturedEvent): boolean {
  const kind = kindOf(event);
  return kind === 'prompt' || kind === 'call' || kind === 'result' || kind === 'entry';
}

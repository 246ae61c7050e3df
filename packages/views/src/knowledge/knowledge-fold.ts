import { isPlainObject, isReadableAs } from '@hansard/events/plain';
import { givenThrough, putTogether } from '@hansard/prompt';
import type { LogIndex } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';
import { cutResult, GivenAnswer, lostResult, type PromptBounds, stateIn } from './given-answer.ts';
import type { KnownItem } from './known-item.ts';

/** The summary of a compaction, and what it replaced. */
interface Compaction {
  readonly item: KnownItem;
  /** The first rank that it kept. */
  readonly upTo: number;
  /** The received items since the compaction before, and its summary. */
  readonly replaced: readonly KnownItem[];
}

/** The manifest of a call, and the last event of the agent that the call was given. */
export interface RecordedCall {
  readonly inference: LogNode;
  /** Null: none. */
  readonly last: LogNode | null;
  readonly context: unknown;
}

/** The calls whose `agent:inference` records what they were given, by agent and by the message of the answer. */
export type RecordedCalls = ReadonlyMap<string, ReadonlyMap<string, RecordedCall>>;

/** What all folds of a log share, and what they find. */
export interface FoldedLog {
  readonly index: LogIndex;
  readonly calls: RecordedCalls;
  /** Whether any agent compacts its transcript. */
  readonly isCompacted: boolean;
  /** The place of an event on any path that has it. */
  orderOf(node: LogNode): number;
  readonly answers: Map<LogMessage, GivenAnswer>;
  /** By the position of a compaction. */
  readonly replaced: Map<number, readonly KnownItem[]>;
  /** Called for each item of each path. */
  readonly found?: (item: KnownItem) => void;
}

const nothingCompacted = { compactedUpTo: 0, summary: null } as const;

/** The most maps that a lookup tries. */
const mostLayers = 64;

/** A map on top of another one, which no longer changes. */
class LayeredMap<Value> {
  readonly #below: LayeredMap<Value> | null;
  readonly #depth: number;
  readonly #own = new Map<number | string, Value>();

  constructor(below: LayeredMap<Value> | null) {
    this.#depth = below === null ? 0 : below.#depth + 1;
    this.#below = this.#depth > mostLayers ? null : below;
    if (this.#below === below) return;
    const layers: LayeredMap<Value>[] = [];
    for (let layer = below; layer !== null; layer = layer.#below) layers.push(layer);
    for (const layer of layers.reverse()) for (const [key, value] of layer.#own) this.#own.set(key, value);
    this.#depth = 0;
  }

  get(key: number | string): Value | undefined {
    for (let layer: LayeredMap<Value> | null = this; layer !== null; layer = layer.#below) {
      const value = layer.#own.get(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  set(key: number | string, value: Value): void {
    this.#own.set(key, value);
  }
}

/**
 * Folds the events of one path of an agent, in the order in which its model is given them. `fork` begins another path after the events so far; both
 * share what they have so far, and this fold takes no more events.
 */
export class KnowledgeFold {
  readonly #log: FoldedLog;
  readonly #below: KnowledgeFold | null;
  readonly #own: KnownItem[] = [];
  readonly #compactions: Compaction[];
  /** By position. */
  readonly #itemAt: LayeredMap<KnownItem>;
  /** By position: the rank of the item of an event that was taken, or of the next item. */
  readonly #rankAt: LayeredMap<number>;
  readonly #systemRanks: Set<number>;
  /** The places of the results of calls in the transcript with which the agent began. */
  readonly #givenCalls: LayeredMap<Pick<KnownItem, 'rank' | 'step'>>;
  /** What no answer was given yet. */
  #waiting: KnownItem[];
  /** What the policy of the context left out so far. Another policy can show it again. */
  #omitted: KnownItem[];
  #latest: { readonly message: LogMessage; readonly rank: number; readonly start: number } | null;
  #ranks: number;
  #outputRank: number;

  constructor(log: FoldedLog, below: KnowledgeFold | null = null) {
    this.#log = log;
    this.#below = below;
    const isFirst = below === null;
    this.#compactions = isFirst ? [] : [...below.#compactions];
    this.#itemAt = new LayeredMap(isFirst ? null : below.#itemAt);
    this.#rankAt = new LayeredMap(isFirst ? null : below.#rankAt);
    this.#systemRanks = isFirst ? new Set() : new Set(below.#systemRanks);
    this.#givenCalls = new LayeredMap(isFirst ? null : below.#givenCalls);
    this.#waiting = isFirst ? [] : [...below.#waiting];
    this.#omitted = isFirst ? [] : [...below.#omitted];
    this.#latest = isFirst ? null : below.#latest;
    this.#ranks = isFirst ? 0 : below.#ranks;
    this.#outputRank = isFirst ? -2 : below.#outputRank;
  }

  fork(): KnowledgeFold {
    return new KnowledgeFold(this.#log, this);
  }

  /** All that the path has, in the order of the prompt. */
  get items(): KnownItem[] {
    return this.#itemsUpTo(this.#own.length);
  }

  /** The bounds of a prompt after the events up to one. */
  boundsAfter(order: number): PromptBounds {
    const bounds = lastOf(this.#compactions.filter(({ item }) => this.#orderOf(item) <= order));
    return { ...bounds, start: bounds.compactedUpTo, outputFrom: 0, showsLostResults: true };
  }

  /** Whether the path has an event that makes an item, or is a block of one. */
  has({ position }: LogNode): boolean {
    return this.#itemAt.get(position) !== undefined;
  }

  take(node: LogNode): void {
    const next = this.#ranks;
    this.#addNode(node);
    const item = this.#itemAt.get(node.position);
    if (this.#log.isCompacted)
      this.#rankAt.set(node.position, item === undefined || item.kind === 'summary' ? next : item.rank);
  }

  #addNode(node: LogNode): void {
    const message = this.#log.index.messageOf(node);
    if (message === null) this.#takeOther(node);
    else if (message.entry.message.role !== 'assistant') this.#takeReceived(node, message);
    else this.#takeBlock(node, message);
  }

  #takeOther(node: LogNode): void {
    const { event } = node;
    const given = this.#log.index.givenAt(node);
    if (given !== null && event.type === 'agent:rejected') this.#takeRejected(node, given);
    else if (given !== null) this.#takeGiven(node, given);
    if (isReadableAs(event, 'agent:output') && event.data.parts.length > 0) {
      // Consecutive output is one message.
      if (this.#outputRank !== this.#ranks - 1) this.#outputRank = this.#nextRank();
      this.#waiting.push(
        this.#add({ kind: 'output', node, message: null, rank: this.#outputRank, step: node.position }),
      );
    }
    // Without a summary there is no text that replaces the messages.
    if (isReadableAs(event, 'session:compaction') && event.data.summary !== undefined)
      this.#compact(node, event.data.keptFrom);
  }

  /** A message of the transcript with which the agent began. A result has the rank of the answer with its call. */
  #takeGiven(node: LogNode, message: LogMessage): void {
    const { role, toolCallId = '', toolCalls = [] } = message.entry.message;
    const kind = role === 'system' ? 'system' : 'given';
    if (kind === 'system') this.#systemRanks.add(this.#ranks);
    const place = role === 'tool' ? this.#givenCalls.get(toolCallId) : undefined;
    const { rank, step } = place ?? { rank: this.#nextRank(), step: role === 'tool' ? lostResult : 0 };
    for (const [at, call] of toolCalls.entries())
      this.#givenCalls.set(call.toolCallId, { rank, step: at + 1 });
    this.#waiting.push(this.#add({ kind, node, message, rank, step }));
  }

  /** An answer that nobody received, and the message that says so to its author. */
  #takeRejected(node: LogNode, message: LogMessage): void {
    this.#waiting.push(this.#add({ kind: 'answer', node, message, rank: this.#nextRank(), step: 0 }));
    const [, entry] = putTogether([node.event]);
    if (entry === undefined) return;
    const why = { entry, blocks: [node], main: node };
    this.#waiting.push(this.#add({ kind: 'message', node, message: why, rank: this.#nextRank(), step: 0 }));
  }

  #takeReceived(node: LogNode, message: LogMessage): void {
    const { role, toolCallId } = message.entry.message;
    if (role !== 'tool') {
      const kind = role === 'system' ? 'system' : 'message';
      if (kind === 'system') this.#systemRanks.add(this.#ranks);
      this.#waiting.push(this.#add({ kind, node, message, rank: this.#nextRank(), step: 0 }));
      return;
    }
    const call = this.#log.index.callOf(node);
    const answer = call === null ? undefined : this.#itemOf(call);
    const calls = answer?.message?.entry.message.toolCalls ?? [];
    const place =
      answer === undefined
        ? { rank: this.#nextRank(), step: call === null ? lostResult : cutResult }
        : { rank: answer.rank, step: 1 + calls.findIndex((made) => made.toolCallId === toolCallId) };
    this.#waiting.push(this.#add({ kind: 'result', node, message, ...place }));
  }

  /** The first block of a message on a path is the answer. Later blocks have its place. */
  #takeBlock(node: LogNode, message: LogMessage): void {
    const earlier = message.blocks.find((block) => block === node || this.#itemOf(block) !== undefined);
    const item = earlier === undefined ? undefined : this.#itemOf(earlier);
    if (item === undefined) this.#takeAnswer(node, message);
    else this.#itemAt.set(node.position, item);
  }

  #takeAnswer(node: LogNode, message: LogMessage): void {
    const { agentId, messageId } = message.entry;
    const call = this.#log.calls.get(agentId)?.get(messageId);
    const bounds = this.#boundsOf(call);
    const last = this.#lastOf(call);
    const isOwed = (item: KnownItem) => this.#orderOf(item) <= last;
    if (bounds.start < (this.#latest?.start ?? 0)) {
      this.#waiting = [...this.#omitted, ...this.#waiting];
      this.#omitted = [];
    }
    const newItems: KnownItem[] = [];
    const later: KnownItem[] = [];
    for (const item of this.#waiting) {
      const state = isOwed(item) ? stateIn(bounds, item) : null;
      if (state === null) later.push(item);
      else if (state === 'shown') newItems.push(item);
      else if (state === 'omitted') this.#omitted.push(item);
    }
    this.#waiting = later;
    const before = this.#own.length;
    const arrived = () => this.#itemsUpTo(before).filter(isOwed);
    const beginsTurn = this.#latest === null || this.#latest.message.entry.message.toolCalls === undefined;
    const basis = call === undefined ? 'reconstructed' : 'recorded';
    // On another path the message can begin with a later block.
    if (node === message.blocks[0] && !this.#log.answers.has(message))
      this.#log.answers.set(
        message,
        new GivenAnswer({ message, basis, newItems, beginsTurn }, bounds, arrived),
      );
    const rank = this.#nextRank();
    const item: KnownItem = { kind: 'answer', node: message.main, message, rank, step: 0 };
    this.#itemAt.set(node.position, item);
    this.#own.push(item);
    this.#log.found?.(item);
    this.#latest = { message, rank, start: bounds.start };
  }

  #compact(node: LogNode, keptFrom: string | undefined): void {
    const kept = keptFrom === undefined ? null : this.#log.index.find(keptFrom);
    const previous = this.#compactions.at(-1);
    const from = previous?.upTo ?? 0;
    let upTo = Math.max(from, (kept === null ? undefined : this.#rankAt.get(kept.position)) ?? this.#ranks);
    while (this.#systemRanks.has(upTo)) upTo += 1;
    const replaced = this.items.filter(
      ({ kind, rank }) =>
        kind !== 'answer' && kind !== 'system' && kind !== 'summary' && rank >= from && rank < upTo,
    );
    if (previous !== undefined) replaced.unshift(previous.item);
    const item = this.#add({ kind: 'summary', node, message: null, rank: upTo, step: 0 });
    this.#compactions.push({ item, upTo, replaced });
    if (!this.#log.replaced.has(node.position)) this.#log.replaced.set(node.position, replaced);
    this.#waiting.push(item);
  }

  #boundsOf(call: RecordedCall | undefined): PromptBounds {
    const bounds = this.boundsAfter(this.#lastOf(call));
    const { start, showsEarlierOutput } = readPolicy(call?.context);
    const first = start === undefined ? null : start === null ? null : this.#log.index.eventWithId(start);
    const rank = first === null ? undefined : this.#itemOf(first)?.rank;
    return {
      ...bounds,
      start: start === null ? Number.POSITIVE_INFINITY : (rank ?? bounds.compactedUpTo),
      outputFrom: showsEarlierOutput ? 0 : (this.#latest?.rank ?? 0),
      showsLostResults: call === undefined,
    };
  }

  /** The order of the last event that a call was given. */
  #lastOf(call: RecordedCall | undefined): number {
    if (call === undefined) return Number.POSITIVE_INFINITY;
    return call.last === null ? Number.NEGATIVE_INFINITY : this.#log.orderOf(call.last);
  }

  #orderOf({ node }: KnownItem): number {
    return this.#log.orderOf(node);
  }

  #add(item: KnownItem): KnownItem {
    this.#own.push(item);
    this.#itemAt.set(item.node.position, item);
    this.#log.found?.(item);
    return item;
  }

  #itemOf({ position }: LogNode): KnownItem | undefined {
    return this.#itemAt.get(position);
  }

  #itemsUpTo(own: number): KnownItem[] {
    const layers: (readonly KnownItem[])[] = [this.#own.slice(0, own)];
    for (let fold = this.#below; fold !== null; fold = fold.#below) layers.push(fold.#own);
    return layers.reverse().flat();
  }

  #nextRank(): number {
    this.#ranks += 1;
    return this.#ranks - 1;
  }
}

function lastOf(compactions: readonly Compaction[]): Pick<PromptBounds, 'compactedUpTo' | 'summary'> {
  const last = compactions.at(-1);
  return last === undefined ? nothingCompacted : { compactedUpTo: last.upTo, summary: last.item };
}

/** `root`: the agent of events without an agent. */
export function recordedCalls(index: LogIndex, root: string): RecordedCalls {
  const calls = new Map<string, Map<string, RecordedCall>>();
  for (const node of index.nodes) {
    const { event } = node;
    const through = givenThrough(event);
    if (through === undefined || event.messageId === undefined) continue;
    const last = through === null ? null : index.eventWithId(through);
    if (last === null && through !== null) continue;
    const { agentId = root } = event;
    const ofAgent = calls.get(agentId) ?? new Map<string, RecordedCall>();
    ofAgent.set(event.messageId, { inference: node, last, context: event.data.context });
    calls.set(agentId, ofAgent);
  }
  return calls;
}

/**
 * What a manifest says about the items of its prompt. `start` is the first event of the messages: null if the prompt has no message, and
 * undefined if the manifest does not say. `showsEarlierOutput`: whether the prompt has output from before the last action.
 */
function readPolicy(context: unknown): {
  readonly start: string | null | undefined;
  readonly showsEarlierOutput: boolean;
} {
  if (!isPlainObject(context)) return { start: undefined, showsEarlierOutput: false };
  const { policy, parts } = context;
  const { name, earlierOutput } = isPlainObject(policy) ? policy : {};
  const showsEarlierOutput = earlierOutput === 'kept' || (earlierOutput === undefined && name === 'faded');
  if (!Array.isArray(parts)) return { start: undefined, showsEarlierOutput };
  const first: unknown = parts.find((part) => isPlainObject(part) && part.kind === 'messages');
  const start = isPlainObject(first) && typeof first.first === 'string' ? first.first : null;
  return { start, showsEarlierOutput };
}

import { isPlainObject, isReadableAs } from '@hansard/events/plain';
import { GivenOrder, givenThrough } from '@hansard/prompt';
import type { LogIndex } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';
import { GivenAnswer, lostResult, type PromptBounds, stateIn } from './given-answer.ts';
import type { ItemState, KnownItem } from './known-item.ts';

/** The summary of a compaction, and what it replaced. */
interface Compaction {
  readonly item: KnownItem;
  /** The first rank that it kept. */
  readonly upTo: number;
  /** The received items since the compaction before, and its summary. */
  readonly replaced: readonly KnownItem[];
}

/** The manifest of a call, and the position of the last event of the agent that the call was given. */
interface RecordedCall {
  readonly last: number;
  readonly context: unknown;
}

const nothingCompacted = { compactedUpTo: 0, summary: null } as const;

/** All that one agent received, and the prompt of each of its answers. */
export class AgentKnowledge {
  /** All that the agent received and answered, in the order in which its model is given it. */
  readonly items: readonly KnownItem[];
  readonly #answers: ReadonlyMap<LogMessage, GivenAnswer>;
  readonly #compactions: readonly Compaction[];

  constructor(
    items: readonly KnownItem[],
    answers: ReadonlyMap<LogMessage, GivenAnswer>,
    compactions: readonly Compaction[],
  ) {
    this.items = items;
    this.#answers = answers;
    this.#compactions = compactions;
  }

  get answers(): Iterable<GivenAnswer> {
    return this.#answers.values();
  }

  answerOf(message: LogMessage): GivenAnswer | null {
    return this.#answers.get(message) ?? null;
  }

  /** What a compaction replaced; empty for any other event. */
  replacedBy(node: LogNode): readonly KnownItem[] {
    return this.#compactions.find(({ item }) => item.node === node)?.replaced ?? [];
  }

  /** Whether an item that had arrived at a position was replaced by then. */
  stateAt(position: number, item: KnownItem): ItemState {
    return stateIn(boundsAt(this.#compactions, position), item);
  }
}

/** Folds the events of one agent, given in the order of the log. */
export function readAgentKnowledge(index: LogIndex, nodes: readonly LogNode[]): AgentKnowledge {
  const isCompacted = nodes.some(({ event }) => event.type === 'session:compaction');
  const fold = new KnowledgeFold(index, recordedCalls(index, nodes), isCompacted);
  const order = new GivenOrder<LogNode>();
  for (const node of nodes) for (const settled of order.add(node)) fold.take(settled);
  for (const settled of order.takeAll()) fold.take(settled);
  return new AgentKnowledge(fold.items, fold.answers, fold.compactions);
}

class KnowledgeFold {
  readonly items: KnownItem[] = [];
  readonly answers = new Map<LogMessage, GivenAnswer>();
  readonly compactions: Compaction[] = [];
  readonly #index: LogIndex;
  readonly #calls: ReadonlyMap<string, RecordedCall>;
  readonly #isCompacted: boolean;
  /** By position. */
  readonly #itemAt = new Map<number, KnownItem>();
  /** By position: the rank of the item of an event that was taken, or of the next item. */
  readonly #rankAt = new Map<number, number>();
  readonly #systemRanks = new Set<number>();
  /** The places of the results of calls in the transcript with which the agent began. */
  readonly #givenCalls = new Map<string, Pick<KnownItem, 'rank' | 'step'>>();
  /** What no answer was given yet. */
  #waiting: KnownItem[] = [];
  /** What the policy of the context left out so far. Another policy can show it again. */
  #omitted: KnownItem[] = [];
  #latest: { readonly message: LogMessage; readonly rank: number; readonly start: number } | null = null;
  #ranks = 0;
  #outputRank = -2;

  constructor(index: LogIndex, calls: ReadonlyMap<string, RecordedCall>, isCompacted: boolean) {
    this.#index = index;
    this.#calls = calls;
    this.#isCompacted = isCompacted;
  }

  take(node: LogNode): void {
    const next = this.#ranks;
    this.#addNode(node);
    const item = this.#itemAt.get(node.position);
    if (this.#isCompacted)
      this.#rankAt.set(node.position, item === undefined || item.kind === 'summary' ? next : item.rank);
  }

  #addNode(node: LogNode): void {
    const message = this.#index.messageOf(node);
    if (message === null) this.#takeOther(node);
    else if (message.entry.message.role !== 'assistant') this.#takeReceived(node, message);
    else if (!this.answers.has(message)) this.#takeAnswer(message);
  }

  #takeOther(node: LogNode): void {
    const { event } = node;
    const given = this.#index.givenAt(node);
    if (given !== null) this.#takeGiven(node, given);
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

  #takeReceived(node: LogNode, message: LogMessage): void {
    const { role, toolCallId } = message.entry.message;
    if (role !== 'tool') {
      const kind = role === 'system' ? 'system' : 'message';
      if (kind === 'system') this.#systemRanks.add(this.#ranks);
      this.#waiting.push(this.#add({ kind, node, message, rank: this.#nextRank(), step: 0 }));
      return;
    }
    const call = this.#index.callOf(node);
    const answer = call === null ? undefined : this.#itemOf(call);
    const calls = answer?.message?.entry.message.toolCalls ?? [];
    const place =
      answer === undefined
        ? { rank: this.#nextRank(), step: lostResult }
        : { rank: answer.rank, step: 1 + calls.findIndex((made) => made.toolCallId === toolCallId) };
    this.#waiting.push(this.#add({ kind: 'result', node, message, ...place }));
  }

  #takeAnswer(message: LogMessage): void {
    const call = this.#calls.get(message.entry.messageId);
    const bounds = this.#boundsOf(call);
    const isOwed = (item: KnownItem) => call === undefined || item.node.position <= call.last;
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
    const before = this.items.length;
    const arrived = () => this.items.slice(0, before).filter(isOwed);
    const beginsTurn = this.#latest === null || this.#latest.message.entry.message.toolCalls === undefined;
    const basis = call === undefined ? 'reconstructed' : 'recorded';
    this.answers.set(message, new GivenAnswer({ message, basis, newItems, beginsTurn }, bounds, arrived));
    const rank = this.#nextRank();
    for (const block of message.blocks)
      this.#itemAt.set(block.position, { kind: 'answer', node: message.main, message, rank, step: 0 });
    this.items.push(this.#itemAt.get(message.main.position) as KnownItem);
    this.#latest = { message, rank, start: bounds.start };
  }

  #compact(node: LogNode, keptFrom: string | undefined): void {
    const kept = keptFrom === undefined ? null : this.#index.find(keptFrom);
    const previous = this.compactions.at(-1);
    const from = previous?.upTo ?? 0;
    let upTo = Math.max(from, (kept === null ? undefined : this.#rankAt.get(kept.position)) ?? this.#ranks);
    while (this.#systemRanks.has(upTo)) upTo += 1;
    const replaced = this.items.filter(
      ({ kind, rank }) =>
        kind !== 'answer' && kind !== 'system' && kind !== 'summary' && rank >= from && rank < upTo,
    );
    if (previous !== undefined) replaced.unshift(previous.item);
    const item = this.#add({ kind: 'summary', node, message: null, rank: upTo, step: 0 });
    this.compactions.push({ item, upTo, replaced });
    this.#waiting.push(item);
  }

  #boundsOf(call: RecordedCall | undefined): PromptBounds {
    const bounds = call === undefined ? lastOf(this.compactions) : boundsAt(this.compactions, call.last);
    const { start, showsEarlierOutput } = readPolicy(call?.context);
    const first = start === undefined ? null : start === null ? null : this.#index.eventWithId(start);
    const rank = first === null ? undefined : this.#itemOf(first)?.rank;
    return {
      ...bounds,
      start: start === null ? Number.POSITIVE_INFINITY : (rank ?? bounds.compactedUpTo),
      outputFrom: showsEarlierOutput ? 0 : (this.#latest?.rank ?? 0),
      showsLostResults: call === undefined,
    };
  }

  #add(item: KnownItem): KnownItem {
    this.items.push(item);
    this.#itemAt.set(item.node.position, item);
    return item;
  }

  #itemOf({ position }: LogNode): KnownItem | undefined {
    return this.#itemAt.get(position);
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

function boundsAt(compactions: readonly Compaction[], position: number): PromptBounds {
  const before = compactions.filter(({ item }) => item.node.position <= position);
  const bounds = lastOf(before);
  return { ...bounds, start: bounds.compactedUpTo, outputFrom: 0, showsLostResults: true };
}

/** The calls of an agent whose `agent:inference` records what they were given, by the message of the answer. */
function recordedCalls(index: LogIndex, nodes: readonly LogNode[]): ReadonlyMap<string, RecordedCall> {
  const calls = new Map<string, RecordedCall>();
  for (const { event } of nodes) {
    const through = givenThrough(event);
    if (through === undefined || event.messageId === undefined) continue;
    const last = through === null ? -1 : index.eventWithId(through)?.position;
    if (last !== undefined) calls.set(event.messageId, { last, context: event.data.context });
  }
  return calls;
}

/**
 * What a manifest says about the items of its prompt: the first event of the messages, null if it has none, and
 * undefined if it does not say; and whether it shows output from before the last action.
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

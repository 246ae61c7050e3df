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
  const calls = recordedCalls(index, nodes);
  const order = new GivenOrder<LogNode>();
  const isCompacted = nodes.some(({ event }) => event.type === 'session:compaction');
  const items: KnownItem[] = [];
  const answers = new Map<LogMessage, GivenAnswer>();
  const compactions: Compaction[] = [];
  /** By position. */
  const itemAt = new Map<number, KnownItem>();
  /** By position: the rank of the item of an event that was taken, or of the next item. */
  const rankAt = new Map<number, number>();
  const systemRanks = new Set<number>();
  /** What no answer was given yet. */
  let waiting: KnownItem[] = [];
  /** What the policy of the context left out so far. Another policy can show it again. */
  let omitted: KnownItem[] = [];
  let latest: { readonly message: LogMessage; readonly rank: number; readonly start: number } | null = null;
  let ranks = 0;
  let outputRank = -2;

  for (const node of nodes) for (const settled of order.add(node)) take(settled);
  for (const settled of order.takeAll()) take(settled);
  return new AgentKnowledge(items, answers, compactions);

  function take(node: LogNode): void {
    const next = ranks;
    addNode(node);
    const item = itemAt.get(node.position);
    if (isCompacted)
      rankAt.set(node.position, item === undefined || item.kind === 'summary' ? next : item.rank);
  }

  function addNode(node: LogNode): void {
    const message = index.messageOf(node);
    if (message === null) takeOther(node);
    else if (message.entry.message.role !== 'assistant') takeReceived(node, message);
    else if (!answers.has(message)) takeAnswer(message);
  }

  function takeOther(node: LogNode): void {
    const { event } = node;
    if (isReadableAs(event, 'agent:output') && event.data.parts.length > 0) {
      // Consecutive output is one message.
      if (outputRank !== ranks - 1) outputRank = nextRank();
      waiting.push(add({ kind: 'output', node, message: null, rank: outputRank, step: node.position }));
    }
    // Without a summary there is no text that replaces the messages.
    if (isReadableAs(event, 'session:compaction') && event.data.summary !== undefined)
      compact(node, event.data.keptFrom);
  }

  function takeReceived(node: LogNode, message: LogMessage): void {
    const { role, toolCallId } = message.entry.message;
    if (role !== 'tool') {
      const kind = role === 'system' ? 'system' : 'message';
      if (kind === 'system') systemRanks.add(ranks);
      waiting.push(add({ kind, node, message, rank: nextRank(), step: 0 }));
      return;
    }
    const call = index.callOf(node);
    const answer = call === null ? undefined : itemOf(call);
    const calls = answer?.message?.entry.message.toolCalls ?? [];
    const place =
      answer === undefined
        ? { rank: nextRank(), step: lostResult }
        : { rank: answer.rank, step: 1 + calls.findIndex((made) => made.toolCallId === toolCallId) };
    waiting.push(add({ kind: 'result', node, message, ...place }));
  }

  function takeAnswer(message: LogMessage): void {
    const call = calls.get(message.entry.messageId);
    const bounds = boundsOf(call);
    const isOwed = (item: KnownItem) => call === undefined || item.node.position <= call.last;
    if (bounds.start < (latest?.start ?? 0)) {
      waiting = [...omitted, ...waiting];
      omitted = [];
    }
    const newItems: KnownItem[] = [];
    const later: KnownItem[] = [];
    for (const item of waiting) {
      const state = isOwed(item) ? stateIn(bounds, item) : null;
      if (state === null) later.push(item);
      else if (state === 'shown') newItems.push(item);
      else if (state === 'omitted') omitted.push(item);
    }
    waiting = later;
    const before = items.length;
    const arrived = () => items.slice(0, before).filter(isOwed);
    const beginsTurn = latest === null || latest.message.entry.message.toolCalls === undefined;
    const basis = call === undefined ? 'reconstructed' : 'recorded';
    answers.set(message, new GivenAnswer({ message, basis, newItems, beginsTurn }, bounds, arrived));
    const rank = nextRank();
    for (const block of message.blocks)
      itemAt.set(block.position, { kind: 'answer', node: message.main, message, rank, step: 0 });
    items.push(itemAt.get(message.main.position) as KnownItem);
    latest = { message, rank, start: bounds.start };
  }

  function compact(node: LogNode, keptFrom: string | undefined): void {
    const kept = keptFrom === undefined ? null : index.find(keptFrom);
    const previous = compactions.at(-1);
    const from = previous?.upTo ?? 0;
    let upTo = Math.max(from, (kept === null ? undefined : rankAt.get(kept.position)) ?? ranks);
    while (systemRanks.has(upTo)) upTo += 1;
    const replaced = items.filter(
      ({ kind, rank }) =>
        kind !== 'answer' && kind !== 'system' && kind !== 'summary' && rank >= from && rank < upTo,
    );
    if (previous !== undefined) replaced.unshift(previous.item);
    const item = add({ kind: 'summary', node, message: null, rank: upTo, step: 0 });
    compactions.push({ item, upTo, replaced });
    waiting.push(item);
  }

  function boundsOf(call: RecordedCall | undefined): PromptBounds {
    const bounds = call === undefined ? lastOf(compactions) : boundsAt(compactions, call.last);
    const { start, showsEarlierOutput } = readPolicy(call?.context);
    const first = start === undefined ? null : start === null ? null : index.eventWithId(start);
    const rank = first === null ? undefined : itemOf(first)?.rank;
    return {
      ...bounds,
      start: start === null ? Number.POSITIVE_INFINITY : (rank ?? bounds.compactedUpTo),
      outputFrom: showsEarlierOutput ? 0 : (latest?.rank ?? 0),
      showsLostResults: call === undefined,
    };
  }

  function add(item: KnownItem): KnownItem {
    items.push(item);
    itemAt.set(item.node.position, item);
    return item;
  }

  function itemOf({ position }: LogNode): KnownItem | undefined {
    return itemAt.get(position);
  }

  function nextRank(): number {
    ranks += 1;
    return ranks - 1;
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

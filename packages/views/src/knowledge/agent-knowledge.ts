import { type Basis, GivenOrder } from '@hansard/prompt';
import type { LogMessage, LogNode } from '../log/log-node.ts';
import { type GivenAnswer, stateIn } from './given-answer.ts';
import { type FoldedLog, KnowledgeFold } from './knowledge-fold.ts';
import type { ItemState, KnownItem } from './known-item.ts';

/** What an agent had received at some moment. */
export interface Received {
  /** In the order in which its model is given it. */
  readonly items: readonly KnownItem[];
  /** Whether its next prompt would have an item. */
  stateOf(item: KnownItem): ItemState;
}

interface KnowledgeFacts {
  items(): readonly KnownItem[];
  readonly answers: ReadonlyMap<LogMessage, GivenAnswer>;
  readonly replaced: FoldedLog['replaced'];
  receivedAt(position: number): Received;
}

/** All that one agent received, and the prompt of each of its answers. */
export class AgentKnowledge {
  readonly #facts: KnowledgeFacts;
  #items: readonly KnownItem[] | undefined;

  constructor(facts: KnowledgeFacts) {
    this.#facts = facts;
  }

  /**
   * All that the agent received and answered, on all branches, in the order in which its model is given it. First what it inherits from
   * another agent.
   */
  get items(): readonly KnownItem[] {
    this.#items ??= this.#facts.items();
    return this.#items;
  }

  get answers(): Iterable<GivenAnswer> {
    return this.#facts.answers.values();
  }

  answerOf(message: LogMessage): GivenAnswer | null {
    return this.#facts.answers.get(message) ?? null;
  }

  /** What a compaction replaced; empty for any other event. */
  replacedBy({ position }: LogNode): readonly KnownItem[] {
    return this.#facts.replaced.get(position) ?? [];
  }

  /** What the agent had received on the branch that was current after the event at a position. */
  receivedAt(position: number): Received {
    return this.#facts.receivedAt(position);
  }
}

/** Folds the events of an agent with one branch, given in the order of the log. */
export function readAgentKnowledge(log: FoldedLog, nodes: readonly LogNode[]): AgentKnowledge {
  const isCompacted = log.isCompacted && nodes.some(({ event }) => event.type === 'session:compaction');
  const own = { ...log, isCompacted, answers: new Map<LogMessage, GivenAnswer>() };
  const fold = new KnowledgeFold(own);
  const order = new GivenOrder<LogNode>();
  for (const node of nodes) for (const settled of order.add(node)) fold.take(settled);
  for (const settled of order.takeAll()) fold.take(settled);
  const { items } = fold;
  return new AgentKnowledge({
    ...{ items: () => items, answers: own.answers, replaced: log.replaced },
    receivedAt: (position) =>
      received(
        items.filter(({ node }) => node.position <= position),
        fold,
        position,
      ),
  });
}

export function received(items: readonly KnownItem[], fold: KnowledgeFold, order: number): Received {
  const bounds = fold.boundsAfter(order);
  return { items, stateOf: (item) => stateIn(bounds, item) };
}

/** A line about rows that are reconstructed; none if all are recorded. */
export function basisNote(rows: readonly { readonly basis: Basis | null }[]): readonly string[] {
  return rows.some(({ basis }) => basis === 'reconstructed')
    ? ['(reconstructed: the log does not record what the model was given)']
    : [];
}

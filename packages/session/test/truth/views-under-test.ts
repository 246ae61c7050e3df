import type { CapturedEvent } from '@hansard/events';
import {
  type Audience,
  audienceOf,
  type CausalRow,
  causesOf,
  createLogIndex,
  effectsOf,
  type HearingRow,
  hearingMatrix,
  type Intervention,
  interventionsOf,
  type KnownRow,
  knowledgeOf,
  knownBy,
  type NeverHeardRow,
  neverHeard,
  type PerspectiveRow,
  perspectiveOf,
} from '@hansard/views';

/** The views of one log, as they are compared with the truth. A mutant has another answer to one of these questions. */
export interface AskedViews {
  matrix(): readonly HearingRow[];
  never(id: string): readonly NeverHeardRow[];
  audience(row: HearingRow): Audience;
  causes(id: string): readonly CausalRow[];
  effects(id: string): readonly CausalRow[];
  known(agentId: string, at: string): readonly KnownRow[];
  /** The ids of what the model of an answer was given, in the order of the prompt, without earlier answers. */
  given(messageId: string): readonly string[];
  perspective(agentId: string): readonly PerspectiveRow[];
  interventions(): readonly Intervention[];
}

export function viewsOf(events: readonly CapturedEvent[]): AskedViews {
  const index = createLogIndex(events);
  return {
    matrix: () => hearingMatrix(index).rows,
    never: (id) => neverHeard(index, id),
    audience: ({ saying }) => audienceOf(index, saying),
    causes: (id) => causesOf(index, id),
    effects: (id) => effectsOf(index, id),
    known: (agentId, at) => knownBy(index, agentId, at),
    given(messageId) {
      const node = index.find(messageId);
      const answer = node === null ? null : knowledgeOf(index).answerOf(node);
      const items = answer?.given.filter(({ kind }) => kind !== 'answer') ?? [];
      return items.map((item) => item.node.event.id);
    },
    perspective: (agentId) => perspectiveOf(index, agentId),
    interventions: () => interventionsOf(index),
  };
}

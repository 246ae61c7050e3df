import { type LogIndex, rootAgentOf } from '../log/log-index.ts';
import type { LogNode } from '../log/log-node.ts';
import { type AgentKnowledge, readAgentKnowledge } from './agent-knowledge.ts';
import { BranchedKnowledge } from './branched-knowledge.ts';
import type { GivenAnswer } from './given-answer.ts';
import { recordedCalls } from './knowledge-fold.ts';

/** What each agent of a log knew: the one object that all views of knowledge and causes read. */
export interface Knowledge {
  /** By agent id. */
  readonly agents: ReadonlyMap<string, AgentKnowledge>;
  /** The answer that an event is a block or the `agent:inference` of, with what its model was given; null: no answer. */
  answerOf(node: LogNode): GivenAnswer | null;
}

const computed = new WeakMap<LogIndex, Knowledge>();

/** Computed at the first call for an index, then kept with it. */
export function knowledgeOf(index: LogIndex): Knowledge {
  let knowledge = computed.get(index);
  if (knowledge === undefined) {
    knowledge = readKnowledge(index);
    computed.set(index, knowledge);
  }
  return knowledge;
}

function readKnowledge(index: LogIndex): Knowledge {
  const root = rootAgentOf(index);
  const agents =
    index.tree === null ? readStraight(index, root) : BranchedKnowledge.read(index, index.tree, root);
  return {
    agents,
    answerOf(node) {
      const { agentId = root, messageId, type } = node.event;
      const block = type === 'agent:inference' && messageId !== undefined ? index.find(messageId) : node;
      const message = block === null ? null : index.messageOf(block);
      return message === null ? null : (agents.get(agentId)?.answerOf(message) ?? null);
    },
  };
}

function readStraight(index: LogIndex, root: string): Knowledge['agents'] {
  const log = {
    ...{ index, calls: recordedCalls(index, root), isCompacted: true },
    ...{ orderOf: ({ position }: LogNode) => position, answers: new Map(), replaced: new Map() },
  };
  const byAgent = Map.groupBy(index.nodes, ({ event: { agentId = root } }) => agentId);
  return new Map([...byAgent].map(([agentId, nodes]) => [agentId, readAgentKnowledge(log, nodes)] as const));
}

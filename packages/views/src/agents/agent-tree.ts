import type { CapturedEvent } from '@hansard/events';
import { isStraightEvent, rootOf, type TranscriptBranch, TranscriptTree } from '@hansard/prompt';
import type { LogDiagnostic } from '../log/diagnostic.ts';
import { idRepeated } from '../log/event-ids.ts';
import { type LogAgent, readAgents, takesPart } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { LogMessage } from '../log/log-node.ts';
import { readLog } from '../log/read-log.ts';
import { type Reference, referenceProblem, referencesIn } from '../log/references.ts';

/** A branch of the transcript of an agent. */
export interface AgentBranch extends Pick<TranscriptBranch, 'state' | 'events' | 'prompts'> {
  /** Its address: the position of its last event, and the id. Null: the transcript is empty. */
  readonly end: number | null;
  readonly address: string | null;
  /** The position of the last entry that it shares with an earlier branch. Null: there is none. */
  readonly from: number | null;
}

/** An agent and the agents that it created. */
export interface AgentTreeNode {
  readonly agent: LogAgent;
  /** The number of messages in its transcript. */
  readonly messages: number;
  /** The branches of its transcript, in the order in which they began. Empty: it is a straight line. */
  readonly branches: readonly AgentBranch[];
  readonly children: readonly AgentTreeNode[];
  /** The recorded cause of its creation is not in the log, or is later than the creation. */
  readonly orphan: boolean;
}

interface Node extends AgentTreeNode {
  readonly children: Node[];
  orphan: boolean;
}

/** What a tree of agents is made from. */
interface TreeFacts extends Pick<LogIndex, 'agents'> {
  messagesOf(agentId: string): number;
  branchesOf(agentId: string): readonly AgentBranch[];
  /** The agent and the position of the event that a reference names. */
  find(id: string): { readonly agentId: string; readonly position: number } | null;
  /** -1: no event has the id. */
  positionOf(eventId: string): number;
}

/**
 * The agents of a log as trees: a child is an agent that a tool call of its parent created. An agent of a hook has no parent. Each agent
 * occurs exactly once.
 */
export function agentTree(index: LogIndex): AgentTreeNode[] {
  const positionOf = (id: string) => index.eventWithId(id)?.position ?? -1;
  return treesOf({
    agents: index.agents,
    messagesOf: (agentId) => index.transcripts.get(agentId)?.length ?? 0,
    branchesOf: (agentId) => branchesIn(index.tree, agentId, positionOf),
    find(id) {
      const node = index.find(id);
      return node === null ? null : { agentId: node.event.agentId ?? '', position: node.position };
    },
    positionOf,
  });
}

/**
 * `agentTree` and the diagnostics of `createLogIndex` for a log that is read page by page, twice if it has branches.
 * No event is kept, so that a log of any length takes little memory.
 */
export async function readAgentTree(source: {
  pages(): AsyncIterable<{ readonly events: readonly CapturedEvent[] }>;
}): Promise<{ readonly agents: AgentTreeNode[]; readonly diagnostics: readonly LogDiagnostic[] }> {
  const reading = new AgentTreeReading();
  for await (const { events } of source.pages()) reading.add(events);
  if (reading.isStraight) return reading.end(null);
  const root = reading.root;
  const tree = new TranscriptTree<number>(({ agentId = root }) => agentId);
  let position = 0;
  for await (const { events } of source.pages())
    for (const event of events) {
      tree.add(event, position);
      position += 1;
    }
  return reading.end(tree);
}

function treesOf({ agents, messagesOf, branchesOf, find, positionOf }: TreeFacts): AgentTreeNode[] {
  const nodes = new Map(
    [...agents.values()].map((agent): [string, Node] => {
      const { agentId } = agent;
      const [messages, branches] = [messagesOf(agentId), branchesOf(agentId)];
      return [agentId, { agent, messages, branches, children: [], orphan: false }];
    }),
  );
  /** The parent is an agent that was created earlier, so that bad data cannot form a cycle. */
  const parentBy = (created: CapturedEvent, cause: string) => {
    const parent = nodes.get(find(cause)?.agentId ?? '');
    const begin = parent?.agent.created;
    if (begin != null && positionOf(begin.id) >= positionOf(created.id)) return undefined;
    return parent;
  };
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const { created } = node.agent;
    const [cause] = created?.data.hook === undefined ? [created?.cause ?? []].flat() : [];
    const parent = cause === undefined || created === null ? undefined : parentBy(created, cause);
    if (parent !== undefined) parent.children.push(node);
    else {
      node.orphan = cause !== undefined;
      roots.push(node);
    }
  }
  return roots;
}

/** The branches of an agent with more than one. */
function branchesIn(
  tree: TranscriptTree<unknown> | null,
  agentId: string,
  positionOf: (id: string) => number,
): AgentBranch[] {
  const branches = tree?.branches(agentId) ?? [];
  if (branches.length < 2) return [];
  const at = (id: string | null) => {
    const position = id === null ? -1 : positionOf(id);
    return position === -1 ? null : position;
  };
  return branches.map(({ state, address, from, events, prompts }) => ({
    ...{ state, end: at(address), address, from: at(from), events, prompts },
  }));
}

/** An answer of which the log has been read in part. */
interface OpenAnswer {
  /** The position of the block that references to the answer lead to. */
  main: number;
  /** The rank of that block: a block with a lower rank takes its place. */
  rank: number;
}

const statesOfAgents: ReadonlySet<string> = new Set(['agent:created', 'agent:terminated', 'agent:revived']);
/** The blocks that references to an answer mean, the first ones first. */
const ranks: ReadonlyMap<string, number> = new Map([
  ['agent:tool_call', 0],
  ['agent:text', 1],
]);

/** Reads what a tree of agents is made from, list by list. What it finds is what the passes of an index find in the whole log. */
class AgentTreeReading {
  /** By position. */
  readonly #agentAt: string[] = [];
  readonly #positions = new Map<string, number>();
  /** The events that decide which agents there are, and which of them is the root. */
  readonly #ofAgents: CapturedEvent[] = [];
  /** The agents that take part. */
  readonly #met = new Set<string>();
  readonly #messages = new Map<string, number>();
  /** By agent and message id. */
  readonly #answers = new Map<string, OpenAnswer>();
  /** The messages whose id is not that of their first event. */
  readonly #byMessageId = new Map<string, OpenAnswer>();
  /** The ids that an event shares with its answer. */
  readonly #shared = new Map<string, OpenAnswer>();
  /** The references that later events can decide. */
  readonly #open: { readonly eventId: string; readonly position: number; readonly reference: Reference }[] =
    [];
  readonly #unreadable: LogDiagnostic[] = [];
  readonly #repeated: LogDiagnostic[] = [];
  isStraight = true;

  /** The agent of events without one. */
  get root(): string {
    return this.#met.has('') ? '' : rootOf(this.#ofAgents);
  }

  add(events: readonly CapturedEvent[]): void {
    const first = this.#agentAt.length;
    const { messages, given, diagnostics } = readLog(events);
    this.#unreadable.push(...diagnostics);
    for (const event of events) this.#addEvent(event);
    for (const message of [...messages, ...given.values()]) this.#addMessage(message, first);
    for (const [at, event] of events.entries())
      for (const reference of referencesIn(event)) {
        const target = this.#positions.get(reference.id);
        const isDecided = target !== undefined && target < first + at && !this.#shared.has(reference.id);
        if (!isDecided) this.#open.push({ eventId: event.id, position: first + at, reference });
      }
  }

  end(tree: TranscriptTree<number> | null) {
    const find = (id: string) => {
      const position = this.#positions.get(id);
      return position === undefined
        ? this.#byMessageId.get(id)?.main
        : (this.#shared.get(id)?.main ?? position);
    };
    const { agents, diagnostics } = readAgents(this.#ofAgents);
    const positionOf = (id: string) => this.#positions.get(id) ?? -1;
    const lost = this.#open.flatMap(
      ({ eventId, position, reference }) =>
        referenceProblem(eventId, position, reference, find(reference.id)) ?? [],
    );
    return {
      agents: treesOf({
        ...{ agents, positionOf },
        messagesOf: (agentId) => this.#messages.get(agentId) ?? 0,
        branchesOf: (agentId) => branchesIn(tree, agentId, positionOf),
        find: (id) => {
          const position = find(id);
          return position === undefined ? null : { agentId: this.#agentAt[position] ?? '', position };
        },
      }),
      diagnostics: [this.#unreadable, this.#repeated, diagnostics, lost, tree?.problems ?? []].flat(),
    };
  }

  #addEvent(event: CapturedEvent): void {
    const { id, type, agentId = '' } = event;
    if (this.#positions.has(id)) this.#repeated.push(idRepeated(id));
    else this.#positions.set(id, this.#agentAt.length);
    const isFirst = takesPart.test(type) && !this.#met.has(agentId);
    if (isFirst) this.#met.add(agentId);
    if (isFirst || statesOfAgents.has(type) || (this.#ofAgents.length === 0 && agentId !== ''))
      this.#ofAgents.push(event);
    this.#agentAt.push(agentId);
    this.isStraight &&= isStraightEvent(event);
  }

  /** `first`: the position of the first event of its list. */
  #addMessage({ entry, blocks, main }: LogMessage, first: number): void {
    const { agentId, messageId } = entry;
    const key = `${agentId} ${messageId}`;
    const isAnswer = entry.message.role === 'assistant' && main.event.type !== 'agent:given';
    const rank = ranks.get(main.event.type) ?? ranks.size;
    let answer = isAnswer ? this.#answers.get(key) : undefined;
    if (answer === undefined) {
      answer = { main: first + main.position, rank };
      if (isAnswer) this.#answers.set(key, answer);
      this.#messages.set(agentId, (this.#messages.get(agentId) ?? 0) + 1);
      const hasOwnId = blocks[0]?.event.id !== messageId && main.event.type !== 'agent:given';
      if (hasOwnId && !this.#byMessageId.has(messageId)) this.#byMessageId.set(messageId, answer);
    } else if (rank < answer.rank) Object.assign(answer, { main: first + main.position, rank });
    const shared = blocks.find(({ event }) => event.id === messageId && event.messageId === messageId);
    if (isAnswer && shared !== undefined && this.#positions.get(messageId) === first + shared.position)
      this.#shared.set(messageId, answer);
  }
}

import type { CapturedEvent, DispatchEnvelope, JsonObject } from '@hansard/events';
import { isPlainObject, neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCount, openCallEvents } from '@hansard/facts';
import {
  isStraightEvent,
  type LeftBranch,
  rootOf,
  type TranscriptBranch,
  TranscriptTree,
} from '@hansard/prompt';
import type { LogDiagnostic } from '../log/diagnostic.ts';
import { idRepeated } from '../log/event-ids.ts';
import { type LogAgent, readAgents, takesPart } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { LogMessage } from '../log/log-node.ts';
import { readLog } from '../log/read-log.ts';
import { type Reference, referenceProblem, referencesIn } from '../log/references.ts';
import { branchesOf, firstLines, groupSiblings, type Siblings } from '../text/branches.ts';
import { alignColumns, fitColumns } from '../text/columns.ts';

/** A branch of the transcript of an agent: the current one whole, of any other what is not on the current one. */
interface AgentBranch extends Pick<TranscriptBranch, 'state' | 'events' | 'prompts'> {
  /** Its address: the position of its last event, and the id. Null: the transcript is empty. */
  readonly end: number | null;
  readonly address: string | null;
  /** The position of the entry after which it left the current branch, or another one that left it. Null: there is none. */
  readonly from: number | null;
}

/** An agent and the agents that it created. */
export interface AgentTreeNode {
  readonly agent: LogAgent;
  /** The models of its calls, in the order in which they were used first. */
  readonly models: readonly string[];
  /** How many agents its product says are above it. Null: not recorded. */
  readonly depth: number | null;
  /** The number of messages in its transcript. */
  readonly messages: number;
  /** The branches of its transcript: the current one, then the others in the order of their first events. Empty: nothing was left. */
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
  readonly stated: StatedFacts;
  messagesOf(agentId: string): number;
  branchesOf(agentId: string): readonly AgentBranch[];
  /** The agent and the position of the event that a reference names. */
  find(id: string): { readonly agentId: string; readonly position: number } | null;
  /** -1: no event has the id. */
  positionOf(eventId: string): number;
}

/** What records say of agents beside their messages. */
class StatedFacts {
  readonly #models = new Map<string, Set<string>>();
  readonly #depths = new Map<string, number>();

  learn({ type, agentId = '', data }: CapturedEvent): void {
    if (type === 'agent:inference' && typeof data.model === 'string') {
      const known = this.#models.get(agentId);
      if (known === undefined) this.#models.set(agentId, new Set([data.model]));
      else known.add(data.model);
    } else if (type === 'system:agent_metadata' && isPlainObject(data.metadata)) {
      const { spawnDepth } = data.metadata as JsonObject;
      if (typeof data.agent === 'string' && typeof spawnDepth === 'number')
        this.#depths.set(data.agent, spawnDepth);
    }
  }

  of(agentId: string): Pick<AgentTreeNode, 'models' | 'depth'> {
    return { models: [...(this.#models.get(agentId) ?? [])], depth: this.#depths.get(agentId) ?? null };
  }
}

/**
 * The agents of a log as trees: a child is an agent that a tool call of its parent created. An agent of a hook has no parent. Each agent
 * occurs exactly once.
 */
export function agentTree(index: LogIndex): AgentTreeNode[] {
  const positionOf = (id: string) => index.eventWithId(id)?.position ?? -1;
  const stated = new StatedFacts();
  for (const event of index.events) stated.learn(event);
  return treesOf({
    ...{ agents: index.agents, stated },
    messagesOf: (agentId) => index.transcripts.get(agentId)?.length ?? 0,
    branchesOf: branchesIn(index.tree, positionOf),
    find(id) {
      const node = index.find(id);
      return node === null ? null : { agentId: node.event.agentId ?? '', position: node.position };
    },
    positionOf,
  });
}

/**
 * `agentTree` and the diagnostics of `createLogIndex` for a log that is read page by page: twice if it has branches and its envelope does not say so, or if
 * it shows late which agent is the root.
 * No event is kept, so that a log of any length takes little memory.
 */
export async function readAgentTree(source: {
  /** With the model calls that the log does not have as events. */
  readonly envelope?: Pick<DispatchEnvelope, 'openCalls' | 'branched'>;
  pages(): AsyncIterable<{ readonly events: readonly CapturedEvent[] }>;
}): Promise<{ readonly agents: AgentTreeNode[]; readonly diagnostics: readonly LogDiagnostic[] }> {
  const reading = new AgentTreeReading();
  const early = source.envelope?.branched === true ? new PlacedEvents(() => reading.root) : null;
  for await (const { events } of source.pages()) {
    reading.add(events);
    early?.add(events);
  }
  if (source.envelope !== undefined)
    for (const call of openCallEvents(source.envelope, () => false)) reading.stated.learn(call);
  if (reading.isStraight) return reading.end(null);
  const { root } = reading;
  if (early?.isOf(root) === true) return reading.end(early.tree);
  const placed = new PlacedEvents(() => root);
  for await (const { events } of source.pages()) placed.add(events);
  return reading.end(placed.tree);
}

/** The transcripts of a log whose root may be known only at its end. */
class PlacedEvents {
  readonly tree: TranscriptTree<number>;
  readonly #roots = new Set<string>();
  #position = 0;

  constructor(root: () => string) {
    this.tree = new TranscriptTree(({ agentId }) => {
      if (agentId !== undefined) return agentId;
      const now = root();
      this.#roots.add(now);
      return now;
    });
  }

  add(events: readonly CapturedEvent[]): void {
    for (const event of events) {
      this.tree.add(event, this.#position);
      this.#position += 1;
    }
  }

  /** Whether this agent was the root for each event without an agent. */
  isOf(root: string): boolean {
    return this.#roots.size === 0 || (this.#roots.size === 1 && this.#roots.has(root));
  }
}

function treesOf({ agents, stated, messagesOf, branchesOf, find, positionOf }: TreeFacts): AgentTreeNode[] {
  const nodes = new Map(
    [...agents.values()].map((agent): [string, Node] => {
      const { agentId } = agent;
      const [messages, branches] = [messagesOf(agentId), branchesOf(agentId)];
      return [agentId, { agent, ...stated.of(agentId), messages, branches, children: [], orphan: false }];
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

/** The branches of each agent with more than one. */
function branchesIn(
  tree: TranscriptTree<unknown> | null,
  positionOf: (id: string) => number,
): (agentId: string) => AgentBranch[] {
  const left = Map.groupBy(tree?.leftBranches() ?? [], ({ agentId }) => agentId);
  return (agentId) => branchesOfAgent(tree?.branches(agentId) ?? [], left.get(agentId) ?? [], positionOf);
}

function branchesOfAgent(
  branches: readonly TranscriptBranch[],
  left: readonly LeftBranch<unknown>[],
  positionOf: (id: string) => number,
): AgentBranch[] {
  const current = branches.find(({ state }) => state === 'current');
  if (current === undefined || left.length === 0) return [];
  const rest = (figure: 'events' | 'prompts') =>
    sum(branches.map((branch) => branch[figure])) - sum(left.map((branch) => branch[figure]));
  const whole = { ...current, from: null, events: rest('events'), prompts: rest('prompts') };
  const at = (id: string | null) => {
    const position = id === null ? -1 : positionOf(id);
    return position === -1 ? null : position;
  };
  return [whole, ...left].map(({ state, address, from, events, prompts }) => ({
    ...{ state, end: at(address), address, from: at(from), events, prompts },
  }));
}

function sum(figures: readonly number[]): number {
  return figures.reduce((all, figure) => all + figure, 0);
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
  readonly stated = new StatedFacts();

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
        ...{ agents, positionOf, stated: this.stated },
        messagesOf: (agentId) => this.#messages.get(agentId) ?? 0,
        branchesOf: branchesIn(tree, positionOf),
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
    this.stated.learn(event);
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

interface RenderAgentsOptions {
  /** The largest width of a line in columns. Absent: unlimited. */
  readonly width?: number | undefined;
  /** The most lines, without those of open agents: equal siblings share a line. Absent: unlimited. */
  readonly most?: number | undefined;
  /** The names of agents that have lines of their own. */
  readonly open?: readonly string[];
}

/** A line of the tree: an agent, agents that share it, or a branch of the agent above it. */
interface Line {
  readonly cells: readonly string[];
  readonly children: readonly Line[];
}

/**
 * Trees as aligned lines with branches: name, id, model, number of messages, and a note for an agent without a creation or a
 * creator. An agent without a name has its id in the place of the name only. The branches of its transcript are below it, by their addresses.
 */
export function renderAgentTree(
  nodes: readonly AgentTreeNode[],
  { width, most = Number.POSITIVE_INFINITY, open = [] }: RenderAgentsOptions = {},
): string {
  if (nodes.length === 0) return '(no agents)';
  const isOpen = ({ agent }: AgentTreeNode) =>
    open.some((name) => name === agent.name || name === agent.agentId);
  const all = branchesOf(nodes).map(({ node }) => node);
  const room = all.reduce((sum, node) => (isOpen(node) ? sum + 1 + node.branches.length : sum), most);
  const bearers = Map.groupBy(all, ({ agent }) => agent.name);
  const isNameShared = ({ agent }: AgentTreeNode) => (bearers.get(agent.name)?.length ?? 0) > 1;
  const kindOf = (node: AgentTreeNode) => `${modelsOf(node)} ${node.branches.length > 0}`;
  const keyOf = (node: AgentTreeNode, rest: string | null) =>
    isNameShared(node) ? `${kindOf(node)} ${noteOf(node)} ${node.agent.name}` : rest;
  const straight = (key: string | null, node: AgentTreeNode) => (node.branches.length > 0 ? null : key);
  // Agents with a name of their own, and agents with branches, share a line only if those with equal names are not enough.
  const keys: readonly ((node: AgentTreeNode) => string | null)[] = [
    (node) => straight(keyOf(node, null), node),
    (node) => straight(keyOf(node, `${kindOf(node)} ${noteOf(node)}`), node),
    (node) => keyOf(node, `${kindOf(node)} ${noteOf(node)}`),
    () => '',
  ];
  const grouped = groupSiblings(
    nodes,
    room,
    keys.map((key) => (node) => (isOpen(node) ? null : key(node))),
    ({ branches }) => branches.length,
  );
  const lines = branchesOf(linesOf(grouped)).map(({ node, branch }) =>
    node.cells.map((cell, at) => neutraliseControlsInLine(at === 0 ? branch + cell : cell)),
  );
  const shown = firstLines(alignColumns(lines).split('\n'), room, 'agents and branches');
  return shown.map((line) => (width === undefined ? line : fitColumns(line, width))).join('\n');
}

function linesOf(roots: readonly Siblings<AgentTreeNode>[]): readonly Line[] {
  const lineOf = (of: Siblings<AgentTreeNode>) => {
    const branches = of.nodes.length === 1 ? of.nodes[0].branches : [];
    const children: Line[] = branches.map((branch) => ({ cells: branchCells(branch), children: [] }));
    return { of, cells: of.nodes.length === 1 ? cellsOf(of.nodes[0]) : sharedCells(of.nodes), children };
  };
  const lines = roots.map(lineOf);
  const waiting = [...lines];
  for (const { of, children } of waiting) {
    const below = of.children.map(lineOf);
    children.push(...below);
    waiting.push(...below);
  }
  return lines;
}

function cellsOf(node: AgentTreeNode): string[] {
  const { agent, messages } = node;
  return [
    agent.name ?? agent.label,
    agent.name === null ? '' : agent.agentId,
    modelsOf(node),
    formatCount(messages, 'message'),
    noteOf(node),
  ];
}

/** The cells of siblings that share a line. */
function sharedCells(nodes: readonly AgentTreeNode[]): string[] {
  const same = (value: (node: AgentTreeNode) => string | null) => {
    const values = new Set(nodes.map(value));
    return values.size === 1 ? (values.values().next().value ?? null) : null;
  };
  const name = same(({ agent }) => agent.name);
  const messages = nodes.reduce((sum, node) => sum + node.messages, 0);
  return [
    name === null ? `${nodes.length} agents` : `${nodes.length} × ${name}`,
    '',
    same(modelsOf) ?? '–',
    formatCount(messages, 'message'),
    [same(noteOf) ?? '', sharedBranches(nodes)].filter(Boolean).join(' '),
  ];
}

function sharedBranches(nodes: readonly AgentTreeNode[]): string {
  const count = nodes.reduce((sum, { branches }) => sum + branches.length, 0);
  return count === 0 ? '' : `(${formatCount(count, 'branch', 'branches')})`;
}

function branchCells({ end, state, events, prompts, from }: AgentBranch): string[] {
  return [
    end === null ? 'branch' : `branch ${end}`,
    '',
    state,
    `${formatCount(prompts, 'prompt')}, ${formatCount(events, 'event')}`,
    from === null ? '' : `from ${from}`,
  ];
}

/** The model that it was created with; otherwise those of its calls. */
function modelsOf({ agent, models }: AgentTreeNode): string {
  return agent.languageModel ?? (models.join(', ') || '–');
}

function noteOf(node: AgentTreeNode): string {
  const depth = node.depth === null ? '' : `depth ${node.depth}`;
  return [depth, stateOf(node)].filter(Boolean).join(' ');
}

function stateOf({ agent, orphan }: AgentTreeNode): string {
  if (agent.created === null) return agent.agentId === '' ? '' : '(never created)';
  if (orphan) return '(its creator is not found)';
  const { hook } = agent.created.data;
  if (typeof hook === 'string') return `(of the hook ${hook})`;
  return agent.terminated === null ? '' : '(ended)';
}

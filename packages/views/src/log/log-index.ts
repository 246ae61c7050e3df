import type { CapturedEvent } from '@hansard/events';
import { isStraightEvent, rootOf, TranscriptTree } from '@hansard/prompt';
import type { LogDiagnostic } from './diagnostic.ts';
import { type EventIds, identifyEvents } from './event-ids.ts';
import { type LogAgent, readAgents } from './log-agents.ts';
import type { LogMessage, LogNode } from './log-node.ts';
import { type ReadLog, readLog } from './read-log.ts';
import { checkReferences } from './references.ts';
import type { Fate, Hearing, Saying } from './saying.ts';
import { gatherSayings } from './sayings.ts';

/** The log of one dispatch with the lookups that the views need. Immutable; it holds all events. */
export interface LogIndex {
  /** In append order: the index of an event is its position. */
  readonly events: readonly CapturedEvent[];
  /** Each event with its position. */
  readonly nodes: readonly LogNode[];
  /** By id, in the order of their first events. '' is the dispatched agent. */
  readonly agents: ReadonlyMap<string, LogAgent>;
  /** The messages of all agents, in the order of their first blocks. */
  readonly messages: readonly LogMessage[];
  /** The messages of each agent, by agent id, with those that it began with. */
  readonly transcripts: ReadonlyMap<string, readonly LogMessage[]>;
  /** The hook decisions whose data is readable. */
  readonly decisions: ReadLog['decisions'];
  /** All sayings, in the order of the log. */
  readonly sayings: readonly Saying[];
  /** The transcripts of all agents as trees. Null: no agent has more than one branch, and no event is retracted. */
  readonly tree: TranscriptTree<LogNode> | null;
  /** First those of unreadable events, then of repeated ids, of agents, of references and of branches. */
  readonly diagnostics: readonly LogDiagnostic[];
  /** Why no later prompt of its agent has an event. Null: later prompts have it, or it is part of no prompt. */
  fateOf(node: LogNode): Fate | null;
  /** The event with exactly this id; the first if several have it. */
  eventWithId(id: string): LogNode | null;
  /** The target of a reference: for the id of a message its `main` block, for any other id the event with that id. */
  find(id: string): LogNode | null;
  /** The message that an event is a block of. */
  messageOf(node: LogNode): LogMessage | null;
  /** The message with which an agent began, that an event is. `messages` does not have it. */
  givenAt(node: LogNode): LogMessage | null;
  /** The tool call that a result answers or that a hook decided on. */
  callOf(node: LogNode): LogNode | null;
  /** The event whose content a delivery carries: as recorded, or, if that is not in the log, the first delivery of it. */
  substanceOf(node: LogNode): LogNode | null;
  /** The saying that an event is or carries, over any number of deliveries. */
  sayingOf(node: LogNode): Saying | null;
  /** How the content of a delivery reached its agent. */
  hearingOf(node: LogNode): Hearing | null;
  /** The `agent:created` of the agent that begins with a system prompt. Null: any other event, or the log has none. */
  creationWith(node: LogNode): LogNode | null;
}

/**
 * Indexes the events of one dispatch, given in append order. Each pass returns its own result and takes those of earlier
 * passes. A log that is wrong in places is indexed, too: `diagnostics` has a line for each such place.
 */
export function createLogIndex(events: readonly CapturedEvent[]): LogIndex {
  const agents = readAgents(events);
  const log = readLog(events, agents.agents);
  const ids = identifyEvents(log);
  const tree = treeOf(events, log, agents);
  const callAt = linkToolCalls(log, tree);
  const substanceAt = linkSubstances(log, ids);
  const fateOf = (node: LogNode) => fateIn(tree, node);
  const { sayings, sayingAt, hearingAt } = gatherSayings(log, ids, substanceAt, fateOf, agents.agents);
  const transcripts = Map.groupBy(log.messages, ({ entry }) => entry.agentId);
  return {
    events,
    nodes: log.nodes,
    agents: agents.agents,
    messages: log.messages,
    transcripts: transcriptsOf(log),
    givenAt: ({ position }) => log.given.get(position) ?? null,
    decisions: log.decisions,
    sayings,
    diagnostics: [log, ids, agents]
      .flatMap(({ diagnostics }) => diagnostics)
      .concat(checkReferences(log.nodes, ids), tree?.problems ?? []),
    tree,
    fateOf,
    eventWithId: ids.eventWithId,
    find: ids.find,
    messageOf: ({ position }) => log.messageAt[position] ?? null,
    callOf: ({ position }) => callAt.get(position) ?? null,
    substanceOf: ({ position }) => substanceAt[position] ?? null,
    sayingOf: ({ position }) => sayingAt[position] ?? null,
    hearingOf: ({ position }) => hearingAt[position] ?? null,
    creationWith({ event: { type, agentId = '' }, position }) {
      const first = type === 'agent:system_prompt' ? transcripts.get(agentId)?.[0] : undefined;
      const creation = agents.agents.get(agentId)?.created;
      if (first?.main.position !== position || creation == null) return null;
      const node = ids.eventWithId(creation.id);
      return node !== null && node.position < position ? node : null;
    },
  };
}

/** The agent that events without an agent belong to. */
export function rootAgentOf({ events, agents }: Pick<LogIndex, 'events' | 'agents'>): string {
  return agents.has('') ? '' : rootOf(events);
}

function treeOf(
  events: readonly CapturedEvent[],
  { nodes }: ReadLog,
  { agents }: Pick<LogIndex, 'agents'>,
): TranscriptTree<LogNode> | null {
  if (events.every(isStraightEvent)) return null;
  const root = rootAgentOf({ events, agents });
  const tree = new TranscriptTree<LogNode>(({ agentId = root }) => agentId);
  for (const node of nodes) tree.add(node.event, node);
  return tree;
}

function fateIn(tree: TranscriptTree<LogNode> | null, { event: { id } }: LogNode): Fate | null {
  if (tree === null) return null;
  if (tree.isRetracted(id)) return 'retracted';
  return tree.standing(id) === 'abandoned' ? 'abandoned' : null;
}

function transcriptsOf({ messages, given }: ReadLog): ReadonlyMap<string, readonly LogMessage[]> {
  const all = [...given.values(), ...messages];
  if (given.size > 0)
    all.sort((one, other) => (one.blocks[0]?.position ?? 0) - (other.blocks[0]?.position ?? 0));
  return Map.groupBy(all, ({ entry }) => entry.agentId);
}

/** The event that an id names, or null. The id of a message names its first tool call, otherwise its first text. */
export function findEvent(index: LogIndex, id: string): CapturedEvent | null {
  return index.find(id)?.event ?? null;
}

/** @throws TypeError for an id that is not in the log; `findEvent` returns null for it */
export function nodeNamed(index: LogIndex, id: string): LogNode {
  const node = index.find(id);
  if (node === null) throw new TypeError(`No event or message of this log has the id ${id}.`);
  return node;
}

/**
 * The pass that links each tool result and each hook decision to its tool call: the latest with that call id that its path has; otherwise the
 * latest of its agent. By the position of the result or decision.
 */
function linkToolCalls(
  { nodes, messageAt, decisions }: Pick<ReadLog, 'nodes' | 'messageAt' | 'decisions'>,
  tree: TranscriptTree<LogNode> | null,
): ReadonlyMap<number, LogNode> {
  const latest = new Map<string, LogNode>();
  /** Of branched logs, by the id of the call. */
  const all = new Map<unknown, LogNode[]>();
  const callAt = new Map<number, LogNode>();
  const decisionsAt = new Set(decisions.map(({ position }) => position));
  for (const node of nodes) {
    const { event, position } = node;
    const { toolCallId } = event.data;
    const isReadable = messageAt[position] != null || decisionsAt.has(position);
    if (!isReadable || toolCallId === undefined) continue;
    if (event.type === 'agent:tool_call') {
      latest.set(callKey(event), node);
      if (tree === null) continue;
      const others = all.get(toolCallId);
      if (others === undefined) all.set(toolCallId, [node]);
      else others.push(node);
    } else if (event.type === 'agent:tool_result' || event.type === 'harness:hook_decision') {
      const onPath = all.get(toolCallId)?.findLast((call) => tree?.isOnPath(call.event.id, event.id));
      const call = onPath ?? latest.get(callKey(event));
      if (call !== undefined) callAt.set(position, call);
    }
  }
  return callAt;
}

/** An agent id contains no space. */
function callKey({ agentId = '', data }: CapturedEvent): string {
  return `${agentId} ${data.toolCallId}`;
}

/**
 * The pass that follows `substance`. By position: the event whose content a delivery carries, as recorded. Of several
 * deliveries of a content that is not in this log, the first takes the place of the content. Following the array always ends: in a
 * cycle, which only bad data has, the earliest event carries nothing.
 */
function linkSubstances(
  { nodes, messageAt }: Pick<ReadLog, 'nodes' | 'messageAt'>,
  { find }: Pick<EventIds, 'find'>,
): readonly (LogNode | null)[] {
  const substanceAt = new Array<LogNode | null>(nodes.length).fill(null);
  const firsts = new Map<string, LogNode>();
  for (const node of nodes) {
    const { substance } = node.event;
    if (substance === undefined) continue;
    const carried = find(substance);
    substanceAt[node.position] = carried;
    if (carried !== null || messageAt[node.position] == null) continue;
    const first = firsts.get(substance);
    if (first === undefined) firsts.set(substance, node);
    else substanceAt[node.position] = first;
  }
  return withoutCycles(nodes, substanceAt);
}

function withoutCycles(
  nodes: readonly LogNode[],
  substanceAt: readonly (LogNode | null)[],
): readonly (LogNode | null)[] {
  const acyclic = [...substanceAt];
  /** By position: the number of the walk that visited it first, 0 for none. */
  const walks = new Int32Array(nodes.length);
  for (const start of nodes) {
    const walk = start.position + 1;
    let node: LogNode | null = start;
    while (node !== null && walks[node.position] === 0) {
      walks[node.position] = walk;
      node = acyclic[node.position] ?? null;
    }
    if (node !== null && walks[node.position] === walk) acyclic[earliestIn(node, acyclic)] = null;
  }
  return acyclic;
}

function earliestIn(start: LogNode, substanceAt: readonly (LogNode | null)[]): number {
  let earliest = start.position;
  for (let node = substanceAt[earliest]; node != null && node !== start; node = substanceAt[node.position])
    earliest = Math.min(earliest, node.position);
  return earliest;
}

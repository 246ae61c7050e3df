import { type CapturedEvent, isEvent, newEvent } from '@hansard/events';
import { TranscriptTree } from '@hansard/prompt';
import { sessionErrors } from '../session-errors.ts';
import { assertNotAnswering } from '../turn/answer.ts';
import type { TurnResources } from '../turn/turn-resources.ts';
import type { AgentBranch } from './agent-memory.ts';
import { type AgentRecord, inWords } from './agent-record.ts';
import type { AgentRegistry } from './agent-registry.ts';

type PlacedEvent = { readonly event: CapturedEvent; readonly position: number };
type PlacedEvents = AsyncIterable<PlacedEvent> | Iterable<PlacedEvent>;

/** The transcripts of all agents as trees. Read when a log has branches: most have none. */
export async function readBranches(
  registry: AgentRegistry,
  events: PlacedEvents,
): Promise<TranscriptTree<CapturedEvent>> {
  const root = registry.root?.agentId ?? '';
  const tree = new TranscriptTree<CapturedEvent>(({ agentId = root }) => agentId);
  for await (const { event } of events) if (isEvent(event)) tree.add(event, event);
  return tree;
}

export function currentBranch(tree: TranscriptTree<CapturedEvent>, agentId: string): AgentBranch {
  const path = tree.currentPath(agentId);
  const last = tree.lastOf(agentId);
  return {
    ...path,
    last: last === path.values.at(-1) ? null : last,
    numberOf: (id) => tree.numberOf(id),
  };
}

/** Sets the open work of each agent to the open work of its current branch. The registry has observed the log. */
export async function settleBranches(registry: AgentRegistry, events: PlacedEvents): Promise<void> {
  if (!registry.isBranched) return;
  const tree = await readBranches(registry, events);
  for (const record of registry.all)
    if (!tree.isStraight(record.agentId)) record.standOn(currentBranch(tree, record.agentId));
}

/** Where an agent goes back to: the last event that it keeps, or the first that it does not. */
export type RewindTarget =
  | { readonly keptThrough: string | null; readonly before?: undefined }
  | { readonly before: string; readonly keptThrough?: undefined };

/** As `Agent.rewind`. */
export async function rewindAgent(
  turn: TurnResources,
  agentId: string,
  target: RewindTarget,
): Promise<string> {
  const { log, registry } = turn;
  const check = () => assertNotAnswering(turn, registry.getActive(agentId));
  check();
  const tree = await log.inOrder(turn.branches);
  const keptThrough = keptOf(tree, registry.get(agentId), target);
  // Nothing is awaited from here to the branch: what is recorded in between would count on the branch that is left.
  check();
  const id = log.createId();
  const events = log.check([newEvent('session:rewind', { keptThrough }, { id, agentId })]);
  const recorded = log.append(events);
  for (const event of events) tree.add(event, event);
  registry.get(agentId).standOn(currentBranch(tree, agentId));
  await recorded;
  await turn.waiting.settle(registry.get(agentId));
  return id;
}

/** The event that the agent keeps as its last. @throws SESSION_REWIND_INVALID */
function keptOf(
  tree: TranscriptTree<CapturedEvent>,
  record: AgentRecord,
  { keptThrough, before }: RewindTarget,
): string | null {
  const id = before ?? keptThrough;
  if (id === null) return null;
  const isTheirs = typeof id === 'string' && isOf(tree, record, id);
  if (!isTheirs)
    throw sessionErrors.error(
      'SESSION_REWIND_INVALID',
      `The agent ${inWords(record)} has no event ${String(id)} to go back to.`,
      { details: { agentId: record.agentId, eventId: String(id) } },
    );
  if (before === undefined) return id;
  for (const step of tree.steps(record.agentId)) if (step.value.id === before) return step.before?.id ?? null;
  return id;
}

/** Whether an event is the agent's own, or one that its transcript inherits. */
function isOf(tree: TranscriptTree<CapturedEvent>, { agentId }: AgentRecord, id: string): boolean {
  for (const step of tree.steps(agentId)) if (step.value.id === id) return true;
  const head = tree.headOf(agentId);
  return head !== null && tree.isOnPath(id, head.id);
}

import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, isEvent, isEventOf } from '@hansard/events';
import { AgentRegistry, settleBranches } from './agents/agent-registry.ts';
import { assertContinuable } from './open-session.ts';
import { noAgents } from './session-errors.ts';

/** A session of a store, or the events with which one could begin. */
type SessionSource =
  | (DispatchRef & {
      readonly store: DispatchStore;
      /** The events from which it was copied, such as those of a file. They do not count as heard. */
      readonly copied?: readonly CapturedEvent[] | undefined;
    })
  | { readonly events: readonly CapturedEvent[] };

/**
 * Reads the open work of a session without resuming it: it claims nothing and writes nothing.
 * @throws SESSION_NOT_FULL, SESSION_LOG_INVALID, STORE_DISPATCH_NOT_FOUND
 */
export async function readSessionState(source: SessionSource): Promise<{
  /** See `Agent.awaitsResponse`, of the root; of any peer if there is no root. */
  readonly awaitsResponse: boolean;
  /** Whether a tool call of any agent has no result. */
  readonly hasOpenCalls: boolean;
  /** How many messages the root, or the peers, received that do not come from agents. */
  readonly heard: number;
  /** Whether its agents have a root, and are not peers. */
  readonly hasRoot: boolean;
  /** The model that the log names for the root, otherwise for the first agent. */
  readonly languageModel: string | null;
  /** The ids of `copied` that the log does not have. */
  readonly notInLog: readonly string[];
}> {
  const log = 'store' in source ? await source.store.openDispatch(source) : null;
  const copied = new Set('store' in source ? source.copied?.map(({ id }) => id) : []);
  const notInLog = new Set(copied);
  const registry = new AgentRegistry();
  const heard = new Map<string | undefined, number>();
  let hasAgents = false;
  for await (const { event, position } of log?.events() ?? positioned(source)) {
    notInLog.delete(event.id);
    if (!isEvent(event)) continue;
    registry.observe(event, position);
    hasAgents ||= event.type === 'agent:created';
    if (isEventOf(event, 'user:message') && event.data.source.kind !== 'agent' && !copied.has(event.id))
      heard.set(event.agentId, (heard.get(event.agentId) ?? 0) + 1);
  }
  await settleBranches(registry, log?.events() ?? positioned(source));
  if (log !== null) assertContinuable(log, registry);
  if (!hasAgents) throw noAgents(log?.dispatchId ?? null);
  const { principals, root } = registry;
  const heardBy = [...principals.map(({ agentId }) => agentId), ...(root === null ? [] : [undefined])];
  return {
    awaitsResponse: principals.some(({ awaitsResponse }) => awaitsResponse),
    hasOpenCalls: registry.all.some(({ openCalls }) => openCalls.length > 0),
    heard: heardBy.reduce((sum, agentId) => sum + (heard.get(agentId) ?? 0), 0),
    hasRoot: root !== null,
    languageModel: root?.languageModel ?? registry.defaultModel,
    notInLog: [...notInLog],
  };
}

function* positioned(source: SessionSource): Generator<{ event: CapturedEvent; position: number }> {
  if ('events' in source) for (const [position, event] of source.events.entries()) yield { event, position };
}

import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, isEvent, isEventOf } from '@hansard/events';
import { AgentRegistry } from './agents/agent-registry.ts';
import { assertContinuable } from './open-session.ts';
import { noAgents } from './session-errors.ts';

/**
 * Reads the open work of a session without resuming it: it claims nothing and writes nothing.
 * @throws SESSION_NOT_FULL, SESSION_LOG_INVALID, STORE_DISPATCH_NOT_FOUND
 */
export async function readSessionState(
  options: DispatchRef & {
    readonly store: DispatchStore;
    /** Events that do not count as heard, such as those of a copied file. */
    readonly except?: readonly CapturedEvent[] | undefined;
  },
): Promise<{
  /** See `Agent.awaitsResponse`, of the root; of any peer if there is no root. */
  readonly awaitsResponse: boolean;
  /** Whether a tool call of any agent has no result. */
  readonly hasOpenCalls: boolean;
  /** How many messages the root, or the peers, received that do not come from agents. */
  readonly heard: number;
}> {
  const log = await options.store.openDispatch(options);
  const registry = new AgentRegistry();
  const except = new Set(options.except?.map(({ id }) => id));
  const heard = new Map<string | undefined, number>();
  let hasAgents = false;
  for await (const { event, position } of log.events()) {
    if (!isEvent(event)) continue;
    registry.observe(event, position);
    hasAgents ||= event.type === 'agent:created';
    if (isEventOf(event, 'user:message') && event.data.source.kind !== 'agent' && !except.has(event.id))
      heard.set(event.agentId, (heard.get(event.agentId) ?? 0) + 1);
  }
  assertContinuable(log, registry);
  if (!hasAgents) throw noAgents(log.dispatchId);
  const { principals, root } = registry;
  const heardBy = [...principals.map(({ agentId }) => agentId), ...(root === null ? [] : [undefined])];
  return {
    awaitsResponse: principals.some(({ awaitsResponse }) => awaitsResponse),
    hasOpenCalls: registry.all.some(({ openCalls }) => openCalls.length > 0),
    heard: heardBy.reduce((sum, agentId) => sum + (heard.get(agentId) ?? 0), 0),
  };
}

import type { DispatchEnvelope } from '@hansard/events';
import type { Attributes } from '@opentelemetry/api';
import { ATTR_GEN_AI_AGENT_ID, ATTR_GEN_AI_AGENT_NAME } from '@opentelemetry/semantic-conventions/incubating';
import type { AgentState } from './agent-state.ts';

/** The attributes that name the agent of a span or record. */
export function agentAttributes(agent: AgentState, envelope: DispatchEnvelope): Attributes {
  return {
    [ATTR_GEN_AI_AGENT_ID]: agentIdOf(agent, envelope),
    [ATTR_GEN_AI_AGENT_NAME]: agentNameOf(agent, envelope),
  };
}

export function agentNameOf({ name, agentId, parentSpanId }: AgentState, { role }: DispatchEnvelope): string {
  return name ?? (parentSpanId === null ? role : (agentId ?? role));
}

function agentIdOf({ agentId }: AgentState, { botId, role }: DispatchEnvelope): string {
  return agentId ?? botId ?? role;
}

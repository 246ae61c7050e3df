import { type CapturedEvent, definedOnly, isEventOf, type JsonObject } from '@hansard/events';
import type { LineOf, LogLine } from './game-lines.ts';

/** The type and the payload of a line in `inference_trace`. */
export interface TraceContent {
  readonly event_type: string;
  readonly payload: JsonObject;
}

/** The senders of messages other than agents, as the trace names them. */
export const tracedSources = ['user', 'system', 'external'] as const;

/**
 * The line of the inference trace for an event, if its type has one. `nameOf` gives the name of an agent by its id; absent for
 * the dispatched agent.
 */
export function traceOf(
  event: CapturedEvent,
  nameOf: (agentId: string | undefined) => string,
): TraceContent | null {
  if (isEventOf(event, 'user:message')) {
    const { text: message, source } = event.data;
    const from = source.kind === 'agent' ? nameOf(source.agentId) : source.kind;
    return { event_type: 'AGENT_REQUEST', payload: { from, message } };
  }
  if (isEventOf(event, 'agent:tool_call')) {
    const { tool: tool_name, input, target = null } = event.data;
    return {
      event_type: 'TOOL_CALL',
      payload: { tool_name, arguments: input === undefined ? target : input },
    };
  }
  if (isEventOf(event, 'agent:tool_result')) {
    const { tool: tool_name, status, output, error = null } = event.data;
    const result = output === undefined ? error : output;
    return {
      event_type: 'TOOL_RESULT',
      payload: { tool_name, result, ...(status === 'error' ? { status } : {}) },
    };
  }
  if (!isEventOf(event, 'agent:inference')) return null;
  const { durationMs, usage, model } = event.data;
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens } = usage;
  return {
    event_type: 'INFERENCE_COMPLETE',
    payload: {
      ...definedOnly({ latency_ms: durationMs }),
      prompt_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
      output_tokens: outputTokens,
      model,
    },
  };
}

/** Whether a line is a message to an agent, with its sender. */
export function isAgentRequest(line: LogLine): line is AgentRequest {
  return (
    line.kind === 'trace' &&
    line.eventType === 'AGENT_REQUEST' &&
    typeof line.payload.from === 'string' &&
    typeof line.payload.message === 'string'
  );
}

type AgentRequest = LineOf<'trace'> & {
  readonly payload: { readonly from: string; readonly message: string };
};

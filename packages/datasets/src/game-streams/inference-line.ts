import { type CapturedEvent, definedOnly, isEventOf, type JsonObject } from '@hansard/events';
import { type Moment, originOf } from './moment.ts';
import type { StreamLine } from './stream-lines.ts';

type InferenceType = Extract<StreamLine, { stream: 'inference_trace' }>['line']['event_type'];

/** The line of the inference trace for an event, if it has one. */
export function inferenceLine(
  { event, agent }: Moment,
  nameOf: (agentId: string | undefined) => string,
  runId: string,
): StreamLine[] {
  const traced = tracedAs(event, nameOf);
  if (traced === null) return [];
  const [event_type, payload] = traced;
  const line = { timestamp: event.timestamp, event_type, agent, payload, ...originOf(event, runId) };
  return [{ stream: 'inference_trace', line }];
}

function tracedAs(
  event: CapturedEvent,
  nameOf: (agentId: string | undefined) => string,
): [InferenceType, JsonObject] | null {
  if (isEventOf(event, 'user:message')) {
    const { text: message, source } = event.data;
    const from = source.kind === 'agent' ? nameOf(source.agentId) : source.kind;
    return ['AGENT_REQUEST', { from, message }];
  }
  if (isEventOf(event, 'agent:tool_call')) {
    const { tool: tool_name, input, target = null } = event.data;
    return ['TOOL_CALL', { tool_name, arguments: input === undefined ? target : input }];
  }
  if (isEventOf(event, 'agent:tool_result')) {
    const { tool: tool_name, status, output, error = null } = event.data;
    const result = output === undefined ? error : output;
    return ['TOOL_RESULT', { tool_name, result, ...(status === 'error' ? { status } : {}) }];
  }
  if (isEventOf(event, 'agent:inference')) {
    const { durationMs, usage, model } = event.data;
    const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens } = usage;
    return [
      'INFERENCE_COMPLETE',
      {
        ...definedOnly({ latency_ms: durationMs }),
        prompt_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
        output_tokens: outputTokens,
        model,
      },
    ];
  }
  return null;
}

import { type CapturedEvent, definedOnly, isEventOf, type JsonObject, type JsonValue } from '@hansard/events';
import type { LineOf, LogLine } from './game-lines.ts';

/** The type and the payload of a line in `inference_trace`. */
export interface TraceContent {
  readonly event_type: string;
  readonly payload: JsonObject;
}

/** The senders of messages other than agents, as the trace names them. */
const tracedSources = ['user', 'system', 'external'] as const;

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
    const from = source.kind === 'agent' ? nameOf(source.agentId ?? source.name) : source.kind;
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

/** What the event of a line of the inference trace needs of the rest of the game. */
export interface TraceParts {
  /** The id of the event. */
  readonly id: string;
  /** Of a result: the id of its call. */
  readonly callId: string;
  /** The id of an agent by its name. */
  readonly idOf: (name: string) => string;
  readonly nameOf: (agentId: string | undefined) => string;
  /** The id of a text that an agent said, of which this line is a delivery. */
  readonly saidId: (speaker: string, text: string) => string;
}

type EventBody = Pick<CapturedEvent, 'type' | 'data' | 'substance' | 'messageId'>;

/**
 * The event of a line in `inference_trace`, without its place. A type that is not of the specification, or a payload without its fields, is a
 * `game_log:trace`. If the event does not give the payload again, its data has the payload.
 */
export function tracedEvent(line: LineOf<'trace'>, parts: TraceParts): EventBody {
  const { eventType: event_type, payload } = line;
  const event = bodyOf(line, parts);
  if (event === null) return { type: 'game_log:trace', data: { event_type, payload } };
  const { id, nameOf } = parts;
  const again = traceOf({ id, timestamp: null, ...event }, nameOf);
  const isSame = JSON.stringify(again?.payload) === JSON.stringify(payload);
  return isSame ? event : { ...event, data: { ...event.data, payload } };
}

function bodyOf(line: LineOf<'trace'>, { id, callId, idOf, saidId }: TraceParts): EventBody | null {
  const { eventType, payload } = line;
  if (isAgentRequest(line)) return requestOf(line.payload.from, line.payload.message, { idOf, saidId });
  const { tool_name: tool, arguments: input, result: output, status } = payload;
  if (eventType === 'TOOL_CALL' && isText(tool))
    return {
      type: 'agent:tool_call',
      messageId: id,
      data: { toolCallId: id, tool, metadata: {}, ...definedOnly({ input }) },
    };
  if (eventType === 'TOOL_RESULT' && isText(tool))
    return {
      type: 'agent:tool_result',
      data: {
        toolCallId: callId,
        tool,
        metadata: {},
        status: status === 'error' ? 'error' : 'completed',
        ...definedOnly({ output }),
      },
    };
  return eventType === 'INFERENCE_COMPLETE' ? inferenceOf(payload) : null;
}

function requestOf(
  from: string,
  text: string,
  { idOf, saidId }: Pick<TraceParts, 'idOf' | 'saidId'>,
): EventBody {
  const type = 'user:message';
  if ((tracedSources as readonly string[]).includes(from))
    return { type, data: { text, source: { kind: from } } };
  const source = { kind: 'agent', agentId: idOf(from) };
  return { type, substance: saidId(from, text), data: { text, source } };
}

function inferenceOf(payload: JsonObject): EventBody | null {
  const { latency_ms: latency, prompt_tokens: inputTokens, output_tokens: outputTokens } = payload;
  const { model = 'unknown' } = payload;
  if (!isCount(inputTokens) || !isCount(outputTokens) || typeof model !== 'string') return null;
  const durationMs = typeof latency === 'number' && latency >= 0 ? latency : undefined;
  const usage = { inputTokens, outputTokens };
  return { type: 'agent:inference', data: { model, usage, ...definedOnly({ durationMs }) } };
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

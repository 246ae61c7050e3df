import type { JsonObject } from '@hansard/events';
import type { MappingStep } from '../mapping/mapping-step.ts';
import { asId } from '../values/ids.ts';
import { asCount, asName, asObject, asText, withoutNull, withoutUndefined } from '../values/json-fields.ts';

/** A streamed piece of a model message: deltas, never an event (D8). Facts about the whole message are noted. */
export function mapStreamEvent(step: MappingStep): void {
  const event = asObject(step.message.event) ?? {};
  pieces.get(asText(event.type) ?? '')?.(step, event);
}

const pieces: ReadonlyMap<string, (step: MappingStep, event: JsonObject) => void> = new Map([
  ['message_start', beginMessage],
  ['content_block_start', beginBlock],
  ['content_block_delta', writeDelta],
  ['message_delta', noteUsage],
  ['message_stop', endMessage],
]);

function beginMessage(step: MappingStep, event: JsonObject): void {
  const agent = step.agent();
  const message = asObject(event.message) ?? {};
  const messageId = asId(message.id);
  step.state.streaming.set(agent?.id, { messageId, toolCallIds: new Map() });
  if (messageId === undefined) return;
  step.state.inferences.hear(agent, messageId, step.recordId, {
    model: asText(message.model),
    usage: asObject(message.usage),
    details: withoutNull(withoutUndefined({ ttft_ms: step.message.ttft_ms })),
    time: step.events.time,
  });
}

function beginBlock(step: MappingStep, event: JsonObject): void {
  const index = asCount(event.index);
  const toolCallId = asName(asObject(event.content_block)?.id);
  if (index === undefined || toolCallId === undefined) return;
  step.state.streaming.get(step.agent()?.id)?.toolCallIds.set(index, toolCallId);
}

function writeDelta(step: MappingStep, event: JsonObject): void {
  const agentId = step.agent()?.id;
  const streaming = step.state.streaming.get(agentId);
  const messageId = streaming?.messageId ?? asId(step.message.api_message_id);
  const delta = asObject(event.delta) ?? {};
  const links = { agentId, messageId, toolCallId: undefined };
  if (delta.type === 'text_delta' && typeof delta.text === 'string') {
    step.events.delta('delta:text', delta.text, links);
  } else if (delta.type === 'thinking_delta' && typeof delta.thinking === 'string') {
    step.events.delta('delta:thinking', delta.thinking, links);
  } else if (delta.type === 'input_json_delta' && typeof delta.partial_json === 'string') {
    const toolCallId = streaming?.toolCallIds.get(asCount(event.index) ?? -1);
    step.events.delta('delta:tool_input', delta.partial_json, { ...links, toolCallId });
  }
}

function noteUsage(step: MappingStep, event: JsonObject): void {
  const agent = step.agent();
  const messageId = step.state.streaming.get(agent?.id)?.messageId;
  if (messageId === undefined) return;
  const { stop_reason, ...others } = asObject(event.delta) ?? {};
  step.state.inferences.hear(agent, messageId, step.recordId, {
    usage: asObject(event.usage),
    isFinal: true,
    stopReason: asText(stop_reason),
    details: withoutNull(others),
    time: step.events.time,
  });
}

function endMessage(step: MappingStep): void {
  const agent = step.agent();
  if (step.state.streaming.delete(agent?.id)) step.state.inferences.end(agent);
  // Not deferred to the next message: a tool may run for a long time before that one.
  step.writeInferences();
}

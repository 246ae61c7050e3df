import { definedOnly, type JsonObject, type JsonValue } from '@hansard/events';
import {
  asCount,
  asList,
  asName,
  asObject,
  asText,
  hasFields,
  withoutNull,
  withoutUndefined,
} from '../lines/json-fields.ts';
import {
  asBlocks,
  attachmentsOf,
  blockDetails,
  isToolResult,
  mapAssistantBlock,
  mapOtherBlock,
  mapToolResult,
  withAttachments,
} from './blocks.ts';
import { withDetails } from './event-writer.ts';
import { asId } from './ids.ts';
import { isLastLine, otherMessageFields } from './inferences.ts';
import { type MappingStep, writeNotice } from './mapping-step.ts';
import {
  mapCompaction,
  mapInit,
  mapOther,
  mapPermissionDenied,
  mapRateLimit,
  mapReset,
  mapResult,
  mapStatus,
  mapTaskNotification,
  mapTaskStarted,
} from './run-messages.ts';
import { type Source, speakerOf, spokenIn } from './speakers.ts';
import { fieldsOfAgent, type SubAgent } from './sub-agents.ts';
import { usageOf } from './usage.ts';

/** Maps a model message, or one block of it: `agent:text`, `agent:thinking`, `agent:tool_call` and, once, `agent:inference`. */
function mapAssistant(step: MappingStep): void {
  const blocks = asBlocks(asObject(step.message.message)?.content);
  if (blocks === undefined || blocks.length === 0) {
    writeNotice(step, 'an assistant message without content', step.message);
    return;
  }
  const agent = step.agent();
  step.keepOthers(['message', ...fieldsOfAgent(agent)]);
  const messageId = hearInference(step, agent) ?? (blocks.length > 1 ? asId(step.message.uuid) : undefined);
  const links = { agentId: agent?.id, messageId };
  for (const block of blocks) {
    if (isToolResult(block)) mapToolResult(step, block, links);
    else mapAssistantBlock(step, block, links);
  }
  const stopReason = asText(asObject(step.message.message)?.stop_reason);
  // A stream of pieces says itself when its message stops, with the final figures.
  if (step.state.streaming.has(agent?.id) || !isLastLine(stopReason, blocks)) return;
  step.state.inferences.end(agent);
  step.writeInferences();
}

/** Notes the usage of the message, writes inferences that are over, and returns the id of the message. */
function hearInference(step: MappingStep, agent: SubAgent | undefined): string | undefined {
  const message = asObject(step.message.message) ?? {};
  const messageId = asId(message.id);
  const model = asText(message.model);
  const usage = asObject(message.usage);
  const stopReason = asText(message.stop_reason);
  const details = otherMessageFields(message);
  if (usageOf(usage) !== undefined) {
    const { timestamp } = step.events;
    const news = { model, usage, stopReason, details, timestamp };
    step.state.inferences.hear(agent, messageId, step.recordId, news);
  } else {
    const unused = withoutUndefined({ model, usage, stop_reason: stopReason, ...details });
    step.events.details = { ...step.events.details, ...unused };
  }
  step.writeInferences();
  step.announce(agent, model);
  return messageId;
}

/** Maps input to an agent: results of its tools (`agent:tool_result`) and messages to it (`user:message`). */
function mapUser(step: MappingStep): void {
  const blocks = asBlocks(asObject(step.message.message)?.content);
  if (blocks === undefined || blocks.length === 0) {
    writeNotice(step, 'a user message without content', step.message);
    return;
  }
  if (mapSummary(step, blocks)) return;
  const agent = step.agent();
  step.announce(agent);
  const results = blocks.filter(isToolResult);
  const metas = asList(step.message.tool_result_meta)?.map((meta) => asObject(meta) ?? {});
  const hasPlace = metas?.every(({ id }) => results.some(({ tool_use_id }) => tool_use_id === id));
  step.keepOthers(['message', ...fieldsOfAgent(agent), ...(hasPlace ? ['tool_result_meta'] : [])]);
  keepMessageFields(step);
  const links = { agentId: agent?.id, messageId: blocks.length > 1 ? asId(step.message.uuid) : undefined };
  for (const block of withAttachments(blocks)) {
    if (isToolResult(block)) {
      const meta = metas?.find(({ id }) => id === block.tool_use_id);
      // A message has one `tool_use_result`; with several results, it cannot be assigned.
      const output = results.length === 1 ? step.message.tool_use_result : undefined;
      mapToolResult(step, block, links, { meta, output });
    } else {
      mapText(step, block, agent, links);
    }
  }
}

/** Puts the fields of a message to an agent that no event has into the `details` of the first one. */
function keepMessageFields(step: MappingStep): void {
  const more = withoutNull(asObject(step.message.message) ?? {}, ownMessageFields);
  if (hasFields(more)) step.events.details = { ...step.events.details, message: more };
}

const ownMessageFields = new Set(['role', 'content']);

/** Maps a message that the boundary of a compaction names as its summary. False: it is another message. */
function mapSummary(step: MappingStep, blocks: readonly JsonValue[]): boolean {
  const compaction = step.state.compactions.get(asName(step.message.uuid) ?? '');
  const texts = blocks.map((block) => asText(asObject(block)?.text));
  if (compaction === undefined || !texts.every((text) => text !== undefined)) return false;
  const { trigger, keptFrom, cause } = compaction;
  step.keepOthers(['message']);
  keepMessageFields(step);
  const data = { trigger, ...definedOnly({ keptFrom }), summary: texts.join('\n\n') };
  step.events.event('session:compaction', data, { cause });
  return true;
}

function mapText(
  step: MappingStep,
  block: JsonValue,
  agent: SubAgent | undefined,
  links: { agentId: string | undefined; messageId: string | undefined },
): void {
  const fields = asObject(block);
  const text = fields?.type === 'text' ? asText(fields.text) : undefined;
  if (fields === undefined || text === undefined) {
    mapOtherBlock(step, 'user', block, links);
    return;
  }
  const { origin } = step.message;
  const { fidelity } = step.state;
  const context = { origin, fidelity, otherwise: sourceOf(step, agent) };
  const { details } = blockDetails(fields, ['text', 'parts']);
  for (const [index, said] of spokenIn(text, context).entries()) {
    const data = index === 0 ? { ...said, ...attachmentsOf(fields) } : said;
    step.events.event('user:message', withDetails(data, details ?? {}), links);
  }
}

/** The speaker: for a sub-agent the agent that called it; otherwise the origin that the message names, or the user. */
function sourceOf(step: MappingStep, agent: SubAgent | undefined): Source {
  const source = speakerOf(step.message);
  if (step.message.isSynthetic === true)
    return source === undefined || source.kind === 'user' ? { kind: 'system' } : source;
  if (agent === undefined || source !== undefined) return source ?? { kind: 'user' };
  const caller = step.state.calls.get(agent.toolCallId)?.agentId;
  return { kind: 'agent', ...definedOnly({ agentId: caller }) };
}

/** A streamed piece of a model message: deltas, never an event (D8). Facts about the whole message are noted. */
function mapStreamEvent(step: MappingStep): void {
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
    timestamp: step.events.timestamp,
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
    timestamp: step.events.timestamp,
  });
}

function endMessage(step: MappingStep): void {
  const agent = step.agent();
  if (step.state.streaming.delete(agent?.id)) step.state.inferences.end(agent);
  // Not deferred to the next message: a tool may run for a long time before that one.
  step.writeInferences();
}

type Mapper = (step: MappingStep) => void;

/** The mapper of each kind of SDK message (`type`, or `type/subtype`). */
const mappers = {
  assistant: mapAssistant,
  user: mapUser,
  stream_event: mapStreamEvent,
  rate_limit_event: mapRateLimit,
  tool_progress: mapOther,
  tool_use_summary: mapOther,
  auth_status: mapOther,
  prompt_suggestion: mapOther,
  'result/success': mapResult,
  'result/error_during_execution': mapResult,
  'result/error_max_turns': mapResult,
  'result/error_max_budget_usd': mapResult,
  'result/error_max_structured_output_retries': mapResult,
  conversation_reset: mapReset,
  'system/init': mapInit,
  'system/status': mapStatus,
  'system/compact_boundary': mapCompaction,
  'system/permission_denied': mapPermissionDenied,
  'system/task_started': mapTaskStarted,
  'system/task_notification': mapTaskNotification,
  'system/task_progress': mapOther,
  'system/task_updated': mapOther,
  'system/background_tasks_changed': mapOther,
  'system/files_persisted': mapOther,
  'system/hook_started': mapOther,
  'system/hook_progress': mapOther,
  'system/hook_response': mapOther,
  'system/api_retry': mapOther,
  'system/control_request_progress': mapOther,
  'system/model_refusal_fallback': mapOther,
  'system/model_refusal_no_fallback': mapOther,
  'system/local_command_output': mapOther,
  'system/plugin_install': mapOther,
  'system/thinking_tokens': mapOther,
  'system/session_state_changed': mapOther,
  'system/worker_shutting_down': mapOther,
  'system/commands_changed': mapOther,
  'system/notification': mapOther,
  'system/memory_recall': mapOther,
  'system/elicitation_complete': mapOther,
  'system/mirror_error': mapOther,
  'system/informational': mapOther,
  'system/session_writes_lost': mapOther,
} as const satisfies Readonly<Record<string, Mapper>>;

export type ClaudeMessageKind = keyof typeof mappers;

const byKind: ReadonlyMap<string, Mapper> = new Map(Object.entries(mappers));

/** The mapper of a message. An unknown kind is kept unchanged; an unknown subtype of `result` is an end. */
/** What the engine took back, and its own texts about errors of the API, which it never sends. */
export function noteTakenBack(step: MappingStep): void {
  const { retracted_message_uuids, neutralized_by_fork, supersedes, is_api_error_message } = step.message;
  if (neutralized_by_fork !== true) step.takeBack(retracted_message_uuids);
  step.takeBack(supersedes);
  step.events.isNeverSent = is_api_error_message === true;
}

export function mapperOf(type: string, subtype: unknown): Mapper {
  if (type === 'result') return mapResult;
  return (
    (typeof subtype === 'string' ? byKind.get(`${type}/${subtype}`) : undefined) ??
    byKind.get(type) ??
    mapOther
  );
}

import type { EventData, JsonObject } from '@hansard/events';
import {
  asAmount,
  asCount,
  asList,
  asName,
  asObject,
  asText,
  without,
  withoutNull,
  withoutUndefined,
} from '../lines/json-fields.ts';
import { denialData, writeDenial } from './blocks.ts';
import { unknownEventType } from './event-writer.ts';
import { linksToAnswer } from './mapping-state.ts';
import { type MappingStep, writeNotice } from './mapping-step.ts';
import type { SubAgent } from './sub-agents.ts';

/** Writes `session:init` once per session. The message comes again with each turn; changed fields become `session:status`. */
export function mapInit(step: MappingStep): void {
  const { message, state, events } = step;
  const model = asText(message.model);
  const sessionId = asText(message.session_id);
  if (model === undefined || sessionId === undefined) {
    writeNotice(step, 'a system/init message without model or session_id', message);
    return;
  }
  const before = state.sessions.get(sessionId);
  state.sessions.set(sessionId, without(message, ['uuid', 'timestamp']));
  if (before !== undefined) {
    const changed = changedFields(before, message);
    if (Object.keys(changed).length > 0) events.event('session:status', { changed });
    return;
  }
  const cwd = asText(message.cwd);
  const names = asList(message.tools)?.filter((tool) => typeof tool === 'string');
  const tools = names?.length === asList(message.tools)?.length ? names : undefined;
  step.keepOthers(['session_id', 'model', ...Object.keys(withoutUndefined({ cwd, tools }))]);
  events.event('session:init', withoutUndefined({ model, sessionId, cwd, tools }));
}

function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(before), ...Object.keys(without(after, ['uuid', 'timestamp']))]);
  const isSame = (key: string) => JSON.stringify(before[key]) === JSON.stringify(after[key]);
  return Object.fromEntries([...keys].filter((key) => !isSame(key)).map((key) => [key, after[key] ?? null]));
}

const namedFields = ['is_error', 'result', 'structured_output', 'errors'];

/** The end of a run or of a turn: `session:complete` with the totals so far, and denials that were not reported before. */
export function mapResult(step: MappingStep): void {
  const { message, state, events } = step;
  state.inferences.end(undefined);
  step.writeInferences();
  const named = [...namedFields, ...countedFields(message)];
  if (writeDenials(step)) named.push('permission_denials');
  step.keepOthers(named);
  const errors = asList(message.errors)?.map((error) => asText(error) ?? JSON.stringify(error));
  const outcome = outcomeOf(message);
  const result = asText(message.result);
  events.event(
    'session:complete',
    withoutUndefined({
      ...outcome,
      result,
      structuredResult: message.structured_output,
      ...state.totals.add(message),
      errors: errors ?? (outcome.status === 'failed' && result !== undefined ? [result] : undefined),
    }),
  );
}

type Outcome = Pick<EventData<'session:complete'>, 'status' | 'reason'>;

/** Depends on `is_error` too: a run that ended with an API error also has the subtype `success`. */
function outcomeOf({ subtype, is_error, terminal_reason }: JsonObject): Outcome {
  const ended = asText(terminal_reason) ?? '';
  if (subtype === 'error_max_turns' || subtype === 'error_max_budget_usd') {
    return { status: 'aborted', reason: subtype };
  }
  if (ended.startsWith('aborted')) return { status: 'aborted', reason: ended };
  if (subtype === 'success' && is_error !== true) return { status: 'completed' };
  const reason = subtype === 'success' ? asName(terminal_reason) : asName(subtype);
  return { status: 'failed', reason: reason ?? 'error' };
}

/** The fields that are included in the totals. */
function countedFields({ total_cost_usd, duration_ms, num_turns }: JsonObject): string[] {
  const counted = {
    total_cost_usd: asAmount(total_cost_usd),
    duration_ms: asAmount(duration_ms),
    num_turns: asCount(num_turns),
  };
  return Object.keys(withoutUndefined(counted));
}

/** Writes the denials; whether each of them has its event now. */
function writeDenials(step: MappingStep): boolean {
  const denials = asList(step.message.permission_denials) ?? [];
  for (const denial of denials) {
    const { tool_name: tool, tool_use_id, tool_input: input } = asObject(denial) ?? {};
    const toolCallId = asName(tool_use_id);
    if (toolCallId === undefined) return false;
    const details = withoutUndefined({ tool, input });
    writeDenial(step, toolCallId, {}, step.state.calls.get(toolCallId)?.agentId, details);
  }
  return Array.isArray(step.message.permission_denials);
}

/** A message without an event type of its own, with all its fields: `system:` and the type or subtype of the message. */
export function mapOther(step: MappingStep): void {
  const { type, subtype } = step.message;
  const words = type === 'system' ? [subtype] : [type, subtype];
  const word = words
    .map(asName)
    .filter((name) => name !== undefined)
    .join('_');
  step.events.other(unknownEventType('system', word), step.others(), { agentId: agentIdOf(step) });
}

/** The conversation begins anew: the agent goes back to nothing. */
export function mapReset(step: MappingStep): void {
  step.state.inferences.end(undefined);
  step.writeInferences();
  step.keepOthers([]);
  step.events.event('session:rewind', { keptThrough: null });
}

export function mapStatus(step: MappingStep): void {
  step.events.event('session:status', step.others());
}

export function mapRateLimit(step: MappingStep): void {
  const info = asObject(step.message.rate_limit_info);
  const others = step.others(info === undefined ? [] : ['rate_limit_info']);
  step.events.event('session:rate_limit', { ...others, ...info });
}

export function mapCompaction(step: MappingStep): void {
  const metadata = asObject(step.message.compact_metadata);
  const trigger = asText(metadata?.trigger);
  if (metadata === undefined || trigger === undefined) {
    writeNotice(step, 'a compact_boundary message without its trigger', step.message);
    return;
  }
  const preTokens = asCount(metadata.pre_tokens);
  const postTokens = asCount(metadata.post_tokens);
  const named = withoutUndefined({ trigger, pre_tokens: preTokens, post_tokens: postTokens });
  step.keepOthers(['compact_metadata']);
  const details = withoutNull(without(metadata, Object.keys(named)));
  step.events.details = { ...step.events.details, ...details };
  const keptFrom = firstKept(step, metadata);
  const facts = withoutUndefined({ trigger, preTokens, postTokens, keptFrom });
  const cause = step.events.event('session:compaction', facts);
  const anchor = anchorOf(metadata);
  // The boundary itself is the anchor if the kept messages are before the summary.
  if (anchor !== undefined && anchor !== step.message.uuid)
    step.state.compactions.set(anchor, { trigger, keptFrom, cause });
}

/** The message that the kept messages follow; undefined if the compaction kept none. */
function anchorOf(metadata: JsonObject): string | undefined {
  const { preserved_messages: messages, preserved_segment: segment } = metadata;
  return asName(asObject(messages)?.anchor_uuid) ?? asName(asObject(segment)?.anchor_uuid);
}

/** A denial that is reported before the result of the tool: `harness:hook_decision`. */
export function mapPermissionDenied(step: MappingStep): void {
  const { message, state } = step;
  const toolCallId = asName(message.tool_use_id);
  const reason = asText(message.decision_reason) ?? asText(message.message);
  if (toolCallId === undefined || state.denied.has(toolCallId)) {
    mapOther(step);
    return;
  }
  state.denied.add(toolCallId);
  step.keepOthers(['tool_use_id', reason === message.message ? 'message' : 'decision_reason']);
  const cause = state.calls.get(toolCallId)?.reference;
  const data = denialData(toolCallId, { reason }, cause);
  step.events.event('harness:hook_decision', data, { agentId: agentIdOf(step), cause });
}

/** The start of a task. For a sub-agent it announces the agent. */
export function mapTaskStarted(step: MappingStep): void {
  const { task_id, task_type, subagent_type, tool_use_id } = step.message;
  const isAgent = task_type === 'local_agent' || (task_type === undefined && subagent_type !== undefined);
  const name = asName(task_id);
  if (isAgent && name !== undefined) step.announce(step.state.agents.resolve(name, asName(tool_use_id)));
  mapOther(step);
}

/**
 * The end of a task, and so of the last message of its sub-agent. A sub-agent in the background reports to its caller
 * only by this message, so it also becomes a `user:message` to the caller.
 */
export function mapTaskNotification(step: MappingStep): void {
  const agent = knownAgent(step);
  if (agent !== undefined) step.state.inferences.end(agent);
  step.writeInferences();
  mapOther(step);
  const { summary: text, summary_is_report: isReport } = step.message;
  const answer = agent === undefined ? undefined : step.state.answers.get(agent.id);
  if (agent === undefined || answer === undefined || isReport !== true || typeof text !== 'string') return;
  const source = { kind: 'agent' as const, agentId: agent.id };
  const caller = step.state.calls.get(agent.toolCallId)?.agentId;
  const links = linksToAnswer(answer, undefined, text);
  step.events.event('user:message', { text, source }, { agentId: caller, ...links });
}

function knownAgent({ state, message }: MappingStep): SubAgent | undefined {
  return state.agents.find(asName(message.agent_id)) ?? state.agents.find(asName(message.task_id));
}

/** The agent that a system message is about: the sub-agent that it names, or the agent of the tool call that it names. */
function agentIdOf(step: MappingStep): string | undefined {
  const { tool_use_id, parent_tool_use_id } = step.message;
  const agent = knownAgent(step);
  if (agent !== undefined) {
    step.announce(agent);
    return agent.id;
  }
  const { calls } = step.state;
  return (calls.get(asName(tool_use_id)) ?? calls.get(asName(parent_tool_use_id)))?.agentId;
}

/** The first message that the model still sees unchanged, if it is an event of this stream. */
function firstKept(step: MappingStep, metadata: JsonObject): string | undefined {
  const [first] = asList(asObject(metadata.preserved_messages)?.uuids) ?? [];
  const id = asText(asObject(metadata.preserved_segment)?.head_uuid) ?? asText(first);
  return id !== undefined && step.state.ids.has(id) ? id : undefined;
}

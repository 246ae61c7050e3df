import {
  definedOnly,
  type EventData,
  type EventType,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import { asCount, asList, asName, asObject, asText, without } from '../lines/json-fields.ts';
import {
  asBlocks,
  attachmentsOf,
  blockDetails,
  isToolResult,
  mapOtherBlock,
  mapToolResult,
  withAttachments,
} from './blocks.ts';
import { unknownEventType, withDetails } from './event-writer.ts';
import { asEventId, asId } from './ids.ts';
import type { AnswerLinks, MappingState } from './mapping-state.ts';
import { mapModelMessage, noModel } from './model-message.ts';
import { hookIn, type Source, speakerOf, spokenIn } from './speakers.ts';
import type { SubAgent } from './sub-agents.ts';
import type { TranscriptStep } from './transcript-step.ts';
import { usageOf } from './usage.ts';

/** A record without an event type of its own, with all its fields: `system:` and the type or subtype of the record. */
function mapOther(step: TranscriptStep): void {
  const { type, subtype } = step.message;
  const words = type === 'system' ? [subtype] : [type, subtype];
  const word = words.map(asName).filter((name) => name !== undefined);
  writeAs(step, unknownEventType('system', word.join('_')), step.others());
}

/** A change of the session's state: `session:status`, with the type of the record as `kind`. */
function mapStatus(step: TranscriptStep): void {
  const { type, subtype } = step.message;
  writeAs(step, 'session:status', { kind: asName(subtype) ?? type ?? null, ...step.others() });
}

/** The end of a turn, and so of its last message. */
function mapTurnEnd(step: TranscriptStep): void {
  step.state.inferences.end(step.agent());
  step.writeInferences();
  if (step.message.subtype === 'turn_duration') mapStatus(step);
  else mapOther(step);
}

/** Writes an event of the agent that the record belongs to. */
function writeAs(step: TranscriptStep, type: EventType, data: JsonObject): void {
  const agent = step.agent();
  step.announce(agent);
  step.events.other(type, data, { agentId: agent?.id });
}

/**
 * The boundary of a compaction. One with a summary becomes `session:compaction` with the next record, which holds the
 * summary. A boundary without one, of a microcompaction, is the whole record of it.
 */
function mapBoundary(step: TranscriptStep): void {
  const agent = step.agent();
  step.announce(agent);
  step.state.inferences.end(agent);
  step.writeInferences();
  const { uuid, compactMetadata } = step.message;
  const boundary = asName(uuid);
  if (boundary !== undefined && compactMetadata !== undefined)
    step.transcript.boundaries.set(boundary, asObject(compactMetadata) ?? {});
  mapOther(step);
}

/** A compaction of the model's context without a summary: tool results were dropped from it. */
function mapMicrocompaction(step: TranscriptStep): void {
  const agent = step.agent();
  step.announce(agent);
  step.state.inferences.end(agent);
  step.writeInferences();
  const { subtype = null, microcompactMetadata } = step.message;
  const metadata = asObject(microcompactMetadata) ?? {};
  const { facts, others } = compactionFacts(step, metadata);
  step.keepOthers(['microcompactMetadata']);
  step.events.details = { subtype, ...step.events.details, microcompactMetadata: others };
  step.events.event('session:compaction', facts, { agentId: agent?.id });
}

/** The summary of a compaction: `session:compaction`, caused by the boundary before it. */
function mapSummary(step: TranscriptStep, texts: readonly string[]): void {
  const agent = step.agent();
  const boundary = asName(step.message.parentUuid);
  const metadata = boundary === undefined ? undefined : step.transcript.boundaries.get(boundary);
  if (metadata === undefined) step.state.horizon.missed();
  const { facts } = compactionFacts(step, metadata ?? {});
  step.events.event(
    'session:compaction',
    { ...facts, summary: texts.join('\n\n') },
    { agentId: agent?.id, cause: metadata === undefined ? undefined : asEventId(boundary) },
  );
}

function compactionFacts(
  step: TranscriptStep,
  metadata: JsonObject,
): { readonly facts: EventData<'session:compaction'>; readonly others: JsonObject } {
  const preTokens = asCount(metadata.preTokens);
  const postTokens = asCount(metadata.postTokens);
  const [first] = asList(asObject(metadata.preservedMessages)?.uuids) ?? [];
  const kept = asEventId(asObject(metadata.preservedSegment)?.headUuid ?? first);
  const keptFrom = kept !== undefined && step.state.ids.has(kept) ? kept : undefined;
  if (kept !== keptFrom) step.state.horizon.missed();
  const named = definedOnly({ trigger: asText(metadata.trigger), preTokens, postTokens });
  return {
    facts: { ...named, trigger: named.trigger ?? 'unknown', ...definedOnly({ keptFrom }) },
    others: without(metadata, Object.keys(named)),
  };
}

/** The ids at the start of a notification that Claude Code writes when a background task stops. */
const heading =
  /^<task-notification>\s*<task-id>([^<\s]+)<\/task-id>(?:\s*<tool-use-id>([^<\s]+)<\/tool-use-id>)?/;

/** A background task that a record says has stopped. For a sub-agent, the id is that of the agent. */
interface NotifiedTask {
  readonly taskId: string;
  readonly toolCallId: string | undefined;
}

/** The task that a record is about, by the ids in it; undefined for other records, and for what a person wrote. */
export function notifiedTask(record: JsonObject): NotifiedTask | undefined {
  const attachment = asObject(record.attachment);
  const origin = asName(asObject(record.origin ?? attachment?.origin)?.kind) ?? 'task-notification';
  if (origin !== 'task-notification') return undefined;
  const isQueued = attachment?.type === 'queued_command';
  if (record.type !== 'user' && !isQueued) return undefined;
  const [block] = asBlocks(isQueued ? attachment.prompt : asObject(record.message)?.content) ?? [];
  const [, taskId, toolCallId] = heading.exec(asText(asObject(block)?.text) ?? '') ?? [];
  return taskId === undefined ? undefined : { taskId, toolCallId };
}

/**
 * Whether a record belongs to the agent that made a call. Another agent's file may be read before or after that of the
 * caller, so a notification there links nothing.
 */
export function isOfCaller(
  { calls }: Pick<MappingState, 'calls'>,
  { isSidechain, agentId }: JsonObject,
  toolCallId: string | undefined,
): boolean {
  const call = calls.get(toolCallId);
  return call !== undefined && call.agentId === (isSidechain === true ? asId(agentId) : undefined);
}

interface PromptLinks {
  readonly agentId: string | undefined;
  readonly messageId: string | undefined;
  readonly cause?: string | undefined;
}

/** Maps input to an agent: results of its tools (`agent:tool_result`) and messages to it (`user:message`). */
function mapPrompt(step: TranscriptStep): void {
  const message = asObject(step.message.message) ?? {};
  const blocks = asBlocks(message.content);
  if (blocks === undefined || blocks.length === 0) {
    step.report('wrong_value', 'A user record without content; it is kept as a notice.');
    step.notice('a user record without content', step.message);
    return;
  }
  const agent = step.agent();
  step.announce(agent);
  // A new prompt shows that the message before it is over. A result or a text of a tool may come within a message.
  if (
    step.message.isMeta !== true &&
    step.message.sourceToolUseID === undefined &&
    !blocks.some(isToolResult)
  ) {
    step.state.inferences.end(agent);
    step.writeInferences();
  }
  step.keepOthers(agent?.id === step.message.agentId ? ['message', 'agentId'] : ['message']);
  const more = without(message, ['role', 'content']);
  if (Object.keys(more).length > 0) step.events.details = { ...step.events.details, message: more };
  const links = { agentId: agent?.id, messageId: blocks.length > 1 ? asId(step.message.uuid) : undefined };
  const texts = step.message.isCompactSummary === true ? textsOf(blocks) : [];
  if (texts.length > 0) mapSummary(step, texts);
  const results = blocks.filter(isToolResult);
  // A record has one `toolUseResult`; with several results, it cannot be assigned.
  const output = results.length === 1 ? step.message.toolUseResult : undefined;
  for (const block of withAttachments(blocks)) {
    if (texts.length > 0 && textOf(block) !== undefined) continue;
    if (isToolResult(block)) {
      step.transcript.callCheck.answered(step, String(block.tool_use_id));
      mapToolResult(step, block, links, { output });
    } else mapText(step, block, { ...links, cause: causeOf(step, agent) }, sourceOf(step, block, agent));
  }
}

/** Maps a block of a message to an agent, other than a tool result. */
function mapText(step: TranscriptStep, block: JsonValue, links: PromptLinks, source: Source): void {
  const fields = asObject(block);
  const text = textOf(block);
  if (fields === undefined || text === undefined) {
    if (fields === undefined) step.report('wrong_value', 'A block of a message is not an object.');
    mapOtherBlock(step, 'user', block, links);
    return;
  }
  const { details = {} } = blockDetails(fields, ['text', 'parts']);
  const { attachment, origin = asObject(attachment)?.origin } = step.message;
  const { fidelity } = step.state;
  const context = { origin, fidelity, otherwise: source };
  for (const [index, said] of spokenIn(text, context).entries()) {
    const data = index === 0 ? { ...said, ...attachmentsOf(fields) } : said;
    step.events.event('user:message', withDetails(data, details), { ...links, ...reportLinks(step, text) });
  }
}

/** Links the report of a background sub-agent to the answer that it carries, by the id of the agent in the record. */
function reportLinks(step: TranscriptStep, text: string): AnswerLinks {
  const task = notifiedTask(step.message);
  const agent = task === undefined ? undefined : step.state.agents.find(task.taskId);
  const isKnown = agent !== undefined && agent.isLinked !== true;
  if (!isKnown || !isOfCaller(step.state, step.message, agent.toolCallId)) return {};
  return step.linksToReport(agent, undefined, text);
}

function textsOf(blocks: readonly JsonValue[]): string[] {
  return blocks.map(textOf).filter((text) => text !== undefined);
}

function textOf(block: JsonValue): string | undefined {
  const fields = asObject(block);
  return fields?.type === 'text' ? asText(fields.text) : undefined;
}

/** The cause of a text that a tool added is the call of the tool; that of a sub-agent's first prompt, its creation. */
function causeOf(step: TranscriptStep, agent: SubAgent | undefined): string | undefined {
  const { parentUuid, sourceToolUseID } = step.message;
  const created = agent !== undefined && parentUuid === null ? `${agent.id}:created` : undefined;
  const isCreated = agent?.waiting !== undefined || (created !== undefined && step.state.ids.has(created));
  if (isCreated) return asEventId(created);
  return step.state.calls.get(asName(sourceToolUseID))?.reference;
}

/** Texts that Claude Code writes in the name of the user. */
const written =
  /^<(local-command-caveat|local-command-stdout|local-command-stderr|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook)>/;

/**
 * The speaker: the one that the record names, Claude Code or a hook if the record says so, or the caller of a sub-agent. The caller gives
 * an agent its first prompt, and the engine warms some agents up.
 */
function sourceOf(step: TranscriptStep, block: JsonValue, agent: SubAgent | undefined): Source {
  const { isMeta, promptSource, parentUuid, version } = step.message;
  const isFirst = agent !== undefined && parentUuid === null;
  const speaker = isFirst ? undefined : speakerOf(step.message);
  if (speaker !== undefined) return speaker;
  const text = asText(asObject(block)?.text) ?? '';
  if (isMeta === true || promptSource === 'system' || written.test(text))
    return { kind: 'system', ...definedOnly({ hook: hookIn(text) }) };
  if (agent === undefined) return { kind: 'user' };
  if (isFirst && text === 'Warmup' && String(version).startsWith('2.0.')) return { kind: 'system' };
  // Which agent called it is in the record of the call, which can be in another file.
  return { kind: 'agent' };
}

const progressTypes: ReadonlyMap<string, EventType> = new Map([
  ['hook_progress', 'system:hook_progress'],
  ['agent_progress', 'system:task_progress'],
  ['waiting_for_task', 'system:task_progress'],
]);

/** Progress of a hook, a sub-agent or a tool. */
function mapProgress(step: TranscriptStep): void {
  const data = asObject(step.message.data);
  endAnswer(step, data);
  const kind = asName(data?.type);
  if (data === undefined || kind === undefined) {
    mapOther(step);
    return;
  }
  const agentName = asName(data.agentId);
  if (agentName !== undefined && step.message.isSidechain !== true)
    step.announce(step.state.agents.resolve(agentName, asName(step.message.parentToolUseID)));
  if (agentName !== undefined) hearProgress(step, agentName, asObject(data.message) ?? {});
  writeAs(step, progressTypes.get(kind) ?? 'system:tool_progress', step.others());
}

/**
 * The message of a sub-agent in the progress of its caller, as a record of that agent: with an id, a kind and content. Undefined: the record has
 * none. Only the caller's own records count: those in a file of a sub-agent name no call that was read before.
 */
export function progressMessage({ type, data, isSidechain }: JsonObject): JsonObject | undefined {
  const progress = type === 'progress' && isSidechain !== true ? asObject(data) : undefined;
  const message = asObject(progress?.message);
  if (progress?.type !== 'agent_progress' || message === undefined) return undefined;
  const isMessage = message.type === 'user' || message.type === 'assistant';
  const agentId = asName(progress.agentId);
  if (!isMessage || agentId === undefined || asEventId(message.uuid) === undefined) return undefined;
  if ((asBlocks(asObject(message.message)?.content) ?? []).length === 0) return undefined;
  return { ...without(message, ['sessionId', 'session_id', 'parentUuid']), isSidechain: true, agentId };
}

/** Notes the usage of a model message of a sub-agent without a file, which its progress holds. */
function hearProgress(step: TranscriptStep, agentName: string, record: JsonObject): void {
  const message = asObject(record.message) ?? {};
  const [agentId, messageId, usage] = [asId(agentName), asId(message.id), asObject(message.usage)];
  if (record.type !== 'assistant' || agentId === undefined || messageId === undefined) return;
  if (step.transcript.agentsWithFile.has(agentId)) return;
  if (usageOf(usage) === undefined || message.model === noModel) return;
  const { timestamp } = step.events;
  step.state.inferences.hearElsewhere(agentId, messageId, { model: asText(message.model), usage, timestamp });
}

/** An attachment to the conversation: an answer of a hook, a queued prompt, or other input to the model. */
function mapAttachment(step: TranscriptStep): void {
  const attachment = asObject(step.message.attachment);
  const kind = asName(attachment?.type) ?? '';
  endAnswer(step, attachment);
  if (attachment === undefined) mapOther(step);
  else if (kind === 'queued_command' && asBlocks(attachment.prompt) !== undefined)
    mapQueuedPrompt(step, attachment);
  else if (wordsOfHook(attachment) !== null) mapHookWords(step, attachment);
  else writeAs(step, kind.startsWith('hook_') ? 'system:hook_response' : 'system:attachment', step.others());
}

/** What a hook says to the model in an attachment; null for any other attachment. */
function wordsOfHook({ type, content, blockingError }: JsonObject): string | null {
  const said =
    type === 'hook_additional_context' ? content : type === 'hook_blocking_error' ? blockingError : null;
  const words = asText(asObject(said)?.blockingError) ?? asText(said);
  const all = words === undefined ? (asList(said) ?? []).map(asText) : [words];
  return all.length > 0 && all.every((one) => one !== undefined) ? all.join('\n') : null;
}

/** A message of a hook to the model: `user:message`. */
function mapHookWords(step: TranscriptStep, attachment: JsonObject): void {
  const agent = step.agent();
  step.announce(agent);
  const { fidelity } = step.state;
  const words = wordsOfHook(attachment) ?? '';
  // A narrative leaves out what is between these tags.
  const text = fidelity === 'full' ? words : `<system-reminder>${words}</system-reminder>`;
  step.keepOthers(['attachment']);
  step.events.details = {
    ...step.events.details,
    attachment: without(attachment, ['content', 'blockingError', 'rendered']),
  };
  const hook = asName(attachment.hookName) ?? asName(attachment.hookEvent) ?? 'hook';
  const wrapped = fidelity === 'full' ? asText(attachment.rendered) : undefined;
  const data = { text, source: { kind: 'system' as const, hook }, ...definedOnly({ wrapped }) };
  step.events.event('user:message', data, { agentId: agent?.id });
}

const lastHooks: ReadonlySet<unknown> = new Set(['Stop', 'SubagentStop', 'SessionEnd']);

/** A hook for the end of a turn shows that the message before it is over. */
function endAnswer(step: TranscriptStep, fields: JsonObject | undefined): void {
  if (!lastHooks.has(fields?.hookEvent)) return;
  step.state.inferences.end(step.agent());
  step.writeInferences();
}

/** A prompt that the user typed while the agent worked: `user:message`. */
function mapQueuedPrompt(step: TranscriptStep, attachment: JsonObject): void {
  const agent = step.agent();
  step.announce(agent);
  step.keepOthers(['attachment']);
  step.events.details = { ...step.events.details, attachment: without(attachment, ['prompt']) };
  const blocks = asBlocks(attachment.prompt) ?? [];
  const messageId = blocks.length > 1 ? asId(step.message.uuid) : undefined;
  const isNotice = attachment.commandMode === 'task-notification';
  const source = speakerOf(step.message) ?? { kind: isNotice ? 'system' : 'user' };
  for (const block of withAttachments(blocks))
    mapText(step, block, { agentId: agent?.id, messageId }, source);
}

/** The first record of a forked agent's file: its transcript begins with that of its caller, which the file refers to. */
function mapForkContext(step: TranscriptStep): void {
  const agent = step.state.agents.resolve(asName(step.message.agentId), undefined);
  const through = asName(step.message.parentLastUuid);
  if (agent !== undefined && !agent.announced && through !== undefined)
    agent.inherits = step.transcript.lastEventOf(through);
  step.events.other('system:fork_context_ref', step.others(), { agentId: agent?.id });
}

type Mapper = (step: TranscriptStep) => void;

/** The mapper of each kind of record (`type`, or `type/subtype`). Any other is kept as `system:` and its own name. */
const mappers: ReadonlyMap<string, Mapper> = new Map(
  Object.entries({
    assistant: mapModelMessage,
    user: mapPrompt,
    progress: mapProgress,
    attachment: mapAttachment,
    'fork-context-ref': mapForkContext,
    mode: mapStatus,
    'permission-mode': mapStatus,
    'ai-title': mapStatus,
    'custom-title': mapStatus,
    'agent-name': mapStatus,
    'pr-link': mapStatus,
    'agent-setting': mapStatus,
    'bridge-session': mapStatus,
    'system/bridge_status': mapStatus,
    'system/stop_hook_summary': mapTurnEnd,
    'system/turn_duration': mapTurnEnd,
    'system/compact_boundary': mapBoundary,
    'system/microcompact_boundary': mapMicrocompaction,
  }),
);

/** What the engine took back, and its own texts about errors of the API, which it never sends. */
function noteTakenBack(step: TranscriptStep): void {
  const { retractedMessageUuids, neutralizedByFork, supersedesUuids, isApiErrorMessage } = step.message;
  if (neutralizedByFork !== true) step.takeBack(retractedMessageUuids);
  step.takeBack(supersedesUuids);
  step.events.isNeverSent = isApiErrorMessage === true;
}

export function mapRecord(step: TranscriptStep): void {
  noteTakenBack(step);
  const { type, subtype } = step.message;
  const mapper =
    (typeof subtype === 'string' ? mappers.get(`${String(type)}/${subtype}`) : undefined) ??
    mappers.get(String(type)) ??
    mapOther;
  mapper(step);
}

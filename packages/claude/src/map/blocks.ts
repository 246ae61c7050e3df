import {
  type ContentPart,
  definedOnly,
  type EventData,
  firstLine,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import {
  asAmount,
  asList,
  asName,
  asObject,
  asText,
  hasFields,
  without,
  withoutNull,
  withoutUndefined,
} from '../lines/json-fields.ts';
import { isKnownEventType, unknownEventType, type WriterLinks, withDetails } from './event-writer.ts';
import { asEventId } from './ids.ts';
import type { AnswerLinks, ToolCallRecord } from './mapping-state.ts';
import { type MappingStep, writeNotice } from './mapping-step.ts';
import { lead } from './speakers.ts';
import type { SubAgent } from './sub-agents.ts';
import { describeToolCall, describeToolReturn } from './tool-metadata.ts';

/** The content of a message as blocks. A plain string is one text block. */
export function asBlocks(content: JsonValue | undefined): JsonValue[] | undefined {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
}

/**
 * The blocks of a message with its images and documents beside its texts: each is in the `parts` of the text before it, or else of the
 * first one. A message without a text has an empty one.
 */
export function withAttachments(blocks: readonly JsonValue[]): JsonValue[] {
  const isAttachment = (block: JsonValue) => {
    const fields = asObject(block);
    return (fields?.type === 'image' || fields?.type === 'document') && asObject(fields.source) !== undefined;
  };
  if (!blocks.some(isAttachment)) return [...blocks];
  const joined: JsonValue[] = [];
  const waiting: JsonValue[] = [];
  let text: { readonly index: number; readonly parts: JsonValue[] } | null = null;
  const attach = (parts: readonly JsonValue[]) => {
    if (parts.length === 0) return;
    if (text === null) text = { index: joined.push({ type: 'text', text: '' }) - 1, parts: [] };
    text.parts.push(...parts);
    joined[text.index] = { ...(joined[text.index] as JsonObject), parts: text.parts };
  };
  for (const block of blocks) {
    if (isAttachment(block)) {
      if (text === null) waiting.push(block);
      else attach([block]);
      continue;
    }
    joined.push(block);
    const fields = asObject(block);
    if (fields?.type !== 'text' || typeof fields.text !== 'string') continue;
    text = { index: joined.length - 1, parts: [] };
    attach(waiting.splice(0));
  }
  attach(waiting);
  return joined;
}

/** The attachments that `withAttachments` put beside a text, for the first message that is made of the text. */
export function attachmentsOf(block: JsonObject): Pick<EventData<'user:message'>, 'parts'> {
  return Array.isArray(block.parts) ? { parts: block.parts as unknown as ContentPart[] } : {};
}

/** Maps a block of a model message other than a tool result. Unknown blocks are kept. */
export function mapAssistantBlock(step: MappingStep, block: JsonValue, links: WriterLinks): void {
  const fields = asObject(block) ?? {};
  const { type } = fields;
  if (type === 'text' && typeof fields.text === 'string') {
    const details = blockDetails(fields, ['text']);
    const id = step.events.event('agent:text', { text: fields.text, ...details }, links);
    if (links.agentId !== undefined && id !== undefined) {
      step.state.answers.set(links.agentId, { id, text: fields.text });
    }
  } else if (type === 'thinking' && typeof fields.thinking === 'string') {
    const details = blockDetails(fields, ['thinking', 'signature']);
    const signature = asText(fields.signature);
    const data = { text: fields.thinking, ...(signature === undefined ? {} : { signature }), ...details };
    step.events.event('agent:thinking', data, links);
  } else if (isToolCall(fields)) {
    mapToolCall(step, fields, links);
  } else {
    mapOtherBlock(step, 'agent', block, links);
  }
}

/** Keeps a block of an unknown type as an event of an unknown type. */
export function mapOtherBlock(
  step: MappingStep,
  category: 'agent' | 'user',
  block: JsonValue,
  links: WriterLinks,
): void {
  const fields = asObject(block);
  if (fields === undefined) {
    writeNotice(step, 'a block of a message that is not an object', block);
    return;
  }
  const type = unknownEventType(category, asText(fields.type) ?? '');
  if (isKnownEventType(type) || asName(fields.type) === undefined) {
    writeNotice(step, 'a block of a message without the fields of its type', fields);
  } else {
    step.events.other(type, without(fields, ['type']), links);
  }
}

/** The fields of a block other than the named ones, as the `details` of its event. */
export function blockDetails(block: JsonObject, named: readonly string[]): { details?: JsonObject } {
  const details = withoutNull(block, ['type', ...named]);
  return hasFields(details) ? { details } : {};
}

function isToolCall({ type, id, name }: JsonObject): boolean {
  const isCall = type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use';
  return isCall && asName(id) !== undefined && asName(name) !== undefined;
}

/** What a call of `SendMessage` sends to a teammate. Null if it names no teammate or sends a signal. Older versions use other keys. */
function sentIn({ to, recipient, message, content }: JsonObject): EventData<'agent:message_sent'> | null {
  const name = asName(to ?? recipient)?.replace(/^@/, '');
  const text = asText(message ?? content);
  if (name === undefined || text === undefined) return null;
  return { text, to: { agent: name === lead ? '' : name } };
}

function mapToolCall(step: MappingStep, block: JsonObject, links: WriterLinks): void {
  const server = asName(block.server_name);
  const name = String(block.name);
  const tool = server === undefined ? name : `mcp__${server}__${name}`;
  const toolCallId = String(block.id);
  const input = asObject(block.input) ?? {};
  const { target, metadata } = describeToolCall(tool, input);
  const reference = step.events.event(
    'agent:tool_call',
    {
      toolCallId,
      tool,
      ...(target === undefined ? {} : { target }),
      ...(block.input !== undefined ? { input: block.input } : {}),
      metadata,
      ...blockDetails(block, ['id', 'name', 'server_name', 'input']),
    },
    links,
  );
  if (links.agentId !== undefined) step.state.answers.delete(links.agentId);
  step.state.calls.add(toolCallId, {
    tool,
    target,
    metadata,
    agentId: links.agentId,
    reference: reference ?? links.messageId,
    time: step.events.time,
    isTimed: step.events.timestamp !== null,
    sends: tool === 'SendMessage' ? sentIn(input) : null,
  });
}

/** The reason for which a tool call was not carried out, and the hook that denied it. */
interface Denial {
  readonly hook: string;
  readonly reason: string;
}

/** The text of a tool result: its text blocks, joined. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  const texts = (asList(content) ?? []).map((block) => asText(asObject(block)?.text));
  return texts.filter((text) => text !== undefined).join('\n');
}

/** The error in one line. The lines after the first may hold output or contents of files (D7). */
function errorLine(text: string, content: JsonValue | undefined): string {
  return firstLine(bare(text)) ?? asText(asObject(content)?.error_code) ?? 'the tool failed';
}

/** The denial that an error reports: by the decision beside the result or, for a hook, by the text. */
function findDenial(text: string, meta: JsonObject | undefined): Denial | undefined {
  const hook = /^(?:Error: )?(PreToolUse:\S+) hook error: ([\s\S]*)$/.exec(bare(text));
  if (hook?.[1] !== undefined && hook[2] !== undefined) return { hook: hook[1], reason: hook[2] };
  const decision = asObject(meta?.permission_decision);
  if (decision?.decision !== 'reject') return undefined;
  return { hook: decision.source === 'hook' ? 'PreToolUse' : 'permission', reason: bare(text) };
}

function bare(text: string): string {
  return /^\s*<tool_use_error>([\s\S]*)<\/tool_use_error>\s*$/.exec(text)?.[1] ?? text;
}

/** Facts about a denial. Without any, permission was refused. */
type KnownDenial = { readonly [Key in keyof Denial]?: Denial[Key] | undefined };

/** Writes the `harness:hook_decision` of a call that was not allowed, unless it is already recorded. */
export function writeDenial(
  step: MappingStep,
  toolCallId: string,
  denial: KnownDenial,
  agentId: string | undefined,
  details?: JsonObject,
): void {
  if (step.state.denied.has(toolCallId)) return;
  step.state.denied.add(toolCallId);
  const cause = step.state.calls.get(toolCallId)?.reference;
  const data = withoutUndefined({ ...denialData(toolCallId, denial, cause), details });
  step.events.derived(`${toolCallId}:denied`, 'harness:hook_decision', data, { agentId, cause });
}

export function denialData(
  toolCallId: string,
  { hook, reason }: KnownDenial,
  /** The call that was denied. */
  subject: string | undefined,
): EventData<'harness:hook_decision'> {
  const on = 'tool_call';
  return withoutUndefined({ hook: hook ?? 'permission', on, decision: 'deny', reason, toolCallId, subject });
}

/** Facts about a result in a user message, other than its block. */
interface ResultContext {
  readonly meta?: JsonObject | undefined;
  /** `tool_use_result`: the result as the tool returned it. */
  readonly output?: JsonValue | undefined;
}

/** Whether a block is the result of a tool call: of the harness, of the API's tools or of an MCP server. */
export function isToolResult(block: JsonValue): block is JsonObject {
  const fields = asObject(block);
  const type = asText(fields?.type) ?? '';
  const isResult = type === 'tool_result' || type.endsWith('_tool_result');
  return isResult && asName(fields?.tool_use_id) !== undefined;
}

/** Writes `agent:tool_result`, and before it the `harness:hook_decision` of a call that was not allowed. */
export function mapToolResult(
  step: MappingStep,
  block: JsonObject,
  links: WriterLinks,
  { meta, output }: ResultContext = {},
): void {
  const toolCallId = String(block.tool_use_id);
  const call = step.state.calls.get(toolCallId);
  step.state.calls.answered(toolCallId);
  const tool = call?.tool ?? 'unknown';
  const text = textOf(block.content);
  const isError = block.is_error === true || isErrorContent(block.content);
  const denial = isError ? findDenial(text, meta) : undefined;
  if (denial !== undefined) writeDenial(step, toolCallId, denial, links.agentId);
  const found = describeToolReturn(tool, {
    output: asObject(output),
    content: block.content,
    text,
    isError,
  });
  // A teammate works on, and only its own file names its agent.
  const isSpawned = asObject(output)?.status === spawned;
  const agent = isSpawned ? undefined : followSubAgent(step, toolCallId, asObject(output));
  const {
    metadata: known = {},
    reported = {},
    links: outcome = {},
  } = step.state.outcomes.get(toolCallId) ?? {};
  step.state.outcomes.delete(toolCallId);
  const answer: AnswerLinks =
    agent === undefined || isError || asObject(output)?.status === 'async_launched'
      ? {}
      : step.linksToReport(agent, asObject(output), text);
  const data = withoutUndefined({
    toolCallId,
    tool,
    target: call?.target,
    status: isError ? ('error' as const) : ('completed' as const),
    // Where the call has no time, an agent's answer may still say how long it worked.
    durationMs: durationOf(step, call) ?? asAmount(asObject(output)?.totalDurationMs),
    error: isError ? errorLine(text, block.content) : undefined,
    output: block.content,
    ...reported,
    metadata: {
      ...call?.metadata,
      ...found,
      ...(agent === undefined ? {} : { agentId: agent.id }),
      ...definedOnly({ outputFile: outputFileOf(text, asObject(output)) }),
      ...factsOfWork(asObject(output)),
      ...known,
    },
  });
  const details = {
    ...blockDetails(block, ['tool_use_id', 'is_error', 'content']).details,
    ...withoutNull({ ...meta, id: undefined }),
  };
  const result = step.events.event('agent:tool_result', withDetails(data, details), {
    ...links,
    ...answer,
    ...outcome,
  });
  const wasSent = call?.sends != null && !isError && asObject(output)?.success !== false;
  if (wasSent && result !== undefined)
    step.events.derived(asEventId(`${result}:sent`), 'agent:message_sent', call.sends, {
      agentId: links.agentId,
      cause: call.reference,
    });
}

/** What a tool reports of the work: what it did with git, and whether a person changed an edit before it was made. */
function factsOfWork({ gitOperation, userModified }: JsonObject = {}): JsonObject {
  return {
    ...(asObject(gitOperation) === undefined ? {} : { gitOperation: gitOperation as JsonObject }),
    ...(userModified === true ? { userModified } : {}),
  };
}

/** The name of the file with the whole output, if the output is too long for the transcript. */
function outputFileOf(text: string, output: JsonObject | undefined): string | undefined {
  const inText = text.startsWith('<persisted-output>')
    ? /saved to: ([^\n]+)/.exec(text.slice(0, 2_000))?.[1]?.trim()
    : undefined;
  return (asName(output?.persistedOutputPath) ?? inText)?.split(/[\\/]/).at(-1);
}

function durationOf(step: MappingStep, call: ToolCallRecord | undefined): number | undefined {
  if (call === undefined || !call.isTimed || step.events.timestamp === null) return undefined;
  // The times come from the clocks of several hosts, so a result can seem older than its call.
  return Math.max(0, step.events.time - call.time);
}

/** Joins a sub-agent's name with its call, and ends its last message if the result says that the agent has ended. */
function followSubAgent(
  step: MappingStep,
  toolCallId: string,
  output: JsonObject | undefined,
): SubAgent | undefined {
  const name = asName(output?.agentId);
  const { agents, inferences } = step.state;
  const agent = name === undefined ? agents.find(undefined, toolCallId) : agents.resolve(name, toolCallId);
  if (agent === undefined) return undefined;
  if (output?.status !== 'async_launched') inferences.end(agent);
  step.writeInferences();
  // A link that only a file beside the records states may come later, and the event of the result stays as it is.
  return name === undefined && agent.isLinked === true ? undefined : agent;
}

function isErrorContent(content: JsonValue | undefined): boolean {
  return (asText(asObject(content)?.type) ?? '').endsWith('_error');
}

/** The state of a teammate in the result of the call that started it. The result names the teammate, and not its agent. */
export const spawned = 'teammate_spawned';

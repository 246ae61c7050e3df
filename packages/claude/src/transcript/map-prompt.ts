import { definedOnly, type JsonValue } from '@hansard/events';
import { type AnswerLinks, linksToAnswer } from '../mapping/answer-links.ts';
import { withDetails } from '../mapping/event-writer.ts';
import type { SubAgent } from '../mapping/sub-agents.ts';
import { asBlocks, blockDetails, mapOtherBlock } from '../messages/map-block.ts';
import { isToolResult, mapToolResult } from '../messages/map-tool-result.ts';
import { originSource, type Source, spokenIn } from '../messages/speakers.ts';
import { asEventId, asId } from '../values/ids.ts';
import { asName, asObject, asText, without } from '../values/json-fields.ts';
import { mapSummary } from './map-compaction.ts';
import { isOfCaller, notifiedTask } from './task-notification.ts';
import type { TranscriptStep } from './transcript-step.ts';

interface PromptLinks {
  readonly agentId: string | undefined;
  readonly messageId: string | undefined;
  readonly cause?: string | undefined;
}

/** Maps input to an agent: results of its tools (`agent:tool_result`) and messages to it (`user:message`). */
export function mapPrompt(step: TranscriptStep): void {
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
  for (const block of blocks) {
    if (texts.length > 0 && textOf(block) !== undefined) continue;
    if (isToolResult(block)) {
      step.transcript.callCheck.answered(step, String(block.tool_use_id));
      mapToolResult(step, block, links, { output });
    } else mapText(step, block, { ...links, cause: causeOf(step, agent) }, sourceOf(step, block, agent));
  }
}

/** Maps a block of a message to an agent, other than a tool result. */
export function mapText(step: TranscriptStep, block: JsonValue, links: PromptLinks, source: Source): void {
  const fields = asObject(block);
  const text = textOf(block);
  if (fields === undefined || text === undefined) {
    if (fields === undefined) step.report('wrong_value', 'A block of a message is not an object.');
    mapOtherBlock(step, 'user', block, links);
    return;
  }
  const { details = {} } = blockDetails(fields, ['text']);
  const { attachment, origin = asObject(attachment)?.origin } = step.message;
  const { members } = step.state;
  for (const said of spokenIn(text, { origin, members, otherwise: source }))
    step.events.event('user:message', withDetails(said, details), { ...links, ...reportLinks(step, text) });
}

/** Links the report of a background sub-agent to the answer that it carries, by the id of the agent in the record. */
function reportLinks(step: TranscriptStep, text: string): AnswerLinks {
  const task = notifiedTask(step.message);
  const agent = task === undefined ? undefined : step.state.agents.find(task.taskId);
  if (agent === undefined || !isOfCaller(step.state, step.message, agent.toolCallId)) return {};
  return linksToAnswer(step.state.answers.get(agent.id), undefined, text);
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

/** The speaker: the origin that the record names, Claude Code if the record says so, or the caller of a sub-agent. */
function sourceOf(step: TranscriptStep, block: JsonValue, agent: SubAgent | undefined): Source {
  const { isMeta, promptSource } = step.message;
  const origin = originSource(step.message.origin);
  if (origin !== undefined && agent === undefined) return origin;
  const text = asText(asObject(block)?.text) ?? '';
  const isSystem = isMeta === true || promptSource === 'system';
  if (isSystem || written.test(text)) return { kind: 'system' };
  if (agent === undefined) return { kind: 'user' };
  const caller = step.state.calls.get(agent.toolCallId)?.agentId;
  return { kind: 'agent', ...definedOnly({ agentId: caller }) };
}

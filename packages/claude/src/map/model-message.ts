import type { JsonObject, JsonValue } from '@hansard/events';
import { asName, asObject, asText, without, withoutUndefined } from '../lines/json-fields.ts';
import { asBlocks, blockDetails, isToolResult, mapAssistantBlock, mapToolResult } from './blocks.ts';
import { asId } from './ids.ts';
import { inferenceIdOf, isLastLine, otherMessageFields } from './inferences.ts';
import type { SubAgent } from './sub-agents.ts';
import type { TranscriptStep } from './transcript-step.ts';
import { isCountable, unreadableUsage } from './usage.ts';

/** The model name that Claude Code gives to texts that no model wrote, such as errors of the API. */
export const noModel = '<synthetic>';

/** Maps a model message, or a part of it: `agent:text`, `agent:thinking`, `agent:tool_call` and, once per message, `agent:inference`. */
export function mapModelMessage(step: TranscriptStep): void {
  const message = asObject(step.message.message) ?? {};
  const blocks = asBlocks(message.content);
  if (blocks === undefined || blocks.length === 0) {
    step.report('wrong_value', 'An assistant record without content; it is kept as a notice.');
    step.notice('an assistant record without content', step.message);
    return;
  }
  const agent = step.agent();
  step.announce(agent);
  step.keepOthers(agent?.id === step.message.agentId ? ['message', 'agentId'] : ['message']);
  const messageId = asId(message.id) ?? (blocks.length > 1 ? asId(step.message.uuid) : undefined);
  const links = { agentId: agent?.id, messageId };
  const isModel = message.model !== noModel;
  // The usage in the progress of an agent is an open call: its own record may have more.
  if (isModel && !step.isFromProgress) hearUsage(step, message, agent);
  else addDetails(step, { message: without(message, ['content']) });
  for (const block of blocks) {
    if (isToolResult(block)) {
      step.transcript.callCheck.answered(step, String(block.tool_use_id));
      mapToolResult(step, block, links);
    } else if (isModel) mapBlock(step, block, links);
    else mapNotice(step, block, links);
  }
  if (!isModel || !isLastLine(asText(message.stop_reason), blocks)) return;
  step.state.inferences.end(agent);
  step.writeInferences();
}

type Links = { readonly agentId: string | undefined; readonly messageId: string | undefined };

function mapBlock(step: TranscriptStep, block: JsonValue, links: Links): void {
  const fields = asObject(block);
  const toolCallId = asName(fields?.id);
  if (fields !== undefined && toolCallId !== undefined) {
    step.transcript.callCheck.called(step, toolCallId);
  }
  mapAssistantBlock(step, block, links);
}

/** Maps a text that Claude Code itself put into the conversation. */
function mapNotice(step: TranscriptStep, block: JsonValue, links: Links): void {
  const fields = asObject(block) ?? {};
  const text = fields.type === 'text' ? asText(fields.text) : undefined;
  if (text === undefined) mapAssistantBlock(step, block, links);
  else {
    const data = { text, source: { kind: 'system' as const }, ...blockDetails(fields, ['text']) };
    step.events.event('user:message', data, links);
  }
}

/** Notes the usage of the message, and writes the usage of messages that are over. */
function hearUsage(step: TranscriptStep, message: JsonObject, agent: SubAgent | undefined): void {
  const messageId = asId(message.id);
  const model = asText(message.model);
  const usage = asObject(message.usage);
  const stopReason = asText(message.stop_reason);
  const details = otherMessageFields(message);
  const problem = unreadableUsage(message.usage);
  if (problem !== null) step.report('usage_unreadable', problem);
  if (model !== undefined && agent === undefined) writeInit(step, model);
  if (!isCountable(usage)) {
    addDetails(step, withoutUndefined({ model, usage, stop_reason: stopReason, ...details }));
  } else if (messageId !== undefined && step.state.ids.has(inferenceIdOf(messageId) ?? '')) {
    hearAgain(step, messageId, { model, usage, timestamp: step.events.timestamp }, agent);
  } else {
    const news = { model, usage, stopReason, details, timestamp: step.events.timestamp };
    step.state.inferences.hear(agent, messageId, step.recordId, news);
  }
  step.writeInferences();
}

/** Counts a later line of a message that was counted before: the last line of a message has its usage. */
function hearAgain(
  step: TranscriptStep,
  messageId: string,
  news: { readonly model: string | undefined; readonly usage: JsonObject; readonly timestamp: string | null },
  agent: SubAgent | undefined,
): void {
  addDetails(step, { usage: news.usage });
  const { inferences, horizon } = step.state;
  if (inferences.isContinued(agent, messageId, news.usage)) return;
  const problem = inferences.hearAgain(agent, messageId, news);
  if (problem === 'unknown') horizon.missed();
  if (problem === null) return;
  const why = problem === 'less' ? 'with a smaller usage' : 'far behind its other records';
  step.report(
    'usage_again',
    `The message ${messageId} continues ${why} after it was counted: its usage is kept with this record and does not count again.`,
  );
}

/** Writes the `session:init` of a session with its first model message. */
function writeInit(step: TranscriptStep, model: string): void {
  const { conversation, begun } = step.transcript;
  if (conversation === undefined || begun.has(conversation)) return;
  begun.add(conversation);
  const cwd = asText(step.message.cwd);
  const id = asId(`${conversation}:init`);
  step.events.derived(id, 'session:init', withoutUndefined({ model, sessionId: conversation, cwd }), {});
}

function addDetails(step: TranscriptStep, more: JsonObject): void {
  step.events.details = { ...step.events.details, ...more };
}

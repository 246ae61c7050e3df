import type { EventType, JsonObject } from '@hansard/events';
import { asBlocks } from '../messages/map-block.ts';
import { originSource } from '../messages/speakers.ts';
import { asId } from '../values/ids.ts';
import { asName, asObject, without } from '../values/json-fields.ts';
import { mapText } from './map-prompt.ts';
import { mapOther, writeAs } from './map-system-record.ts';
import type { TranscriptStep } from './transcript-step.ts';

const progressTypes: ReadonlyMap<string, EventType> = new Map([
  ['hook_progress', 'system:hook_progress'],
  ['agent_progress', 'system:task_progress'],
  ['waiting_for_task', 'system:task_progress'],
]);

/** Progress of a hook, a sub-agent or a tool. */
export function mapProgress(step: TranscriptStep): void {
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
  writeAs(step, progressTypes.get(kind) ?? 'system:tool_progress', step.others());
}

/** An attachment to the conversation: an answer of a hook, a queued prompt, or other input to the model. */
export function mapAttachment(step: TranscriptStep): void {
  const attachment = asObject(step.message.attachment);
  const kind = asName(attachment?.type) ?? '';
  endAnswer(step, attachment);
  if (attachment === undefined) mapOther(step);
  else if (kind === 'queued_command' && asBlocks(attachment.prompt) !== undefined)
    mapQueuedPrompt(step, attachment);
  else writeAs(step, kind.startsWith('hook_') ? 'system:hook_response' : 'system:attachment', step.others());
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
  const source = originSource(attachment.origin) ?? { kind: isNotice ? 'system' : 'user' };
  for (const block of blocks) mapText(step, block, { agentId: agent?.id, messageId }, source);
}

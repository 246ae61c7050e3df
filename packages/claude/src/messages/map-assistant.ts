import { isLastLine, otherMessageFields } from '../mapping/inferences.ts';
import type { MappingStep } from '../mapping/mapping-step.ts';
import { fieldsOfAgent, type SubAgent } from '../mapping/sub-agents.ts';
import { usageOf } from '../mapping/usage-of.ts';
import { writeNotice } from '../mapping/write-notice.ts';
import { asId } from '../values/ids.ts';
import { asObject, asText, withoutUndefined } from '../values/json-fields.ts';
import { asBlocks, mapAssistantBlock } from './map-block.ts';
import { isToolResult, mapToolResult } from './map-tool-result.ts';

/** Maps a model message, or one block of it: `agent:text`, `agent:thinking`, `agent:tool_call` and, once, `agent:inference`. */
export function mapAssistant(step: MappingStep): void {
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
    const time = step.events.time;
    const news = { model, usage, stopReason, details, time };
    step.state.inferences.hear(agent, messageId, step.recordId, news);
  } else {
    const unused = withoutUndefined({ model, usage, stop_reason: stopReason, ...details });
    step.events.details = { ...step.events.details, ...unused };
  }
  step.writeInferences();
  step.announce(agent, model);
  return messageId;
}

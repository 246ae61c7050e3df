import { definedOnly, type JsonValue } from '@hansard/events';
import { withDetails } from '../mapping/event-writer.ts';
import type { MappingStep } from '../mapping/mapping-step.ts';
import { fieldsOfAgent, type SubAgent } from '../mapping/sub-agents.ts';
import { writeNotice } from '../mapping/write-notice.ts';
import { asId } from '../values/ids.ts';
import { asList, asName, asObject, asText } from '../values/json-fields.ts';
import { asBlocks, blockDetails, mapOtherBlock } from './map-block.ts';
import { isToolResult, mapToolResult } from './map-tool-result.ts';
import { originSource, type Source, spokenIn } from './speakers.ts';

/** Maps input to an agent: results of its tools (`agent:tool_result`) and messages to it (`user:message`). */
export function mapUser(step: MappingStep): void {
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
  const links = { agentId: agent?.id, messageId: blocks.length > 1 ? asId(step.message.uuid) : undefined };
  for (const block of blocks) {
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

/** Maps a message that the boundary of a compaction names as its summary. False: it is another message. */
function mapSummary(step: MappingStep, blocks: readonly JsonValue[]): boolean {
  const compaction = step.state.compactions.get(asName(step.message.uuid) ?? '');
  const texts = blocks.map((block) => asText(asObject(block)?.text));
  if (compaction === undefined || !texts.every((text) => text !== undefined)) return false;
  const { trigger, keptFrom, cause } = compaction;
  step.keepOthers(['message']);
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
  const otherwise = sourceOf(step, agent);
  const { details } = blockDetails(fields, ['text']);
  for (const said of spokenIn(text, { origin, otherwise, members: step.state.members }))
    step.events.event('user:message', withDetails(said, details ?? {}), links);
}

/** The speaker: for a sub-agent the agent that called it; otherwise the origin that the message names, or the user. */
function sourceOf(step: MappingStep, agent: SubAgent | undefined): Source {
  const { isSynthetic } = step.message;
  const source = originSource(step.message.origin);
  if (isSynthetic === true) return { kind: source?.kind === 'agent' ? 'agent' : 'system' };
  if (agent === undefined || (source !== undefined && source.kind !== 'agent'))
    return source ?? { kind: 'user' };
  const caller = step.state.calls.get(agent.toolCallId)?.agentId;
  return { kind: 'agent', ...definedOnly({ agentId: caller }) };
}

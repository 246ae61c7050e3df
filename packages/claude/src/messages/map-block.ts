import type { JsonObject, JsonValue } from '@hansard/events';
import type { WriterLinks } from '../mapping/event-writer.ts';
import type { MappingStep } from '../mapping/mapping-step.ts';
import { writeNotice } from '../mapping/write-notice.ts';
import { describeToolCall } from '../tools/tool-metadata.ts';
import { isKnownEventType, unknownEventType } from '../values/event-type.ts';
import { asList, asName, asObject, asText, hasFields, without, withoutNull } from '../values/json-fields.ts';

/** The content of a message as blocks. A plain string is one text block. */
export function asBlocks(content: JsonValue | undefined): JsonValue[] | undefined {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
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

function mapToolCall(step: MappingStep, block: JsonObject, links: WriterLinks): void {
  const server = asName(block.server_name);
  const name = String(block.name);
  const tool = server === undefined ? name : `mcp__${server}__${name}`;
  const toolCallId = String(block.id);
  const { target, metadata } = describeToolCall(tool, asObject(block.input) ?? {});
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
  });
}

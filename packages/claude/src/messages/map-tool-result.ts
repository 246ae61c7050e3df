import type { JsonObject, JsonValue } from '@hansard/events';
import { type AnswerLinks, linksToAnswer } from '../mapping/answer-links.ts';
import { type WriterLinks, withDetails } from '../mapping/event-writer.ts';
import type { MappingStep } from '../mapping/mapping-step.ts';
import type { SubAgent } from '../mapping/sub-agents.ts';
import type { ToolCallRecord } from '../tools/tool-calls.ts';
import { errorLine, findDenial, textOf } from '../tools/tool-failure.ts';
import { describeToolReturn } from '../tools/tool-metadata.ts';
import { asName, asObject, asText, withoutNull, withoutUndefined } from '../values/json-fields.ts';
import { blockDetails } from './map-block.ts';
import { writeDenial } from './write-denial.ts';

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
  const agent = followSubAgent(step, toolCallId, asObject(output));
  const { metadata: known, ...outcome } = step.state.outcomes.get(toolCallId) ?? { metadata: {} };
  step.state.outcomes.delete(toolCallId);
  const answer: AnswerLinks =
    agent === undefined || isError || asObject(output)?.status === 'async_launched'
      ? {}
      : linksToAnswer(step.state.answers.get(agent.id), asObject(output), text);
  const data = withoutUndefined({
    toolCallId,
    tool,
    target: call?.target,
    status: isError ? ('error' as const) : ('completed' as const),
    durationMs: durationOf(step, call),
    error: isError ? errorLine(text, block.content) : undefined,
    output: block.content,
    metadata: {
      ...call?.metadata,
      ...found,
      ...(agent === undefined ? {} : { agentId: agent.id }),
      ...known,
    },
  });
  const details = {
    ...blockDetails(block, ['tool_use_id', 'is_error', 'content']).details,
    ...withoutNull({ ...meta, id: undefined }),
  };
  step.events.event('agent:tool_result', withDetails(data, details), { ...links, ...answer, ...outcome });
}

function durationOf(step: MappingStep, call: ToolCallRecord | undefined): number | undefined {
  // The times come from the clocks of several hosts, so a result can seem older than its call.
  return call === undefined ? undefined : Math.max(0, step.events.time - call.time);
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
  return agent;
}

function isErrorContent(content: JsonValue | undefined): boolean {
  return (asText(asObject(content)?.type) ?? '').endsWith('_error');
}

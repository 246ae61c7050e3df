import type { JsonObject } from '@hansard/events';
import type { MappingState } from '../mapping/mapping-state.ts';
import { asBlocks } from '../messages/map-block.ts';
import { asId } from '../values/ids.ts';
import { asName, asObject, asText } from '../values/json-fields.ts';

/** The ids at the start of a notification that Claude Code writes when a background task stops. */
const heading =
  /^<task-notification>\s*<task-id>([^<\s]+)<\/task-id>(?:\s*<tool-use-id>([^<\s]+)<\/tool-use-id>)?/;

/** A background task that a record says has stopped. For a sub-agent, the id is that of the agent. */
export interface NotifiedTask {
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

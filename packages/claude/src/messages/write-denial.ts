import type { EventData, JsonObject } from '@hansard/events';
import type { MappingStep } from '../mapping/mapping-step.ts';
import type { Denial } from '../tools/tool-failure.ts';
import { withoutUndefined } from '../values/json-fields.ts';

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

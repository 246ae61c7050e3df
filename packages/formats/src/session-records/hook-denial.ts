import { type CapturedEvent, definedOnly } from '@hansard/events';
import type { SeenCall, SessionEntry, SessionReading } from './session-reading.ts';

/** The text by which both dialects report to an agent that a hook denied its call. */
const denial = /^Error: Action blocked by hook '([^']+)': (.*)$/s;

/**
 * The decision that a tool result reports, if any. Its causes are the call, and the last utterance between call and
 * result of an agent with the name of the hook.
 */
export function hookDenial(
  { names, timestamp, agentsByName, lastUtterances }: SessionReading,
  { id, agentId }: SessionEntry,
  text: string,
  call: SeenCall | undefined,
): CapturedEvent | null {
  const [, hook, reason] = denial.exec(text) ?? [];
  if (hook === undefined || reason === undefined) return null;
  const hookAgent = agentsByName.get(hook);
  const said = hookAgent === undefined ? undefined : lastUtterances.get(hookAgent);
  const isVerdict = call !== undefined && said !== undefined && said.line > call.line;
  return {
    id: names.newId(`${id}:hook`),
    type: 'harness:hook_decision',
    timestamp,
    ...definedOnly({ agentId }),
    ...(call === undefined ? {} : { cause: isVerdict ? [call.eventId, said.id] : call.eventId }),
    data: {
      hook,
      on: 'tool_call',
      decision: 'deny',
      reason,
      ...definedOnly({ toolCallId: call?.toolCallId }),
      // It has no record of its own.
      record: null,
    },
  };
}

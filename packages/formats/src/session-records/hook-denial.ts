import { type CapturedEvent, definedOnly } from '@hansard/events';
import type { SeenCall, SessionEntry, SessionReading } from './session-reading.ts';

/** The text by which both dialects report to an agent that a hook denied its call. */
const denial = /^Error: Action blocked by hook '([^']+)': (.*)$/s;

/**
 * The decision that a tool result reports, if any. Its causes are the call, and the verdict: what the agent with the name
 * of the hook said between call and result. It has no verdict if several agents have the name or several things were said.
 */
export function hookDenial(
  { names, timestamp, agentsByName, utterances }: SessionReading,
  { id, agentId }: SessionEntry,
  text: string,
  call: SeenCall | undefined,
): CapturedEvent | null {
  const [, hook, reason] = denial.exec(text) ?? [];
  if (hook === undefined || reason === undefined) return null;
  const [hookAgent, ...namesakes] = agentsByName.get(hook) ?? [];
  const ofHook = hookAgent === undefined || namesakes.length > 0 ? [] : (utterances.get(hookAgent) ?? []);
  const [earlier, last] = [ofHook.at(-2), ofHook.at(-1)];
  const isSinceCall = (utterance: typeof last) => call !== undefined && (utterance?.line ?? 0) > call.line;
  const verdict = isSinceCall(last) && !isSinceCall(earlier) ? last : undefined;
  return {
    id: names.newId(`${id}:hook`),
    type: 'harness:hook_decision',
    timestamp,
    ...definedOnly({ agentId }),
    ...(call === undefined
      ? {}
      : { cause: verdict === undefined ? call.eventId : [call.eventId, verdict.id] }),
    data: {
      hook,
      on: 'tool_call',
      decision: 'deny',
      reason,
      ...definedOnly({ toolCallId: call?.toolCallId, subject: call?.eventId }),
      // It has no record of its own.
      record: null,
    },
  };
}

import type { EventLinks, JsonValue, NewEvent } from '@hansard/events';
import type { AgentInfo, HookDecision, RunningToolCall, ToolOutcome } from '@hansard/provider';
import { askHooks, type HookAsking, type HookDenial, type HookVerdict } from './ask-hooks.ts';

/** A tool call that the hooks are asked about, before it is made and when it has a result. */
export interface HookedCall {
  readonly dispatchId: string;
  readonly agentId?: string | undefined;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
  /** Every agent of the session at this time. */
  agents(): readonly AgentInfo[];
  /** See `ToolCallQuestion.running`. */
  running(): readonly RunningToolCall[];
  /** The event of the call, if it is known. */
  readonly callId?: string | undefined;
}

/** May the call be made, and with which input? Rejects only when the signal aborts. */
export function askAboutCall(
  asking: HookAsking,
  call: HookedCall,
  { canAsk = false }: { readonly canAsk?: boolean } = {},
): Promise<HookVerdict<JsonValue>> {
  return askHooks<JsonValue>(asking, {
    value: call.input,
    ask: (input) => ({
      on: 'tool_call',
      ...identityOf(call),
      input,
      agents: call.agents(),
      running: call.running(),
    }),
    alteredBy: ({ input }) => input,
    made: (input) => ({ input }),
    canAsk,
    data: dataOf(call),
    links: linksOf(call),
  });
}

/**
 * May the agent receive this result, and in which words? `previous` is the last decision on the call. A denied result
 * becomes an error that says so. Rejects only when the signal aborts.
 */
export async function askAboutResult(
  asking: HookAsking,
  call: HookedCall,
  outcome: ToolOutcome,
  previous: string | null,
): Promise<{
  readonly outcome: ToolOutcome;
  /** The last decision on the call or its result. */
  readonly via: string | null;
  /** As `HookVerdict.events`. */
  readonly events: readonly NewEvent[];
}> {
  const { status, text, madeFrom = [] } = outcome;
  const { input } = call;
  const { events, value, denied, via } = await askHooks<string>(asking, {
    value: text,
    ask: (asked) => ({
      on: 'tool_result',
      ...identityOf(call),
      input,
      status,
      text: asked,
      agents: call.agents(),
    }),
    alteredBy: textOfDecision,
    made: (made) => ({ text: made }),
    data: { ...dataOf(call), ...(madeFrom.length === 0 ? {} : { madeFrom: [...madeFrom] }) },
    given: { given: text },
    previous,
    links: linksOf(call),
  });
  if (denied === null) return { outcome: { ...outcome, text: value }, via, events };
  // The agent receives nothing of what the result was made from.
  const { madeFrom: _withheld, ...kept } = outcome;
  return { outcome: { ...kept, status: 'error', text: withheldText(denied) }, via, events };
}

/** The text that an alteration gives; undefined: it gives none. */
export function textOfDecision({ text }: Extract<HookDecision, { decision: 'alter' }>): string | undefined {
  return typeof text === 'string' || (text as unknown) instanceof String ? String(text) : undefined;
}

/** The text that an agent gets in place of a result that a hook denied. */
function withheldText({ hook, reason }: HookDenial): string {
  return `Error: Result withheld by hook '${hook}': ${reason}`;
}

function identityOf({ dispatchId, agentId, toolCallId, tool }: HookedCall) {
  return { dispatchId, ...(agentId === undefined ? {} : { agentId }), toolCallId, tool };
}

function dataOf({ toolCallId, callId }: HookedCall) {
  return { toolCallId, ...(callId === undefined ? {} : { subject: callId }) };
}

function linksOf({ agentId, callId }: HookedCall): EventLinks {
  return {
    ...(agentId === undefined ? {} : { agentId }),
    ...(callId === undefined ? {} : { cause: callId }),
  };
}

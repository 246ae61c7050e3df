import { askHooks, blockedText, type HookVerdict, useTool } from '@hansard/dispatch';
import {
  type CapturedEvent,
  isEventOf,
  type JsonObject,
  type JsonValue,
  type NewEvent,
} from '@hansard/events';
import type { ModelToolCall, ToolOutcome } from '@hansard/provider';
import { takeApart } from '@hansard/views';
import { type AgentRecord, inWords } from '../agents/agent-record.ts';
import type { Answer } from './ask-model.ts';
import { interruption } from './interruption.ts';
import { type Respond, ToolCallHost } from './tool-call-host.ts';
import type { TurnResources } from './turn-resources.ts';

/** The result of a call before it is recorded. */
interface CallResult {
  readonly outcome: ToolOutcome;
  /** The hook decision that stopped or altered it. */
  readonly via: string | null;
  readonly durationMs?: number;
  /** Events that are recorded with the result. */
  readonly events: readonly NewEvent[];
}

/** Makes the tool calls of an answer, one after the other; each has a durable result before the next one begins. */
export async function runToolCalls(
  turn: TurnResources,
  record: AgentRecord,
  answer: Answer,
  respond: Respond,
): Promise<void> {
  for (const call of answer.toolCalls) {
    const result = record.isTerminated
      ? refused(`Error: not called: the agent ${inWords(record)} was terminated.`)
      : await makeCall(turn, record, call, eventOf(call, answer), respond);
    await turn.log.append([...result.events, ...resultEvents(turn, record, call, result)]);
  }
}

/** Gives every tool call of an answer an error as its result, without making it. */
export async function refuseToolCalls(
  turn: TurnResources,
  record: AgentRecord,
  { toolCalls }: Answer,
  text: string,
): Promise<void> {
  const result = refused(text);
  await turn.log.append(toolCalls.flatMap((call) => resultEvents(turn, record, call, result)));
}

async function makeCall(
  turn: TurnResources,
  record: AgentRecord,
  call: ModelToolCall,
  callId: string,
  respond: Respond,
): Promise<CallResult> {
  try {
    const { events, denied, via, value } = await askAbout(turn, record, call, callId);
    if (denied !== null) {
      return { outcome: failed(blockedText(denied)), via, events };
    }
    // Durable before the tool acts on it.
    if (events.length > 0) await turn.log.append(events);
    const started = turn.clock.now();
    const outcome = await callTool(turn, record, { ...call, input: value }, callId, respond);
    return { outcome, via, events: [], durationMs: Math.max(0, turn.clock.now() - started) };
  } catch (error) {
    if (!turn.signal.aborted || !turn.log.isOpen) throw error;
    return refused(interruption);
  }
}

function askAbout(
  turn: TurnResources,
  { agentId }: AgentRecord,
  { toolCallId, tool, input }: ModelToolCall,
  callId: string,
): Promise<HookVerdict<JsonValue>> {
  const { dispatch, registry, hooks, signal, log } = turn;
  const { dispatchId } = dispatch;
  const what = { on: 'tool_call', dispatchId, agentId, toolCallId, tool } as const;
  return askHooks<JsonValue>(
    { hooks, signal, createId: log.createId },
    {
      value: input,
      ask: (value) => ({ ...what, input: value, agents: registry.list() }),
      alteredBy: (decision) => decision.input,
      data: { toolCallId },
      // Nothing else in the log shows the altered input.
      alterationData: (value) => ({ input: value }),
      links: { agentId, cause: callId },
    },
  );
}

/** Rejects only when the session is stopped or its log failed. An error of the tool is its result. */
async function callTool(
  turn: TurnResources,
  record: AgentRecord,
  call: ModelToolCall,
  callId: string,
  respond: Respond,
): Promise<ToolOutcome> {
  const { dispatch, toolbox, signal, log } = turn;
  const agents = new ToolCallHost(turn, record, callId, respond);
  const { agentId } = record;
  try {
    const made = { ...dispatch, agentId, ...call, signal, agents };
    const outcome = await useTool(toolbox, made, (given) =>
      log.check(resultEvents(turn, record, call, { outcome: given, via: null, events: [] })),
    );
    log.assertOpen();
    return outcome;
  } finally {
    agents.end();
  }
}

function resultEvents(
  { log }: TurnResources,
  { agentId }: AgentRecord,
  { toolCallId, tool }: ModelToolCall,
  { outcome, via, durationMs }: CallResult,
): NewEvent[] {
  const isError = outcome.status === 'error';
  const message = { role: 'tool', content: outcome.text, toolCallId, tool, isError } as const;
  const links = { ...madeFrom(outcome), ...(via === null ? {} : { via }) };
  const more: JsonObject = {
    metadata: outcome.metadata ?? {},
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(isError ? { error: outcome.text } : {}),
  };
  return takeApart(message, { id: log.createId(), agentId, ...links }).map((event) => ({
    ...event,
    data: { ...event.data, ...more },
  }));
}

/** The links of a result to the utterances from which it is made (S4). */
function madeFrom({ madeFrom = [] }: ToolOutcome) {
  if (!Array.isArray(madeFrom)) throw new TypeError('madeFrom must be a list of ids.');
  const [first, ...more] = new Set<string>(madeFrom);
  if (first === undefined) return {};
  return more.length === 0 ? { substance: first } : { cause: [first, ...more] };
}

function refused(text: string): CallResult {
  return { outcome: failed(text), via: null, events: [] };
}

function failed(text: string): ToolOutcome {
  return { status: 'error', text };
}

function eventOf({ toolCallId }: ModelToolCall, { events, messageId }: Answer): string {
  const isIt = (event: CapturedEvent) =>
    isEventOf(event, 'agent:tool_call') && event.data.toolCallId === toolCallId;
  return events.find(isIt)?.id ?? messageId;
}

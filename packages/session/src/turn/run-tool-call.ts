import { isDeepStrictEqual } from 'node:util';
import {
  askAboutCall,
  askAboutResult,
  blockedText,
  callOver,
  type HookedCall,
  type HookVerdict,
  useTool,
} from '@hansard/dispatch';
import {
  type CapturedEvent,
  type EventData,
  isEventOf,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import {
  type AgentHost,
  type AgentInfo,
  type Delivery,
  type DeliveryOutcome,
  LoggedString,
  type ModelToolCall,
  type NewAgent,
  type ToolOutcome,
} from '@hansard/provider';
import { type AgentRecord, inWords, type OpenCall } from '../agents/agent-record.ts';
import { createAgent, terminateAgent } from '../agents/create-agent.ts';
import { checkedText, substanceOf, textOf } from '../agents/given-transcript.ts';
import { logOutput } from '../log/log-transcript-entry.ts';
import type { Answer } from './ask-model.ts';
import { deliver } from './deliver.ts';
import { interruption } from './interruption.ts';
import { eventOfFailure } from './recorded-failure.ts';
import type { RunningCall } from './running-calls.ts';
import type { TurnResources } from './turn-resources.ts';
import { type CallQuestion, CallSuspended } from './waiting-calls.ts';

/** The result of a call before it is recorded. */
interface CallResult {
  readonly outcome: ToolOutcome;
  /** The hook decision that stopped or altered it. */
  readonly via: string | null;
  readonly durationMs?: number;
  /** The recorded failures of agents that its tool let speak. */
  readonly failures?: readonly string[];
  /** Events that are recorded with the result. */
  readonly events: readonly NewEvent[];
}

/**
 * Makes the tool calls of an answer. At most `parallelToolCalls` of them have no recorded result at any time, and the results are
 * recorded in the order of the calls. A call that fails has an error as its result and does not affect the others.
 */
export async function runToolCalls(
  turn: TurnResources,
  record: AgentRecord,
  answer: Answer,
  respond: Respond,
): Promise<void> {
  const open: { readonly call: ModelToolCall; readonly result: Promise<CallResult> }[] = [];
  try {
    for (const call of answer.toolCalls) {
      if (open.length === turn.parallelToolCalls) await recordFirst();
      const result = resultOf(call);
      // It is awaited in its turn, which may be after it failed.
      result.catch(() => {});
      open.push({ call, result });
    }
    while (open.length > 0) await recordFirst();
  } catch (error) {
    // The log is closed, so the other calls were stopped; none may act after this has failed.
    await Promise.allSettled(open.map(({ result }) => result));
    throw error;
  }

  async function resultOf(call: ModelToolCall): Promise<CallResult> {
    if (turn.watched?.isInterrupted === true)
      return refused('Error: not called: you received a message meanwhile that comes first.');
    return record.isTerminated
      ? refused(`Error: not called: the agent ${inWords(record)} was terminated.`)
      : makeCall(turn, record, call, eventOf(call, answer), respond);
  }

  async function recordFirst(): Promise<void> {
    const [first] = open;
    if (first === undefined) return;
    const result = await first.result;
    open.shift();
    const events = resultEvents(turn, record, first.call, result);
    const appended = await turn.log.append([...result.events, ...events]);
    // The output as it is, which a narrative does not record.
    await turn.watched?.observe(
      appended
        .slice(result.events.length)
        .map((event, index) => ({ ...event, data: events[index]?.data ?? {} })),
    );
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
  const { log, asking, registry, dispatch } = turn;
  const { agentId } = record;
  const { dispatchId } = dispatch;
  const running = turn.running.begin(agentId, call.toolCallId, call.tool);
  const hooked: HookedCall = {
    ...call,
    dispatchId,
    agentId,
    callId,
    agents: () => registry.list(),
    running: () => running.before,
  };
  try {
    const { events, denied, asked, via, value } = await askAboutCall(asking, hooked, { canAsk: true });
    if (denied !== null) return { outcome: failed(blockedText(denied)), via, events };
    const question = questionOf(turn, call, asked, value);
    const allowed = { hooked: { ...hooked, input: value }, via, respond, running };
    if (question === null) {
      // Durable before the tool acts on it.
      if (events.length > 0) await log.append(events);
      return await useAllowed(turn, record, allowed);
    }
    const given = await turn.waiting.ask(agentId, { ...call, callId, input: value }, question, {
      before: events,
      via,
      signal: turn.signal,
    });
    return await finishAnswered(turn, record, allowed, question.kind, given);
  } catch (error) {
    if (error instanceof CallSuspended || !turn.signal.aborted || !log.isOpen) throw error;
    return refused(interruption);
  } finally {
    running.end();
  }
}

/** A call that the hooks allowed. */
interface AllowedCall {
  /** With the input that the hooks and the person allow. */
  readonly hooked: HookedCall;
  readonly via: string | null;
  readonly respond: Respond;
  readonly running: RunningCall;
}

/** Makes a call, and asks the hooks about its result. */
async function useAllowed(
  turn: TurnResources,
  record: AgentRecord,
  { hooked, via, respond, running }: AllowedCall,
): Promise<CallResult> {
  const { clock, asking } = turn;
  const { toolCallId, tool, input, callId = '' } = hooked;
  const started = clock.now();
  const agents = new ToolCallHost(turn, record, { callId, toolCallId, respond, running });
  const { outcome, failures } = await callTool(turn, record, { toolCallId, tool, input }, agents);
  running.end();
  const durationMs = Math.max(0, clock.now() - started);
  const result = await askAboutResult(asking, hooked, outcome, via);
  return { ...result, failures, durationMs };
}

/** What a person is asked before the call is made. Null: nothing. */
function questionOf(
  { toolbox }: TurnResources,
  { tool, input }: ModelToolCall,
  asked: HookVerdict<JsonValue>['asked'],
  allowed: JsonValue,
): CallQuestion | null {
  const waitsFor = toolbox.definitions.find(({ name }) => name === tool)?.waitsFor;
  const altered = isDeepStrictEqual(input, allowed) ? {} : { input: allowed };
  if (waitsFor === 'answer') {
    const { question, choices } = isPlainObject(allowed) ? allowed : {};
    return {
      ...{ kind: 'question', by: tool },
      ...(typeof question === 'string' ? { reason: question } : {}),
      ...(Array.isArray(choices) ? { choices: choices.map(String) } : {}),
      ...altered,
    };
  }
  if (asked !== null) {
    const { choices = null, ...others } = asked;
    return {
      kind: 'approval',
      ...others,
      ...(choices === null ? {} : { choices: [...choices] }),
      ...altered,
    };
  }
  return waitsFor === 'approval' ? { kind: 'approval', by: tool, ...altered } : null;
}

/** The result of a call that a person has answered. A tool is entered only after that is durable. */
async function finishAnswered(
  turn: TurnResources,
  record: AgentRecord,
  allowed: AllowedCall,
  kind: CallQuestion['kind'],
  { decision, answer = '', by, note, input }: EventData<'harness:approval_given'>,
): Promise<CallResult> {
  const { log } = turn;
  const { hooked, via } = allowed;
  const why = note === undefined ? '' : `: ${note}`;
  if (record.isTerminated) return refused(`Error: not called: the agent ${inWords(record)} was terminated.`);
  if (decision === 'refuse') return { outcome: failed(`Error: Refused by ${by}${why}`), via, events: [] };
  if (kind === 'question') return { outcome: { status: 'completed', text: answer }, via, events: [] };
  // It is made when the session is loaded again, or was taken back.
  if (turn.signal.aborted || !isOpen(record, hooked.callId)) throw new CallSuspended();
  const links = { agentId: record.agentId, ...(hooked.callId === undefined ? {} : { cause: hooked.callId }) };
  await log.append([newEvent('harness:call_started', { toolCallId: hooked.toolCallId }, links)]);
  const made = input === undefined ? hooked : { ...hooked, input };
  return useAllowed(turn, record, { ...allowed, hooked: made });
}

/** Whether a call has no result, and no rewind took it back. */
function isOpen({ openCalls }: AgentRecord, callId: string | undefined): boolean {
  return openCalls.some((one) => one.callId === callId);
}

/** Continues a call that waited for a person when the session was loaded, and records its result. */
export async function finishWaitingCall(
  turn: TurnResources,
  record: AgentRecord,
  { callId, toolCallId, tool, input, request }: OpenCall,
  respond: Respond,
): Promise<void> {
  const { agentId } = record;
  if (request === null) return;
  const given = await turn.waiting.wait(agentId, callId);
  const running = turn.running.begin(agentId, toolCallId, tool);
  const asked = request.data.input ?? input;
  const call = { toolCallId, tool, input: asked ?? null };
  const hooked: HookedCall = {
    ...call,
    ...{ dispatchId: turn.dispatch.dispatchId, agentId, callId },
    agents: () => turn.registry.list(),
    running: () => running.before,
  };
  try {
    const allowed = { hooked, via: request.via ?? null, respond, running };
    const result =
      asked === undefined && given.input === undefined
        ? refused(interruption)
        : await finishAnswered(turn, record, allowed, request.data.kind, given);
    const isMade = result.durationMs !== undefined;
    if (!isMade && !isOpen(record, callId)) return;
    await turn.log.append([...result.events, ...resultEvents(turn, record, call, result)]);
  } catch (error) {
    if (!turn.signal.aborted || !turn.log.isOpen) throw error;
    const isEntered = record.openCalls.some((one) => one.callId === callId && one.isStarted);
    if (isEntered) await turn.log.append(resultEvents(turn, record, call, refused(interruption)));
  } finally {
    running.end();
  }
}

/** Rejects only when the session is stopped or its log failed. An error of the tool is its result. */
async function callTool(
  turn: TurnResources,
  record: AgentRecord,
  call: ModelToolCall,
  agents: ToolCallHost,
): Promise<Required<Pick<CallResult, 'outcome' | 'failures'>>> {
  const { dispatch, toolbox, log, watch, watched, clock, toolTimeoutMs } = turn;
  const { agentId } = record;
  const late = toolTimeoutMs === null ? null : new AbortController();
  const signal = late === null ? turn.signal : AbortSignal.any([turn.signal, late.signal]);
  const stopTimer =
    late === null || toolTimeoutMs === null ? () => {} : clock.after(toolTimeoutMs, () => late.abort());
  const ended = watch.running(agentId, call.toolCallId, agents.callId);
  try {
    const dispatches = watch.workers === null ? {} : { dispatches: watch.workers };
    const use = () =>
      useTool({
        toolbox,
        call: { ...dispatch, agentId, ...call, signal, agents, ...dispatches },
        observe: async (values) => {
          const { eventId, recorded } = logOutput(turn, agentId, values, { cause: agents.callId });
          await recorded;
          return eventId;
        },
        check: (outcome) => log.check(resultEvents(turn, record, call, { outcome, via: null, events: [] })),
      });
    const outcome = await (watched === null ? use() : watched.awaiting(use)).catch((error: unknown) => {
      if (late?.signal.aborted !== true || turn.signal.aborted) throw error;
      return failed(`Error: ${call.tool} gave no result within ${toolTimeoutMs} ms.`);
    });
    log.assertOpen();
    return { outcome, failures: [...agents.failures] };
  } finally {
    stopTimer();
    ended();
    agents.end();
  }
}

function resultEvents(
  { log }: TurnResources,
  { agentId }: AgentRecord,
  { toolCallId, tool }: ModelToolCall,
  { outcome, via, durationMs, failures = [] }: CallResult,
): NewEvent[] {
  const isError = outcome.status === 'error';
  const message = { role: 'tool', content: outcome.text, toolCallId, tool, isError } as const;
  const links = { ...causesOf(outcome, failures), ...(via === null ? {} : { via }) };
  const more: JsonObject = {
    metadata: outcome.metadata ?? {},
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(isError ? { error: outcome.text } : {}),
    ...(outcome.changes === undefined ? {} : { changes: outcome.changes.map((change) => ({ ...change })) }),
  };
  const { text, parts = [] } = outcome;
  const output = parts.length === 0 ? text : [...(text === '' ? [] : [{ kind: 'text', text }]), ...parts];
  return takeApart(message, { id: log.createId(), agentId, ...links }).map((event) => ({
    ...event,
    data: { ...event.data, ...more, output } as JsonObject,
  }));
}

/** The links of a result to the utterances from which it is made (S4), and to the failures that brought it about. */
function causesOf({ madeFrom = [] }: ToolOutcome, failures: readonly string[]) {
  if (!Array.isArray(madeFrom)) throw new TypeError('madeFrom must be a list of ids.');
  const [first, ...more] = new Set<string>([...madeFrom, ...failures]);
  if (first === undefined) return {};
  const carriesFirst = more.length === 0 && failures.length === 0;
  return carriesFirst ? { substance: first } : { cause: [first, ...more] };
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

/** Lets an agent speak, because a tool call asks for it: see `AgentHost.respond`. */
type Respond = (agentId: string, callId: string) => Promise<LoggedString>;

interface HostedCall {
  /** The event of the call. */
  readonly callId: string;
  readonly toolCallId: string;
  readonly respond: Respond;
  readonly running: RunningCall;
}

/** What one tool call may do with the agents of its session until the call ends. */
class ToolCallHost implements AgentHost {
  readonly #turn: TurnResources;
  readonly #caller: AgentRecord;
  /** The event of the tool call. */
  readonly callId: string;
  readonly #toolCallId: string;
  readonly #respond: Respond;
  readonly #running: RunningCall;
  readonly #failures: string[] = [];
  #isOver = false;

  constructor(
    turn: TurnResources,
    caller: AgentRecord,
    { callId, toolCallId, respond, running }: HostedCall,
  ) {
    this.#turn = turn;
    this.#caller = caller;
    this.callId = callId;
    this.#toolCallId = toolCallId;
    this.#respond = respond;
    this.#running = running;
  }

  get caller(): AgentInfo {
    return this.#turn.registry.describe(this.#caller);
  }

  listAgents(): readonly AgentInfo[] {
    return this.#turn.registry.list();
  }

  findAgent(nameOrId: string): AgentInfo | null {
    return this.#turn.registry.find(nameOrId, this.#caller.agentId);
  }

  createAgent({ name, systemPrompt, languageModel }: NewAgent): Promise<AgentInfo> {
    return this.#act(async () => {
      const { registry, budgets } = this.#turn;
      budgets.assertMayCreate(this.#caller);
      const itsModel = languageModel ?? registry.modelOf(this.#caller);
      const creation = {
        cause: this.callId,
        ...(name === undefined ? {} : { name }),
        ...(itsModel === null ? {} : { languageModel: itsModel }),
      };
      const created = createAgent(this.#turn, creation, { systemPrompt });
      // It is among the agents of the session before it is durable.
      this.#running.countCreated();
      const agentId = await created;
      return registry.describe(registry.get(agentId));
    });
  }

  terminateAgent(agentId: string): Promise<void> {
    return this.#act(() => terminateAgent(this.#turn, agentId, { cause: this.callId }));
  }

  logPieceOfText(given: string | LoggedString): Promise<LoggedString> {
    const text = textOf(given);
    return this.#act(async () => {
      const { log } = this.#turn;
      const messageId = log.createId();
      const links = { id: messageId, agentId: this.#caller.agentId, cause: this.callId };
      await log.append([newEvent('agent:piece_of_text', { text }, links)]);
      return new LoggedString(text, messageId);
    });
  }

  deliver(agentId: string, { text, substance, from }: Delivery): Promise<DeliveryOutcome> {
    return this.#act(async () => {
      const delivery = {
        from: from ?? this.#caller.agentId,
        to: agentId,
        text: checkedText(text),
        ...substanceOf(text),
        ...(substance === undefined ? {} : { substance }),
        cause: this.callId,
      };
      return deliver(this.#turn, delivery);
    });
  }

  respond(agentId: string): Promise<LoggedString> {
    return this.#act(async () => {
      try {
        const respond = () => this.#respond(agentId, this.callId);
        const { watched } = this.#turn;
        return await (watched === null ? respond() : watched.resting(respond));
      } catch (error) {
        const failure = eventOfFailure(error);
        if (failure !== null) this.#failures.push(failure);
        throw error;
      }
    });
  }

  /** The recorded failures of agents that the tool let speak. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** The call has its result. Later actions of its tool are not recorded. */
  end(): void {
    this.#isOver = true;
  }

  #act<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#isOver ? Promise.reject(callOver(this.#toolCallId)) : action();
    // A tool that does not wait for it must not end the process when it fails.
    done.catch(() => {});
    return done;
  }
}

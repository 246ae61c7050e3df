import { askHooks, decides, describeFailure, textOfDecision, untilAborted } from '@hansard/dispatch';
import {
  type CapturedEvent,
  type Delta,
  type EventData,
  type HansardError,
  isEventOf,
  type JsonObject,
  type NewEvent,
  newEvent,
  type StoredRequest,
  storedRequest,
} from '@hansard/events';
import { freezeDeep } from '@hansard/events/plain';
import { type ContextMessage, contextErrors, takeApart } from '@hansard/prompt';
import {
  LoggedString,
  type ModelFile,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ModelToolCall,
  type ToolDefinition,
} from '@hansard/provider';
import type { ModelContext } from '../agents/agent-memory.ts';
import { type AgentRecord, inWords } from '../agents/agent-record.ts';
import { sessionErrors } from '../session-errors.ts';
import { recordFailure } from './recorded-failure.ts';
import type { TurnResources } from './turn-resources.ts';

/** An answer of a model that is in the log. */
export interface Answer {
  readonly messageId: string;
  readonly toolCalls: readonly ModelToolCall[];
  /** As it was recorded. */
  readonly events: readonly CapturedEvent[];
  /** Its calls with their input, which a narrative does not record. */
  readonly observed: readonly CapturedEvent[];
  /** Why nobody receives it. Null: hooks allowed it, or were not asked. */
  readonly rejection: Rejection | null;
}

/** What a model is asked beside its messages and tools. */
export type AskedOfModel = Pick<ModelRequest, 'toolChoice' | 'outputSchema'>;

/** An answer that a hook rejected. */
interface Rejection {
  readonly hook: string;
  /** Whether the agent is to answer again. */
  readonly retry: boolean;
}

/**
 * Calls an agent's model once. The answer is one append and is durable when this resolves. `askedBy`: the cause of the answer. `rejected`: how many answers to
 * this question hooks rejected. Null: hooks are not asked about the answer.
 * @throws SESSION_MODEL_FAILED or CONTEXT_BUDGET_TOO_SMALL, which is then in the log as `harness:error`;
 * SESSION_AGENT_TERMINATED if the agent was terminated before the answer
 */
export async function askModel(
  turn: TurnResources,
  record: AgentRecord,
  askedBy: string | undefined,
  rejected: number | null,
  asked: AskedOfModel = {},
): Promise<Answer> {
  const { log, registry, clock, signal, retries } = turn;
  const { agentId } = record;
  const { messages, manifest } = await contextFor(turn, agentId);
  const given = { askedBy, rejected, asked, manifest, messages: await withFiles(log, messages) };
  const { attempts, delayMs, fallback, isRetryable } = retries;
  const models = [registry.modelOf(record), ...fallback].flatMap((model) =>
    Array<typeof model>(attempts).fill(model),
  );
  for (let attempt = 1; ; attempt += 1) {
    const model = models[attempt - 1] ?? null;
    try {
      return await askOnce(turn, record, { ...given, model });
    } catch (error) {
      if (!(error instanceof FailedAttempt)) throw error;
      const { cause, paid } = error;
      const next = models[attempt];
      if (next === undefined || !isRetryable(cause)) {
        const failure = modelFailed(record, cause);
        if (paid.length > 0) await log.append(paid);
        await recordFailure(log, agentId, failure);
        throw failure;
      }
      const wait = next === model ? delayMs * 2 ** ((attempt - 1) % attempts) : 0;
      const named = { ...(model === null ? {} : { model }), ...(next === null ? {} : { next }) };
      const data = { ...describeFailure(cause), attempt, ...named, delayMs: wait };
      await log.append([...paid, newEvent('harness:model_retried', data, { agentId })]);
      await untilAborted(signal, () => new Promise<void>((resolve) => clock.after(wait, resolve)));
    }
  }
}

/** A model call that failed. */
class FailedAttempt extends Error {
  /** What it cost, if that is known. */
  readonly paid: readonly CapturedEvent[];

  constructor(cause: unknown, paid: readonly CapturedEvent[]) {
    super('An attempt of a model call failed.', { cause });
    this.paid = paid;
  }
}

interface Attempt {
  readonly askedBy: string | undefined;
  readonly rejected: number | null;
  readonly asked: AskedOfModel;
  readonly manifest: ModelContext['manifest'];
  readonly messages: readonly ModelMessage[];
  readonly model: string | null;
}

/** @throws FailedAttempt; SESSION_BUDGET_SPENT; SESSION_AGENT_TERMINATED */
async function askOnce(
  turn: TurnResources,
  record: AgentRecord,
  { askedBy, rejected, asked, manifest, messages, model }: Attempt,
): Promise<Answer> {
  const { log, registry, clock, signal } = turn;
  const { agentId } = record;
  const messageId = log.createId();
  const held = rejected !== null && turn.asking.hooks.some((hook) => decides(hook, 'utterance')) ? [] : null;
  const end = turn.budgets.begin(record);
  const started = clock.now();
  let response: ModelResponse | null = null;
  let events: readonly CapturedEvent[];
  let toolCalls: readonly ModelToolCall[];
  let rejection: Rejection | null = null;
  let isHeld = false;
  try {
    if (turn.watched !== null)
      turn.watched.said = { messageId, through: manifest.through, isHeld: held !== null, text: '' };
    response = await generate(turn, record, { messageId, messages, held, model, asked });
    // What had been said is recorded as the answer then.
    if (turn.watched?.stopped != null) throw turn.watched.stopped;
    toolCalls = toolCallsOf(response);
    const request = requestOf(response, turn.toolbox.definitions, asked);
    const stored = request.events.filter(({ id }) => !registry.hasRequest(id));
    const answer = answerEvents(response, toolCalls, {
      agentId,
      id: messageId,
      askedBy,
      durationMs: clock.now() - started,
      manifest,
      request: request.named,
    });
    events = log.check(stored.length === 0 ? answer : [...stored, ...answer]);
    if (held !== null && toolCalls.length === 0 && response.text !== '') {
      if (turn.watched?.said != null) turn.watched.said.text = response.text;
      const question = { messageId, through: manifest.through, response, rejected: rejected ?? 0 };
      await log.append([...stored, heldAnswer(events, record)]);
      isHeld = true;
      const checked = await checkAnswer(turn, record, log.check(answer), question);
      // It was recorded as stopped while the last hook decided.
      if (turn.watched?.stopped != null) throw turn.watched.stopped;
      rejection = checked.rejection;
      if (checked.isAsWritten) publishAll(log, held);
      events = log.check(checked.events);
    } else if (held !== null) publishAll(log, held);
    if (turn.watched !== null) turn.watched.said = null;
  } catch (error) {
    if (turn.watched !== null) turn.watched.said = null;
    const durationMs = clock.now() - started;
    const paid = paidCall(turn, response ?? error, { agentId, messageId, durationMs, manifest, model });
    const isOver = isHeld && signal.aborted && turn.watched?.stopped == null && record.held !== null;
    const unchecked = isOver && record.held !== null ? [uncheckedAnswer(record, record.held)] : [];
    if (signal.aborted && log.isOpen && paid.length > 0) await log.append([...unchecked, ...paid]);
    signal.throwIfAborted();
    throw new FailedAttempt(error, paid);
  } finally {
    end();
  }
  if (record.isTerminated) {
    // The answer is discarded; its cost still counts.
    await log.append(events.filter(isOfCall));
    registry.getActive(agentId);
  }
  const appended = await log.append(events);
  return { messageId, toolCalls, events: appended, observed: withInputs(appended, toolCalls), rejection };
}

/** The record of a call whose answer is not recorded, from the answer or from what its error says. Empty: its usage is not known. */
function paidCall(
  { log }: TurnResources,
  source: unknown,
  {
    agentId,
    messageId,
    durationMs,
    manifest,
    model,
  }: Pick<AnswerFields, 'agentId' | 'durationMs' | 'manifest'> & {
    readonly messageId: string;
    readonly model: string | null;
  },
): readonly CapturedEvent[] {
  const { usage, costUsd, model: named = model ?? 'unknown' } = (source ?? {}) as Partial<ModelResponse>;
  if (typeof usage !== 'object') return [];
  const data = {
    ...{ model: named, durationMs: Math.max(0, durationMs), usage },
    ...(costUsd === undefined ? {} : { costUsd }),
    context: structuredClone(manifest) as unknown as JsonObject,
  };
  try {
    return log.check([newEvent('agent:inference', data, { agentId, messageId })]);
  } catch {
    // It states something else than a usage.
    return [];
  }
}

/** What the log has of an answer before hooks are asked about it. */
function heldAnswer(events: readonly CapturedEvent[], { agentId }: AgentRecord): NewEvent {
  const text = events.find((event) => isEventOf(event, 'agent:text'));
  const thinking = events.find((event) => isEventOf(event, 'agent:thinking'))?.data.text;
  const { replay: _, ...call } = events.find(({ type }) => type === 'agent:inference')?.data ?? {};
  const { messageId = text?.id ?? '' } = text ?? {};
  const data = { messageId, text: text?.data.text ?? '', ...(thinking === undefined ? {} : { thinking }) };
  return newEvent('harness:answer_held', { ...data, call }, { agentId });
}

/** An answer whose session ended before hooks had decided: nobody received it, and its agent is to answer again. */
export function uncheckedAnswer(
  { agentId }: AgentRecord,
  { messageId, text, thinking }: EventData<'harness:answer_held'>,
): NewEvent {
  const reason = 'its session ended before it was checked';
  const data = { text, reason, retry: true, ...(thinking === undefined ? {} : { thinking }) };
  return newEvent('agent:rejected', data, { agentId, messageId });
}

function isOfCall({ type }: CapturedEvent): boolean {
  return type === 'agent:inference' || type === 'request:stored';
}

function publishAll(log: TurnResources['log'], deltas: readonly Delta[]): void {
  for (const delta of deltas) log.publish(delta);
}

/**
 * Asks the hooks whether an answer may be said. Returns the events to be recorded: those of the answer with the decisions, of the altered answer, or of an
 * answer that nobody receives. What its provider would get back of the first words is left out then.
 * @throws the reason of the signal
 */
async function checkAnswer(
  { log, registry, asking, dispatch, utteranceTries }: TurnResources,
  { agentId }: AgentRecord,
  answer: readonly CapturedEvent[],
  {
    messageId,
    through,
    response: { text, thinking },
    rejected,
  }: {
    readonly messageId: string;
    readonly through: string | null;
    readonly response: ModelResponse;
    readonly rejected: number;
  },
): Promise<{
  readonly events: readonly NewEvent[];
  readonly rejection: Rejection | null;
  readonly isAsWritten: boolean;
}> {
  const { dispatchId } = dispatch;
  const { events, denied, retries, via, value } = await askHooks(asking, {
    value: text,
    ask: (asked) => ({
      on: 'utterance',
      dispatchId,
      agentId,
      text: asked,
      rejected,
      agents: registry.list(),
    }),
    alteredBy: textOfDecision,
    made: (made) => ({ text: made }),
    data: { subject: messageId },
    given: { given: text },
    links: { agentId },
    causes: through === null ? [] : [through],
    canRetry: rejected + 1 < utteranceTries,
  });
  if (denied === null && via === null)
    return { events: [...events, ...answer], rejection: null, isAsWritten: true };
  const of = { agentId, messageId, ...(via === null ? {} : { via }) };
  const calls = answer.filter(isOfCall).map(withoutReplay);
  if (denied === null) {
    const said = answer
      .filter((event) => !isOfCall(event))
      .map((event): NewEvent => {
        if (event.type === 'agent:text') return { ...event, ...of, data: { text: value } };
        return { ...event, data: { ...event.data, withheld: true } };
      });
    return { events: [...events, ...said, ...calls], rejection: null, isAsWritten: false };
  }
  const { reason, hook } = denied;
  const thought = thinking === undefined ? {} : { thinking: thinking.text };
  const data = { text, ...thought, reason, hook, retry: retries };
  const unsaid = newEvent('agent:rejected', data, { id: log.createId(), ...of });
  const decided = events.map((event) => decidedOn(event, unsaid));
  const rejection = { hook, retry: retries };
  return { events: [...decided, unsaid, ...calls], rejection, isAsWritten: false };
}

function withoutReplay(event: CapturedEvent): CapturedEvent {
  const { replay: _, ...data } = event.data;
  return { ...event, data };
}

/** A decision about an answer that was rejected, which has its text. */
function decidedOn(event: NewEvent, { id = '' }: NewEvent): NewEvent {
  const { given: _, subject, ...data } = event.data;
  return { ...event, data: subject === undefined ? data : { ...data, subject: id } };
}

function withInputs(events: readonly CapturedEvent[], calls: readonly ModelToolCall[]): CapturedEvent[] {
  return events.flatMap((event) => {
    if (!isEventOf(event, 'agent:tool_call')) return [];
    const { toolCallId } = event.data;
    const input = calls.find((call) => call.toolCallId === toolCallId)?.input ?? null;
    return [{ ...event, data: { ...event.data, input } }];
  });
}

/** @throws CONTEXT_BUDGET_TOO_SMALL, which is then in the log as `harness:error` */
async function contextFor(turn: TurnResources, agentId: string): Promise<ModelContext> {
  try {
    return await turn.contextOf(agentId);
  } catch (error) {
    if (contextErrors.is(error)) await recordFailure(turn.log, agentId, error);
    throw error;
  }
}

async function generate(
  resources: TurnResources,
  record: AgentRecord,
  {
    messageId,
    messages,
    held,
    model,
    asked,
  }: {
    readonly messageId: string;
    readonly messages: readonly ModelMessage[];
    /** Null: the default of the provider. */
    readonly model: string | null;
    readonly asked: AskedOfModel;
    /** Takes what is generated, until hooks have decided. Null: it is shown at once. */
    readonly held: Delta[] | null;
  },
): Promise<ModelResponse> {
  const { log, clock, modelTimeoutMs } = resources;
  const { agentId, name: agentName, turns: turn } = record;
  const late = new AbortController();
  const stopTimer =
    modelTimeoutMs === null
      ? () => {}
      : clock.after(modelTimeoutMs, () => late.abort(new Error(`no answer within ${modelTimeoutMs} ms`)));
  const signal = AbortSignal.any([resources.signal, late.signal]);
  let isOver = false;
  const onDelta = (delta: Delta) => {
    if (isOver || signal.aborted) return;
    resources.watched?.touch();
    const said = resources.watched?.said;
    if (said != null && delta.type === 'delta:text') said.text += delta.text;
    const own = { ...delta, agentId, messageId };
    if (held === null) log.publish(own);
    else held.push(own);
  };
  const tools = resources.toolbox.definitions;
  const ask = () =>
    untilAborted(signal, () =>
      resources.model.generate({
        agentId,
        agentName,
        turn,
        model,
        messages,
        tools,
        ...asked,
        signal,
        onDelta,
      }),
    );
  try {
    return await (resources.watched === null ? ask() : resources.watched.awaiting(ask));
  } finally {
    isOver = true;
    stopTimer();
  }
}

/** The messages with the bytes of their files, which are in the log. A file whose bytes are gone is only named. */
async function withFiles(
  log: TurnResources['log'],
  messages: readonly ContextMessage[],
): Promise<readonly ModelMessage[]> {
  const hasFiles = (message: ContextMessage) => 'files' in message && message.files !== undefined;
  if (!messages.some(hasFiles)) return messages as readonly ModelMessage[];
  const bytes = new Map<string, Promise<string | null>>();
  const read = (sha256: string) => {
    const known = bytes.get(sha256) ?? log.readContent(sha256);
    bytes.set(sha256, known);
    return known;
  };
  return Promise.all(
    messages.map(async (message): Promise<ModelMessage> => {
      if ((message.role !== 'user' && message.role !== 'tool') || message.files === undefined)
        return message as ModelMessage;
      const { files, ...rest } = message;
      const found: ModelFile[] = [];
      for (const { kind, mediaType = 'application/octet-stream', sha256, name } of files) {
        const base64 = await read(sha256);
        if (base64 !== null) found.push({ kind, mediaType, base64, ...(name === undefined ? {} : { name }) });
      }
      return freezeDeep(found.length === 0 ? rest : { ...rest, files: found });
    }),
  );
}

/** @throws TypeError for invalid tool calls. Other faults of an answer are found when its events are checked. */
function toolCallsOf(response: ModelResponse): readonly ModelToolCall[] {
  if (!Array.isArray(response?.toolCalls)) throw new TypeError('its answer must have a list of tool calls');
  // Copies, so that a tool cannot change the input in the log.
  const calls = response.toolCalls.map(({ toolCallId, tool, input }) => ({
    toolCallId,
    tool,
    input: structuredClone(input),
  }));
  if (new Set(calls.map(({ toolCallId }) => toolCallId)).size < calls.length)
    throw new TypeError('two tool calls of its answer have one id');
  if (calls.some(({ input }) => input === undefined))
    throw new TypeError('a tool call of its answer has no input');
  return calls;
}

/** What a model was given beside its messages: as its call names it, and the events that the log must have. */
interface GivenRequest {
  readonly named: NonNullable<EventData<'agent:inference'>['request']>;
  readonly events: readonly StoredRequest[];
}

/** The requests with the tools of a session alone: a session has one frozen list for all its calls. */
const requestsOfSessions = new WeakMap<readonly ToolDefinition[], GivenRequest>();

function requestOf(
  { sent }: ModelResponse,
  definitions: readonly ToolDefinition[],
  asked: AskedOfModel,
): GivenRequest {
  const ofSession = requestsOfSessions.get(definitions) ?? requestOfTools(definitions);
  requestsOfSessions.set(definitions, ofSession);
  const withTools = sent?.tools === undefined ? ofSession : requestOfTools(sent.tools);
  if (sent?.parameters === undefined && Object.keys(asked).length === 0) return withTools;
  const stored = storedRequest({ parameters: { ...asked, ...sent?.parameters } as JsonObject });
  return {
    named: { ...withTools.named, parameters: stored?.id ?? null },
    events: stored === null ? withTools.events : [...withTools.events, stored],
  };
}

function requestOfTools(tools: readonly ToolDefinition[]): GivenRequest {
  const given = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const stored = storedRequest({ tools: given });
  return { named: { tools: stored?.id ?? null }, events: stored === null ? [] : [stored] };
}

interface AnswerFields {
  readonly agentId: string;
  readonly id: string;
  readonly askedBy: string | undefined;
  readonly durationMs: number;
  readonly manifest: ModelContext['manifest'];
  readonly request: GivenRequest['named'];
}

function answerEvents(
  { text, thinking, replay, model, usage, costUsd, stopReason }: ModelResponse,
  calls: readonly ModelToolCall[],
  { agentId, id, askedBy, durationMs, manifest, request }: AnswerFields,
): NewEvent[] {
  const content = text === '' && calls.length > 0 ? null : text;
  const message = {
    role: 'assistant',
    content,
    ...(thinking === undefined ? {} : { thinking: thoughtOf(thinking) }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  } as const;
  const inference: EventData<'agent:inference'> = {
    model,
    durationMs: Math.max(0, durationMs),
    usage,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(stopReason === undefined ? {} : { stopReason }),
    // A copy that belongs to the log. The type cannot express that the manifest is plain JSON.
    context: structuredClone(manifest) as unknown as JsonObject,
    request,
    ...(replay === undefined ? {} : { replay }),
  };
  return [
    ...takeApart(message, { id, agentId, ...(askedBy === undefined ? {} : { cause: askedBy }) }),
    newEvent('agent:inference', inference, { agentId, messageId: id }),
  ];
}

function thoughtOf({ text, signature }: NonNullable<ModelResponse['thinking']>) {
  return { text, ...(signature === undefined ? {} : { signature }) };
}

function modelFailed(record: AgentRecord, cause: unknown): HansardError {
  const { message } = describeFailure(cause);
  return sessionErrors.error(
    'SESSION_MODEL_FAILED',
    `The model of ${inWords(record)} gave no usable answer: ${message}`,
    { cause, details: { agentId: record.agentId } },
  );
}

/** The utterance of an answer without tool calls. Its text may be empty. */
export function utteranceOf({ events, messageId }: Answer): LoggedString {
  const block = events.find((event) => isEventOf(event, 'agent:text'));
  return new LoggedString(block?.data.text ?? '', block?.id ?? messageId);
}

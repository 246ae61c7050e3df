import { definedOnly, type EventData, type JsonObject } from '@hansard/events';
import type { CallRequest } from '@hansard/prompt';
import { type Attributes, SeverityNumber, SpanKind } from '@opentelemetry/api';
import {
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_FREQUENCY_PENALTY,
  ATTR_GEN_AI_REQUEST_MAX_TOKENS,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_REQUEST_PRESENCE_PENALTY,
  ATTR_GEN_AI_REQUEST_SEED,
  ATTR_GEN_AI_REQUEST_STOP_SEQUENCES,
  ATTR_GEN_AI_REQUEST_TEMPERATURE,
  ATTR_GEN_AI_REQUEST_TOP_K,
  ATTR_GEN_AI_REQUEST_TOP_P,
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_SYSTEM_INSTRUCTIONS,
  ATTR_GEN_AI_TOOL_DEFINITIONS,
  ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  EVENT_GEN_AI_CLIENT_INFERENCE_OPERATION_DETAILS,
  GEN_AI_OPERATION_NAME_VALUE_CHAT,
} from '@opentelemetry/semantic-conventions/incubating';
import { hansard, providerNameOf, shownModel } from './attributes.ts';
import { ContentBudget, MessageList } from './content.ts';
import {
  type AgentState,
  agentAttributes,
  type FoldContext,
  type FoldStep,
  type OpenMessage,
  takePending,
} from './fold-state.ts';
import { derivedSpanId } from './identity.ts';

type Inference = EventData<'agent:inference'>;

/** Model calls: the blocks of a message and the inference with their cost become one span. */
export class ChatSpans {
  readonly #context: FoldContext;

  constructor(context: FoldContext) {
    this.#context = context;
  }

  /** Takes a block of a message: a text, a thought, a tool call. */
  block({ event, agent, time }: FoldStep): OpenMessage {
    const message = this.#openFor(event.messageId ?? null, event.id, agent, time);
    message.end = Math.max(message.end, time);
    this.#context.recent.set(this.#dispatchId, event.id, message.spanId);
    message.links.take(event, this.#context.find, message.spanId);
    this.#context.noteTime(message.spanId, event);
    return message;
  }

  inference({ event, agent, time, data }: FoldStep<Inference>, request: CallRequest): void {
    const { messageId = null } = event;
    const index = agent.messages.findLastIndex((message) => message.messageId === messageId);
    const [message = this.#messageWithoutBlocks(event.id, agent, time)] =
      index < 0 ? [] : agent.messages.splice(index, 1);
    this.#context.recent.set(this.#dispatchId, event.id, message.spanId);
    this.#context.noteTime(message.spanId, event);
    const start = data.durationMs === undefined ? message.start : time - data.durationMs;
    this.#emit(agent, message, { start, end: time, inference: data, request, id: event.id });
  }

  /** Ends the spans of messages that have no inference. */
  endAll(agent: AgentState): void {
    for (const message of agent.messages.splice(0)) this.#emitUncounted(agent, message);
  }

  #openFor(messageId: string | null, eventId: string, agent: AgentState, time: number): OpenMessage {
    const found = agent.messages.findLast(
      (message) => message.messageId === messageId && (messageId !== null || !message.answered),
    );
    if (found !== undefined) return found;
    if (agent.messages.length > 1) {
      const [oldest] = agent.messages.splice(0, 1);
      if (oldest !== undefined) this.#emitUncounted(agent, oldest);
    }
    const spanId = derivedSpanId('chat', this.#dispatchId, messageId ?? eventId);
    if (messageId !== null) this.#context.recent.set(this.#dispatchId, messageId, spanId);
    const message = newMessage(messageId, spanId, agent, time);
    agent.messages.push(message);
    return message;
  }

  #messageWithoutBlocks(eventId: string, agent: AgentState, time: number): OpenMessage {
    return newMessage(null, derivedSpanId('inference', this.#dispatchId, eventId), agent, time);
  }

  #emitUncounted(agent: AgentState, message: OpenMessage): void {
    this.#emit(agent, message, { start: message.start, end: message.end, id: message.spanId });
  }

  #emit(agent: AgentState, message: OpenMessage, { start, end, inference, request, id }: Ending): void {
    const { factory, emit, content, envelope } = this.#context;
    const model = shownModel(inference?.model ?? agent.model ?? envelope.model);
    const attributes: Attributes = {
      [ATTR_GEN_AI_OPERATION_NAME]: GEN_AI_OPERATION_NAME_VALUE_CHAT,
      ...(model === null
        ? { [ATTR_GEN_AI_PROVIDER_NAME]: '_OTHER' }
        : { [ATTR_GEN_AI_PROVIDER_NAME]: providerNameOf(model), [ATTR_GEN_AI_REQUEST_MODEL]: model }),
      ...agentAttributes(agent, envelope),
      ...(message.messageId === null ? {} : { [hansard.messageId]: message.messageId }),
      ...(inference === undefined ? {} : usageAttributes(inference)),
      ...(request === undefined ? {} : parameterAttributes(request, content !== 'none')),
    };
    const ofMessage = contentOf(message, inference?.stopReason);
    const given = request === undefined || content === 'none' ? nothing : requestContent(request);
    const messages = { ...ofMessage.messages, ...given.fields };
    const truncatedBytes = ofMessage.truncatedBytes + given.truncatedBytes;
    const lost = truncatedBytes === 0 ? {} : { [hansard.truncatedBytes]: truncatedBytes };
    const onSpan = content === 'spans' ? { content: { ...inJson(messages), ...lost } } : {};
    emit(
      factory.span({
        spanId: message.spanId,
        parentSpanId: agent.spanId,
        operation: 'chat',
        subject: model,
        kind: SpanKind.CLIENT,
        start,
        end,
        attributes,
        ...onSpan,
        links: message.links.links,
        droppedLinks: message.links.dropped,
      }),
    );
    if (content !== 'events' || Object.keys(messages).length === 0) return;
    emit(
      factory.log({
        spanId: message.spanId,
        name: EVENT_GEN_AI_CLIENT_INFERENCE_OPERATION_DETAILS,
        time: end,
        severity: SeverityNumber.INFO,
        uid: [this.#dispatchId, id, 'details'],
        attributes,
        content: { ...messages, ...lost },
      }),
    );
  }

  get #dispatchId(): string {
    return this.#context.envelope.dispatchId;
  }
}

interface Ending {
  readonly start: number;
  readonly end: number;
  readonly inference?: Inference;
  readonly request?: CallRequest;
  readonly id: string;
}

function newMessage(messageId: string | null, spanId: string, agent: AgentState, time: number): OpenMessage {
  return {
    messageId,
    spanId,
    start: time,
    end: time,
    answered: false,
    output: new MessageList(),
    ...takePending(agent),
  };
}

/** Events count tokens of a prompt cache separately; the conventions include them in the input tokens. */
function usageAttributes({ model, usage, costUsd, stopReason }: Inference): Attributes {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    [ATTR_GEN_AI_RESPONSE_MODEL]: shownModel(model),
    ...(stopReason === undefined ? {} : { [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: [stopReason] }),
    [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: inputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
    [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: outputTokens,
    ...definedOnly({
      [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: cacheReadTokens,
      [ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: cacheWriteTokens,
      [hansard.costUsd]: costUsd,
    }),
  };
}

/** The parameters that are numbers, by their attribute: the words of the AI SDK and of vendors. */
const numbers: Readonly<Record<string, readonly string[]>> = {
  [ATTR_GEN_AI_REQUEST_TEMPERATURE]: ['temperature'],
  [ATTR_GEN_AI_REQUEST_TOP_P]: ['topP', 'top_p'],
  [ATTR_GEN_AI_REQUEST_TOP_K]: ['topK', 'top_k'],
  [ATTR_GEN_AI_REQUEST_MAX_TOKENS]: [
    'maxOutputTokens',
    'max_tokens',
    'max_output_tokens',
    'max_completion_tokens',
  ],
  [ATTR_GEN_AI_REQUEST_FREQUENCY_PENALTY]: ['frequencyPenalty', 'frequency_penalty'],
  [ATTR_GEN_AI_REQUEST_PRESENCE_PENALTY]: ['presencePenalty', 'presence_penalty'],
  [ATTR_GEN_AI_REQUEST_SEED]: ['seed'],
};

function parameterAttributes({ parameters: { value } }: CallRequest, withTexts: boolean): Attributes {
  const given: JsonObject = value ?? {};
  const found = Object.entries(numbers).flatMap(([attribute, words]): [string, number][] => {
    const number = words.map((word) => given[word]).find((one) => typeof one === 'number');
    return number === undefined ? [] : [[attribute, number as number]];
  });
  const { stopSequences = given.stop_sequences } = given;
  const stops =
    withTexts && Array.isArray(stopSequences) ? stopSequences.filter((one) => typeof one === 'string') : [];
  return {
    ...Object.fromEntries(found),
    ...(stops.length === 0 ? {} : { [ATTR_GEN_AI_REQUEST_STOP_SEQUENCES]: stops }),
  };
}

const nothing: { readonly fields: Record<string, unknown>; readonly truncatedBytes: number } = {
  fields: {},
  truncatedBytes: 0,
};

/** The definitions of the tools, in the form of the conventions. */
function requestContent({ tools }: CallRequest): typeof nothing {
  const budget = new ContentBudget();
  const definitions = tools.basis === 'recorded' ? (tools.value ?? []) : [];
  const functions = definitions.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    ...definedOnly({ description, parameters: inputSchema }),
  }));
  if (functions.length === 0) return nothing;
  const fields = { [ATTR_GEN_AI_TOOL_DEFINITIONS]: budget.value(functions) };
  return { fields, truncatedBytes: budget.truncatedBytes };
}

function contentOf({ input, system, output }: OpenMessage, stopReason: string | undefined) {
  const [answer] = output.messages;
  if (answer !== undefined) {
    const calls = answer.parts.some(({ type }) => type === 'tool_call');
    answer.finish_reason = finishReasons[stopReason ?? ''] ?? stopReason ?? (calls ? 'tool_call' : 'stop');
  }
  const messages: Record<string, unknown> = {};
  const instructions = system.messages.flatMap(({ parts }) => parts);
  if (instructions.length > 0) messages[ATTR_GEN_AI_SYSTEM_INSTRUCTIONS] = instructions;
  if (input.messages.length > 0) messages[ATTR_GEN_AI_INPUT_MESSAGES] = input.messages;
  if (answer !== undefined) messages[ATTR_GEN_AI_OUTPUT_MESSAGES] = output.messages;
  const truncatedBytes =
    input.budget.truncatedBytes + system.budget.truncatedBytes + output.budget.truncatedBytes;
  return { messages, truncatedBytes };
}

function inJson(messages: Record<string, unknown>): Attributes {
  return Object.fromEntries(Object.entries(messages).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Maps finish reasons of providers to those of the conventions' schema of output messages. */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_call',
  'tool-calls': 'tool_call',
  tool_calls: 'tool_call',
  max_tokens: 'length',
  refusal: 'content_filter',
};

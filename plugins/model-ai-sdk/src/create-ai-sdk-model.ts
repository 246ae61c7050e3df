import { definedOnly, isPlainObject, type JsonObject, type JsonValue, preview } from '@hansard/events';
import type {
  Awaitable,
  LanguageModelProvider,
  ModelMessage,
  ModelRequest,
  ModelResponse,
  ToolDefinition,
  Usage,
} from '@hansard/provider';
import {
  type AssistantModelMessage,
  type JSONSchema7,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  Output,
  type ProviderMetadata,
  type ModelMessage as SdkMessage,
  type StepResult,
  streamText,
  type TextStreamPart,
  type ToolSet,
  tool,
} from 'ai';

/** The model that an agent's model name stands for; null where the agent has none. */
export type ModelResolver = (name: string | null) => Awaitable<LanguageModel>;

/** Settings of `streamText` for every call, such as `maxOutputTokens`, `maxRetries` or `providerOptions`. */
export type AiSdkSettings = Omit<
  Parameters<typeof streamText>[0],
  'model' | 'prompt' | 'messages' | 'allowSystemInMessages' | 'tools' | 'abortSignal' | 'onError'
>;

/** `model` answers for every agent, whatever model it names; `resolve` is asked at each call. */
export type AiSdkModelOptions = { readonly settings?: AiSdkSettings } & (
  | { readonly model: LanguageModel }
  | { readonly resolve: ModelResolver }
);

/**
 * A model of the Vercel AI SDK. Tools are shown to it and never run by the SDK: their calls come back. `generate`
 * throws what the SDK throws, and the reason of its signal when that was aborted.
 */
export function createAiSdkModel(options: AiSdkModelOptions): LanguageModelProvider {
  const resolve: ModelResolver = 'model' in options ? () => options.model : options.resolve;
  return {
    contract: 1,
    async generate(request) {
      const { messages, tools, signal } = request;
      signal.throwIfAborted();
      const sent = new SentRequest(tools, options.settings);
      const result = streamText({
        ...options.settings,
        ...sent.callbacks,
        model: await resolve(request.model),
        messages: toSdkMessages(messages, request.model),
        allowSystemInMessages: true,
        tools: toSdkTools(tools),
        ...askedOf(request),
        abortSignal: signal,
        // Without it, the SDK prints errors; the stream has them too, and there they are thrown.
        onError: () => undefined,
      });
      for await (const part of result.stream) takePart(part, request);
      return { ...toModelResponse(await result.finalStep, request.model), sent: sent.found };
    },
  };
}

function askedOf({ toolChoice, outputSchema }: ModelRequest) {
  const choice =
    typeof toolChoice === 'object' ? ({ type: 'tool', toolName: toolChoice.tool } as const) : toolChoice;
  return {
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(outputSchema === undefined
      ? {}
      : { output: Output.object({ schema: jsonSchema(outputSchema as JSONSchema7) }) }),
  };
}

type StepStart = Parameters<NonNullable<AiSdkSettings['onStepStart']>>[0];
type CallStart = Parameters<NonNullable<AiSdkSettings['onLanguageModelCallStart']>>[0];

/** What the SDK gave the model beside the messages: the settings, which a `prepareStep` can change. The callbacks of the settings are called, too. */
class SentRequest {
  readonly #given: readonly ToolDefinition[];
  readonly #settings: AiSdkSettings;
  #step: JsonObject = {};
  #call: JsonObject = {};
  #tools: readonly string[] = [];

  constructor(given: readonly ToolDefinition[], settings: AiSdkSettings = {}) {
    this.#given = given;
    this.#settings = settings;
  }

  get callbacks(): Pick<AiSdkSettings, 'onStepStart' | 'onLanguageModelCallStart'> {
    const { onStepStart, experimental_onStepStart = onStepStart } = this.#settings;
    const { onLanguageModelCallStart, experimental_onLanguageModelCallStart = onLanguageModelCallStart } =
      this.#settings;
    return {
      onStepStart: async (event) => {
        this.#step = await parametersOfStep(event);
        await (onStepStart ?? experimental_onStepStart)?.(event);
      },
      onLanguageModelCallStart: async (event) => {
        this.#call = parametersOfCall(event);
        this.#tools = (event.tools ?? []).map(({ name }) => String(name));
        await (onLanguageModelCallStart ?? experimental_onLanguageModelCallStart)?.(event);
      },
    };
  }

  get found(): NonNullable<ModelResponse['sent']> {
    const parameters = { ...this.#call, ...this.#step };
    const names = this.#tools;
    if (names.length === this.#given.length && this.#given.every(({ name }, at) => name === names[at]))
      return { parameters };
    const tools = names.flatMap((wanted) => this.#given.find(({ name }) => name === wanted) ?? []);
    return { parameters, tools };
  }
}

/** The settings of a call that change an answer. Headers, and the settings of what the SDK does around a call, are left out. */
function parametersOfCall(call: CallStart): JsonObject {
  const { maxOutputTokens, temperature, topP, topK, presencePenalty, frequencyPenalty } = call;
  const { stopSequences, seed, reasoning, instructions } = call;
  const sampling = { maxOutputTokens, temperature, topP, topK, presencePenalty, frequencyPenalty };
  return definedOnly({ ...sampling, stopSequences, seed, reasoning, instructions }) as JsonObject;
}

async function parametersOfStep({ toolChoice, providerOptions, output }: StepStart): Promise<JsonObject> {
  const responseFormat = await output?.responseFormat;
  return definedOnly({ toolChoice, providerOptions, responseFormat }) as JsonObject;
}

function takePart(part: TextStreamPart<ToolSet>, { agentId, onDelta, signal }: ModelRequest): void {
  switch (part.type) {
    case 'text-delta':
      onDelta?.({ type: 'delta:text', text: part.text, agentId });
      break;
    case 'reasoning-delta':
      onDelta?.({ type: 'delta:thinking', text: part.text, agentId });
      break;
    case 'tool-input-delta':
      onDelta?.({ type: 'delta:tool_input', text: part.delta, toolCallId: part.id, agentId });
      break;
    case 'error':
      throw part.error instanceof Error
        ? part.error
        : new Error(`The model failed: ${preview(part.error)}`, { cause: part.error });
    case 'abort':
      throw signal.aborted
        ? signal.reason
        : new Error(`The model call was aborted: ${part.reason ?? 'no reason'}`);
  }
}

/** @param requested the name of the model in the request */
function toModelResponse(step: StepResult<ToolSet>, requested: string | null): ModelResponse {
  const { text, reasoningText, toolCalls, response, usage, finishReason, providerMetadata } = step;
  return {
    text,
    ...(reasoningText === undefined ? {} : { thinking: { text: reasoningText, ...signatureOf(step) } }),
    ...definedOnly({ replay: replayOf(step, requested) }),
    toolCalls: toolCalls
      // A vendor's own tools have run already, and their results are in the answer.
      .filter(({ providerExecuted }) => providerExecuted !== true)
      .map(({ toolCallId, toolName, input }) => ({
        toolCallId,
        tool: toolName,
        input: (input ?? null) as JsonValue,
      })),
    model: response.modelId,
    usage: toUsage(usage, providerMetadata),
    stopReason: finishReason,
  };
}

/**
 * The SDK counts the tokens of a prompt cache as input; Hansard counts them apart. What decides the price beside tokens is in the
 * vendor's own usage: the times of cache writes, the tools of the server, speed, service tier and place.
 */
function toUsage(
  { inputTokens, inputTokenDetails, outputTokens, outputTokenDetails, raw }: LanguageModelUsage,
  metadata: ProviderMetadata | undefined,
): Usage {
  const { noCacheTokens, cacheReadTokens, cacheWriteTokens } = inputTokenDetails;
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  const { cache_creation, server_tool_use, speed, service_tier, inference_geo } = raw ?? {};
  const cacheWrite5mTokens = countIn(cache_creation, 'ephemeral_5m_input_tokens');
  const cacheWrite1hTokens = countIn(cache_creation, 'ephemeral_1h_input_tokens');
  const isSplit = (cacheWrite5mTokens ?? 0) + (cacheWrite1hTokens ?? 0) <= (cacheWriteTokens ?? 0);
  return {
    inputTokens: noCacheTokens ?? Math.max(0, (inputTokens ?? 0) - cached),
    outputTokens: outputTokens ?? 0,
    ...definedOnly({
      cacheReadTokens,
      cacheWriteTokens,
      ...(isSplit ? { cacheWrite5mTokens, cacheWrite1hTokens } : {}),
      reasoningTokens: outputTokenDetails.reasoningTokens,
      webSearchRequests: countIn(server_tool_use, 'web_search_requests'),
      webFetchRequests: countIn(server_tool_use, 'web_fetch_requests'),
      speed: termOf(speed),
      serviceTier: termOf(service_tier) ?? termOf(metadata?.openai?.serviceTier),
      inferenceGeo: termOf(inference_geo),
    }),
  };
}

function countIn(object: unknown, key: string): number | undefined {
  if (typeof object !== 'object' || object === null) return undefined;
  const count: unknown = (object as Readonly<Record<string, unknown>>)[key];
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** A vendor's word for a term of a call, if it is one. */
function termOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._:-]{1,40}$/.test(value) ? value : undefined;
}

/** What a vendor signed its thoughts with; each keeps it under its own name. */
function signatureOf({ reasoning }: StepResult<ToolSet>): { signature?: string } {
  const signature = reasoning
    .flatMap(({ providerOptions }) => Object.values(providerOptions ?? {}))
    .map((ofVendor) => ofVendor.signature)
    .findLast((value) => typeof value === 'string');
  return definedOnly({ signature });
}

/** @param model the requested name of the model */
function toSdkMessages(messages: readonly ModelMessage[], model: string | null): SdkMessage[] {
  return messages.map((message) => toSdkMessage(message, model));
}

/** Tools without `execute`, so that the SDK gives their calls back instead of making them. */
function toSdkTools(tools: readonly ToolDefinition[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema as JSONSchema7) }),
    ]),
  );
}

function toSdkMessage(message: ModelMessage, model: string | null): SdkMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user': {
      const { text, files = [] } = message;
      if (files.length === 0) return { role: 'user', content: text };
      const parts = files.map(({ mediaType, base64, name }) => ({
        type: 'file' as const,
        mediaType,
        data: base64,
        ...(name === undefined ? {} : { filename: name }),
      }));
      // Vendors refuse an empty text.
      return { role: 'user', content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts] };
    }
    case 'assistant':
      return {
        role: 'assistant',
        content: replayedParts(message, model) ?? [
          // Vendors refuse empty text beside a tool call.
          ...(message.text === '' && message.toolCalls.length > 0
            ? []
            : [{ type: 'text' as const, text: message.text }]),
          ...message.toolCalls.map(({ toolCallId, tool: toolName, input }) => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName,
            input,
          })),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.toolCallId,
            toolName: message.tool,
            output: resultOutput(message),
          },
        ],
      };
  }
}

/** The SDK takes files of a result only beside a text that is not an error. */
function resultOutput({ text, isError, files = [] }: Extract<ModelMessage, { role: 'tool' }>) {
  if (isError || files.length === 0)
    return { type: isError ? ('error-text' as const) : ('text' as const), value: text };
  return {
    type: 'content' as const,
    value: [
      { type: 'text' as const, text },
      ...files.map(({ mediaType, base64: data }) => ({
        type: 'file' as const,
        mediaType,
        data: { type: 'data' as const, data },
      })),
    ],
  };
}

type Answer = Extract<ModelMessage, { role: 'assistant' }>;

/** A part of an answer of the SDK. Its text is in the answer, and only its length is here. */
type ReplayPart =
  | { readonly type: 'reasoning' | 'text'; readonly length: number; readonly options?: JsonObject }
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly options?: JsonObject };

type SdkParts = Exclude<AssistantModelMessage['content'], string>;

/**
 * The parts of an answer in their order, with what the vendor added to each, such as a signature. Undefined: the answer has no
 * reasoning, and the vendor signed nothing.
 *
 * @param model the requested name of the model; another model gets nothing back
 */
function replayOf({ content }: StepResult<ToolSet>, model: string | null): JsonValue | undefined {
  let isNeeded = false;
  const parts = content.flatMap((part): ReplayPart[] => {
    if (part.type !== 'reasoning' && part.type !== 'text' && part.type !== 'tool-call') return [];
    if (part.type === 'tool-call' && part.providerExecuted === true) return [];
    const options = part.providerMetadata as JsonObject | undefined;
    isNeeded ||= part.type === 'reasoning' || hasSignature(options);
    const added = options === undefined ? {} : { options };
    return part.type === 'tool-call'
      ? [{ type: part.type, toolCallId: part.toolCallId, ...added }]
      : [{ type: part.type, length: part.text.length, ...added }];
  });
  return isNeeded ? ({ sdk: 'ai', model, parts } as unknown as JsonValue) : undefined;
}

/** The parts of an earlier answer as the model gave them. Null: it has no replay of this model, or one that does not fit. */
function replayedParts(
  { text, thinking = '', toolCalls, replay }: Answer,
  model: string | null,
): SdkParts | null {
  if (!isPlainObject(replay) || replay.sdk !== 'ai' || replay.model !== model) return null;
  const rest = { text, reasoning: thinking };
  const parts: SdkParts = [];
  for (const part of replay.parts as unknown as readonly ReplayPart[]) {
    const added = part.options === undefined ? {} : { providerOptions: part.options as never };
    if (part.type === 'tool-call') {
      const call = toolCalls.find(({ toolCallId }) => toolCallId === part.toolCallId);
      if (call === undefined) return null;
      parts.push({
        type: 'tool-call',
        toolCallId: call.toolCallId,
        toolName: call.tool,
        input: call.input,
        ...added,
      });
    } else {
      parts.push({ type: part.type, text: rest[part.type].slice(0, part.length), ...added });
      rest[part.type] = rest[part.type].slice(part.length);
    }
  }
  const calls = parts.filter(({ type }) => type === 'tool-call').length;
  return rest.text === '' && rest.reasoning === '' && calls === toolCalls.length ? parts : null;
}

/** Vendors sign tool calls and texts too, and refuse them without the signature. */
function hasSignature(options: JsonObject | undefined): boolean {
  return Object.values(options ?? {}).some(
    (ofVendor) => isPlainObject(ofVendor) && Object.keys(ofVendor).some((key) => /signature/iu.test(key)),
  );
}

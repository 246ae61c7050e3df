import { preview } from '@hansard/events';
import type { Awaitable, LanguageModelProvider, ModelRequest } from '@hansard/provider';
import { type LanguageModel, streamText, type TextStreamPart, type ToolSet } from 'ai';
import { toModelResponse } from './to-model-response.ts';
import { toSdkMessages, toSdkTools } from './to-sdk-prompt.ts';

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
      const result = streamText({
        ...options.settings,
        model: await resolve(request.model),
        messages: toSdkMessages(messages, request.model),
        allowSystemInMessages: true,
        tools: toSdkTools(tools),
        abortSignal: signal,
        // Without it, the SDK prints errors; the stream has them too, and there they are thrown.
        onError: () => undefined,
      });
      for await (const part of result.stream) takePart(part, request);
      return toModelResponse(await result.finalStep, request.model);
    },
  };
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

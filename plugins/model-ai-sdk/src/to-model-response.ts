import { definedOnly } from '@hansard/events';
import type { JsonValue, ModelResponse, Usage } from '@hansard/provider';
import type { LanguageModelUsage, ProviderMetadata, StepResult, ToolSet } from 'ai';
import { replayOf } from './replay.ts';

/** @param requested the name of the model in the request */
export function toModelResponse(step: StepResult<ToolSet>, requested: string | null): ModelResponse {
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

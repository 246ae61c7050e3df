import { definedOnly } from '@hansard/events';
import type { JsonValue, ModelResponse, Usage } from '@hansard/provider';
import type { LanguageModelUsage, StepResult, ToolSet } from 'ai';
import { replayOf } from './replay.ts';

/** @param requested the name of the model in the request */
export function toModelResponse(step: StepResult<ToolSet>, requested: string | null): ModelResponse {
  const { text, reasoningText, toolCalls, response, usage, finishReason } = step;
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
    usage: toUsage(usage),
    stopReason: finishReason,
  };
}

/** The SDK counts the tokens of a prompt cache as input; Hansard counts them apart. */
function toUsage({ inputTokens, inputTokenDetails, outputTokens }: LanguageModelUsage): Usage {
  const { noCacheTokens, cacheReadTokens, cacheWriteTokens } = inputTokenDetails;
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return {
    inputTokens: noCacheTokens ?? Math.max(0, (inputTokens ?? 0) - cached),
    outputTokens: outputTokens ?? 0,
    ...definedOnly({ cacheReadTokens, cacheWriteTokens }),
  };
}

/** What a vendor signed its thoughts with; each keeps it under its own name. */
function signatureOf({ reasoning }: StepResult<ToolSet>): { signature?: string } {
  const signature = reasoning
    .flatMap(({ providerOptions }) => Object.values(providerOptions ?? {}))
    .map((ofVendor) => ofVendor.signature)
    .findLast((value) => typeof value === 'string');
  return definedOnly({ signature });
}

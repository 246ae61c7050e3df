import { type DispatchEnvelope, definedOnly, type EventData, type Usage } from '@hansard/events';
import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
} from '@opentelemetry/semantic-conventions/incubating';
import type { ContentMode } from '../trace-options.ts';
import { hansard, providerNameOf, shownModel } from './attributes.ts';
import { MessageList } from './content.ts';
import { type AgentState, agentAttributes } from './fold-state.ts';
import type { SpanDraft } from './record-factory.ts';

/** Facts about the whole dispatch from its events. */
export interface DispatchNews {
  sdkSessionId?: string;
  complete?: EventData<'session:complete'>;
  /** The kind of the last error of the harness. */
  errorType?: string;
  errorMessage?: string;
}

/** The span of a dispatch. Its figures are totals, so they never have the conventions' names, which receivers add up. */
export function dispatchSpan(
  envelope: DispatchEnvelope,
  agent: AgentState,
  parentSpanId: string | null,
  news: DispatchNews,
  { start, last, content }: { readonly start: number; readonly last: number; readonly content: ContentMode },
): SpanDraft {
  const { completedAt, role } = envelope;
  const error = errorOf(envelope, news);
  const shown = content === 'spans' ? news.errorMessage : undefined;
  return {
    spanId: agent.spanId,
    parentSpanId,
    operation: 'invoke_agent',
    subject: agent.name ?? role,
    start,
    end: completedAt === null ? last : Math.max(last, Date.parse(completedAt)),
    attributes: {
      ...agentAttributes(agent, envelope),
      ...figuresOf(envelope),
      ...definedOnly({ [hansard.sdkSessionId]: news.sdkSessionId }),
      ...(completedAt === null ? { [hansard.truncated]: true } : {}),
      ...definedOnly({ [ATTR_ERROR_TYPE]: error }),
    },
    ...(content === 'spans' ? { content: resultOf(news) } : {}),
    ...(error === undefined ? {} : { error: definedOnly({ message: shown }) }),
  };
}

function figuresOf(envelope: DispatchEnvelope): Attributes {
  const { dispatchId, parentDispatchId, status, fidelity, cost } = envelope;
  const model = shownModel(envelope.model);
  const usage = usageOf(envelope);
  return {
    [ATTR_GEN_AI_OPERATION_NAME]: GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
    [ATTR_GEN_AI_PROVIDER_NAME]: model === null ? '_OTHER' : providerNameOf(model),
    ...(model === null ? {} : { [ATTR_GEN_AI_REQUEST_MODEL]: model }),
    [hansard.dispatchId]: dispatchId,
    ...(parentDispatchId === null ? {} : { [hansard.dispatchParentId]: parentDispatchId }),
    [hansard.dispatchStatus]: status,
    [hansard.dispatchFidelity]: fidelity,
    ...(cost === null ? {} : { [hansard.dispatchCostUsd]: cost }),
    ...(usage === null
      ? {}
      : definedOnly({
          [hansard.dispatchUsageInput]: usage.inputTokens,
          [hansard.dispatchUsageOutput]: usage.outputTokens,
          [hansard.dispatchUsageCacheRead]: usage.cacheReadTokens,
          [hansard.dispatchUsageCacheWrite]: usage.cacheWriteTokens,
          [hansard.dispatchTurns]: usage.turns,
        })),
  };
}

/** The usage of a dispatch with that of its open calls. */
function usageOf({ usage, openCalls }: DispatchEnvelope): Usage | null {
  const calls = (openCalls ?? []).map((call): Usage => call.usage);
  if (calls.length === 0) return usage;
  return [...(usage === null ? [] : [usage]), ...calls].reduce((one, other) =>
    definedOnly({
      inputTokens: one.inputTokens + other.inputTokens,
      outputTokens: one.outputTokens + other.outputTokens,
      cacheReadTokens: added(one.cacheReadTokens, other.cacheReadTokens),
      cacheWriteTokens: added(one.cacheWriteTokens, other.cacheWriteTokens),
    }),
  );
}

function added(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0);
}

function errorOf({ status }: DispatchEnvelope, { errorType, complete }: DispatchNews): string | undefined {
  if (status === 'aborted') return 'aborted';
  if (status === 'crashed') return errorType ?? 'crashed';
  return complete?.status === 'failed' ? 'failed' : undefined;
}

function resultOf({ complete }: DispatchNews): Attributes {
  if (complete?.result === undefined) return {};
  const list = new MessageList();
  list.addText('assistant', 'text', complete.result);
  for (const message of list.messages) message.finish_reason = 'stop';
  const { truncatedBytes } = list.budget;
  return {
    [ATTR_GEN_AI_OUTPUT_MESSAGES]: JSON.stringify(list.messages),
    ...(truncatedBytes === 0 ? {} : { [hansard.truncatedBytes]: truncatedBytes }),
  };
}

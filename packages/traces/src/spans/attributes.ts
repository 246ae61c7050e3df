import {
  GEN_AI_PROVIDER_NAME_VALUE_ANTHROPIC,
  GEN_AI_PROVIDER_NAME_VALUE_COHERE,
  GEN_AI_PROVIDER_NAME_VALUE_DEEPSEEK,
  GEN_AI_PROVIDER_NAME_VALUE_GCP_GEMINI,
  GEN_AI_PROVIDER_NAME_VALUE_MISTRAL_AI,
  GEN_AI_PROVIDER_NAME_VALUE_OPENAI,
  GEN_AI_PROVIDER_NAME_VALUE_X_AI,
} from '@opentelemetry/semantic-conventions/incubating';

/**
 * Attributes that the GenAI semantic conventions 1.41.1 do not have. The names of theirs are imported from the incubating
 * entry of `@opentelemetry/semantic-conventions`.
 */
export const hansard = {
  compactionPostTokens: 'hansard.compaction.tokens_after',
  compactionPreTokens: 'hansard.compaction.tokens_before',
  compactionTrigger: 'hansard.compaction.trigger',
  count: 'hansard.limit.count',
  costUsd: 'hansard.cost_usd',
  deliveryVia: 'hansard.via',
  dispatchCostUsd: 'hansard.dispatch.cost_usd',
  dispatchFidelity: 'hansard.dispatch.fidelity',
  dispatchId: 'hansard.dispatch.id',
  dispatchParentId: 'hansard.dispatch.parent_id',
  dispatchStatus: 'hansard.dispatch.status',
  dispatchTurns: 'hansard.dispatch.turns',
  dispatchUsageCacheRead: 'hansard.dispatch.usage.cache_read_tokens',
  dispatchUsageCacheWrite: 'hansard.dispatch.usage.cache_write_tokens',
  dispatchUsageInput: 'hansard.dispatch.usage.input_tokens',
  dispatchUsageOutput: 'hansard.dispatch.usage.output_tokens',
  elapsedMs: 'hansard.limit.elapsed_ms',
  eventId: 'hansard.event.id',
  eventType: 'hansard.event.type',
  eventVersion: 'hansard.event.version',
  hookDecision: 'hansard.hook.decision',
  hookGiven: 'hansard.hook.given',
  hookInput: 'hansard.hook.input',
  hookMadeFrom: 'hansard.hook.made_from',
  hookName: 'hansard.hook.name',
  hookOn: 'hansard.hook.on',
  hookPrevious: 'hansard.hook.previous',
  hookReason: 'hansard.hook.reason',
  hookSubject: 'hansard.hook.subject',
  hookText: 'hansard.hook.text',
  limit: 'hansard.limit.value',
  link: 'hansard.link',
  messageId: 'hansard.message.id',
  sdkSessionId: 'hansard.sdk.session_id',
  source: 'hansard.source',
  sourceWhat: 'hansard.source.what',
  sourceAgentId: 'hansard.source.agent.id',
  sourceDispatchId: 'hansard.source.dispatch.id',
  substanceId: 'hansard.substance.id',
  causeIds: 'hansard.cause.ids',
  task: 'hansard.task',
  timeNotRecorded: 'hansard.time_not_recorded',
  toolMetadata: 'hansard.tool.metadata',
  toolTarget: 'hansard.tool.target',
  truncated: 'hansard.truncated',
  truncatedBytes: 'hansard.truncated_bytes',
} as const;

/** The names of our log records. The conventions name only those for the details and the failure of a model call. */
export const logNames = {
  abort: 'hansard.harness.abort',
  compaction: 'hansard.session.compaction',
  created: 'hansard.text.created',
  delivered: 'hansard.message.delivered',
  error: 'hansard.harness.error',
  filesPersisted: 'hansard.files.persisted',
  hookDecision: 'hansard.hook.decided',
  loopKill: 'hansard.harness.loop_kill',
  loopWarning: 'hansard.harness.loop_warning',
  other: 'hansard.event',
  output: 'hansard.agent.output',
  rateLimit: 'hansard.session.rate_limit',
  received: 'hansard.message.received',
  stall: 'hansard.harness.stall',
  status: 'hansard.session.status',
  timeout: 'hansard.harness.timeout',
  toolCall: 'hansard.tool.call',
  toolResult: 'hansard.tool.result',
} as const;

const providers: readonly (readonly [model: RegExp, provider: string])[] = [
  [/^claude\b/, GEN_AI_PROVIDER_NAME_VALUE_ANTHROPIC],
  [/^(gpt|chatgpt|o\d)\b/, GEN_AI_PROVIDER_NAME_VALUE_OPENAI],
  [/^gemini\b/, GEN_AI_PROVIDER_NAME_VALUE_GCP_GEMINI],
  [/^deepseek\b/, GEN_AI_PROVIDER_NAME_VALUE_DEEPSEEK],
  [/^(mistral|magistral|codestral)\b/, GEN_AI_PROVIDER_NAME_VALUE_MISTRAL_AI],
  [/^grok\b/, GEN_AI_PROVIDER_NAME_VALUE_X_AI],
  [/^command\b/, GEN_AI_PROVIDER_NAME_VALUE_COHERE],
];

/**
 * The provider of a model, which the conventions require on each model call and events do not have. Derived from the
 * model's name; `_OTHER` if the name does not show it.
 */
export function providerNameOf(model: string): string {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return providers.find(([pattern]) => pattern.test(name))?.[1] ?? '_OTHER';
}

/** Before the file of a scenario, in the name of its model. */
const scripted = 'scripted:';

/** The name of a model in a trace. The model of a scenario is named by the scenario, without the place of its file. */
export function shownModel<T extends string | null>(model: T): T | string {
  if (model === null || !model.startsWith(scripted)) return model;
  const file = model.slice(
    Math.max(model.lastIndexOf('/'), model.lastIndexOf('\\'), scripted.length - 1) + 1,
  );
  return `${scripted}${file.replace(/\.(?:ya?ml|json)$/i, '')}`;
}

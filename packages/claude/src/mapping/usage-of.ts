import type { JsonObject, JsonValue, Usage } from '@hansard/events';
import { asCount, asObject, withoutNull, withoutUndefined } from '../values/json-fields.ts';

/** The counts of the API's usage that have a field in a `Usage`. A name with a dot is of an object in it. */
export const usageCounts = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation.ephemeral_5m_input_tokens',
  'cache_creation.ephemeral_1h_input_tokens',
  'output_tokens_details.thinking_tokens',
  'server_tool_use.web_search_requests',
  'server_tool_use.web_fetch_requests',
] as const;

const terms = ['speed', 'service_tier', 'inference_geo'] as const;

/** The value of one of the counts. */
export function fieldOf(usage: JsonObject, name: string): JsonValue | undefined {
  const [key = '', part] = name.split('.');
  return part === undefined ? usage[key] : asObject(usage[key])?.[part];
}

const termPattern = /^[A-Za-z0-9._:-]{1,40}$/;

/** A term of the API in one word. */
function asTerm(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && termPattern.test(value) ? value : undefined;
}

/** Converts the API's usage; undefined if one of the two main figures is missing. */
export function usageOf(usage: JsonObject | undefined): Usage | undefined {
  const inputTokens = asCount(usage?.input_tokens);
  const outputTokens = asCount(usage?.output_tokens);
  if (usage === undefined || inputTokens === undefined || outputTokens === undefined) return undefined;
  const { output_tokens_details, server_tool_use, speed, service_tier, inference_geo } = usage;
  const tools = asObject(server_tool_use);
  return withoutUndefined({
    inputTokens,
    outputTokens,
    cacheReadTokens: asCount(usage.cache_read_input_tokens),
    ...cacheWritesOf(usage),
    reasoningTokens: asCount(asObject(output_tokens_details)?.thinking_tokens),
    webSearchRequests: asCount(tools?.web_search_requests),
    webFetchRequests: asCount(tools?.web_fetch_requests),
    speed: asTerm(speed),
    serviceTier: asTerm(service_tier),
    inferenceGeo: asTerm(inference_geo),
  });
}

type CacheWrites = Pick<Usage, 'cacheWriteTokens' | 'cacheWrite5mTokens' | 'cacheWrite1hTokens'>;

/** The split of the cache writes is left out if it contradicts their sum. */
function cacheWritesOf(usage: JsonObject): CacheWrites {
  const split = asObject(usage.cache_creation);
  const cacheWrite5mTokens = asCount(split?.ephemeral_5m_input_tokens);
  const cacheWrite1hTokens = asCount(split?.ephemeral_1h_input_tokens);
  const cacheWriteTokens = asCount(usage.cache_creation_input_tokens);
  const sum = (cacheWrite5mTokens ?? 0) + (cacheWrite1hTokens ?? 0);
  if (sum > (cacheWriteTokens ?? 0)) return { cacheWriteTokens };
  return { cacheWriteTokens, cacheWrite5mTokens, cacheWrite1hTokens };
}

/** The fields of the API's usage that `usageOf` does not convert as a whole. */
export function otherUsage(usage: JsonObject): JsonObject {
  const isSplit = !contradictsSum(usage);
  const converted = Object.keys(usage).filter((key) => {
    if (key === 'cache_creation' && !isSplit) return false;
    const value = usage[key];
    const parts = asObject(value);
    if (parts === undefined) return isConverted(key, value);
    return Object.entries(parts).every(([part, one]) => one === null || isConverted(`${key}.${part}`, one));
  });
  return withoutNull(usage, new Set(converted));
}

function isConverted(name: string, value: JsonValue | undefined): boolean {
  if ((usageCounts as readonly string[]).includes(name)) return asCount(value) !== undefined;
  return (terms as readonly string[]).includes(name) && asTerm(value) !== undefined;
}

/** Whether the times of the cache writes exceed their sum. */
export function contradictsSum(usage: JsonObject): boolean {
  const { cacheWrite5mTokens, cacheWrite1hTokens } = cacheWritesOf(usage);
  const split = asObject(usage.cache_creation);
  return (
    asCount(split?.ephemeral_5m_input_tokens) !== cacheWrite5mTokens ||
    asCount(split?.ephemeral_1h_input_tokens) !== cacheWrite1hTokens
  );
}

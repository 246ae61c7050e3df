import { isPlainObject, type JsonObject, type JsonValue, preview, type Usage } from '@hansard/events';
import { asCount, asObject, hasFields, withoutNull, withoutUndefined } from '../lines/json-fields.ts';

/** The counts of the API's usage that have a field in a `Usage`. A name with a dot is of an object in it. */
const usageCounts = [
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

const countPlaces = usageCounts.map((name) => ({ name, path: name.split('.') }));

/** The value of one of the counts. */
function fieldOf(usage: JsonObject, [key = '', part]: readonly string[]): JsonValue | undefined {
  return part === undefined ? usage[key] : asObject(usage[key])?.[part];
}

const termPattern = /^[A-Za-z0-9._:-]{1,40}$/;

/** A term of the API in one word. */
function asTerm(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && termPattern.test(value) ? value : undefined;
}

/** Whether the API's usage has its two main figures, so that its call counts. */
export function isCountable(usage: JsonObject | undefined): usage is JsonObject {
  return asCount(usage?.input_tokens) !== undefined && asCount(usage?.output_tokens) !== undefined;
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

/**
 * What a later usage of one message adds to an earlier one; null if a count decreased. All other fields are those of
 * the later usage.
 */
export function usageOnTop(before: JsonObject, after: JsonObject): JsonObject | null {
  const more: JsonObject = { ...after };
  for (const [key, value] of Object.entries(after)) {
    const [one, other] = [before[key], value];
    if (typeof other === 'number') more[key] = other - (typeof one === 'number' ? one : 0);
    if (isPlainObject(other)) more[key] = usageOnTop(asObject(one) ?? {}, other as JsonObject) ?? -1;
  }
  return Object.values(more).some((count) => typeof count === 'number' && count < 0) ? null : more;
}

/** Whether a count of a usage, at any level, is above zero. */
export function hasTokens(usage: JsonObject): boolean {
  return Object.values(usage).some(
    (count) =>
      (typeof count === 'number' && count > 0) || (isPlainObject(count) && hasTokens(count as JsonObject)),
  );
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
function contradictsSum(usage: JsonObject): boolean {
  const { cacheWrite5mTokens, cacheWrite1hTokens } = cacheWritesOf(usage);
  const split = asObject(usage.cache_creation);
  return (
    asCount(split?.ephemeral_5m_input_tokens) !== cacheWrite5mTokens ||
    asCount(split?.ephemeral_1h_input_tokens) !== cacheWrite1hTokens
  );
}

/** What cannot be read of the usage that a model message states; null if it states none, or if all of it can be read. */
export function unreadableUsage(stated: JsonValue | undefined): string | null {
  if (stated === undefined || stated === null) return null;
  const usage = asObject(stated);
  if (usage === undefined) return `The usage is ${preview(stated)}, and its call is not counted.`;
  if (!hasFields(usage)) return null;
  const wrong: string[] = [];
  for (const { name, path } of countPlaces) {
    const value = fieldOf(usage, path);
    const isMain = name === 'input_tokens' || name === 'output_tokens';
    const isAbsent = value === undefined || (value === null && !isMain);
    if (!isAbsent && asCount(value) === undefined) wrong.push(`${name} is ${preview(value)}`);
  }
  if (isCountable(usage))
    return wrong.length > 0
      ? `A part of the usage is not counted: ${wrong.join(', ')}.`
      : contradiction(usage);
  const problem = wrong.length > 0 ? wrong.join(', ') : 'input_tokens or output_tokens is absent';
  return `The usage cannot be read, and its call is not counted: ${problem}.`;
}

function contradiction(usage: JsonObject): string | null {
  if (!contradictsSum(usage)) return null;
  return 'The times of the cache writes exceed their sum: the writes count without a time.';
}

import { isPlainObject, type JsonObject, type JsonValue, type Usage } from '@hansard/events';

/** What Hansard adds to an `extra`, because ATIF has no field for it. */
export type AtifHansard = Readonly<Record<string, JsonValue | undefined>>;

export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isPlainObject(value) ? (value as JsonObject) : undefined;
}

/** A text that is not empty. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether a value says nothing: null, or an object without fields. */
export function isNothing(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null || (isPlainObject(value) && Object.keys(value).length === 0);
}

/** Without fields that are null. Null and absent are equal in ATIF. */
export function withoutNothing(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(kept) as JsonObject;
}

interface ReadUsage {
  readonly usage: Usage;
  readonly costUsd?: number;
  /** The metrics that `usage` and `costUsd` do not hold. */
  readonly rest: JsonObject;
  /** What cannot be right. */
  readonly problem: string | null;
}

const counted = ['prompt_tokens', 'completion_tokens', 'cached_tokens'] as const;
/** Figures that some producers keep in `metrics.extra`. */
const writes = ['cache_creation_input_tokens', 'cache_write_tokens', 'cache_write_input_tokens'];
const reasoning = ['reasoning_output_tokens', 'reasoning_tokens'];

/**
 * The usage of a step. `prompt_tokens` are all tokens of the input. Those of a cache are taken out of them, also the written ones, which only
 * `metrics.extra` has.
 */
export function usageOf(metrics: JsonObject): ReadUsage {
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    cached_tokens: cached,
    cost_usd: cost,
    ...rest
  } = metrics;
  const wrong = counted.filter((name) => !isNothing(metrics[name]) && !isCount(metrics[name]));
  const isCost = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0;
  const [all, output, read] = [prompt, completion, cached].map((value) =>
    isCount(value) ? value : undefined,
  );
  const extra = asObject(metrics.extra) ?? {};
  const fits = read === undefined || read <= (all ?? 0);
  const uncached = (all ?? 0) - (fits ? (read ?? 0) : 0);
  const written = countIn(extra, writes);
  const isPart = written !== undefined && written <= uncached;
  const problems = [
    ...wrong.map((name) => `${name} is ${JSON.stringify(metrics[name])}`),
    ...(fits ? [] : ['there are more cached tokens than prompt tokens']),
    ...(isNothing(cost) || isCost ? [] : [`cost_usd is ${JSON.stringify(cost)}`]),
  ];
  const thought = countIn(extra, reasoning);
  const { web_search_requests: searches, web_fetch_requests: fetches } =
    asObject(extra.server_tool_use) ?? {};
  const { turns, durationMs } = asObject(extra.hansard) ?? {};
  return {
    usage: {
      inputTokens: uncached - (isPart ? written : 0),
      outputTokens: output ?? 0,
      ...(read === undefined ? {} : { cacheReadTokens: read }),
      ...(isPart ? { cacheWriteTokens: written, ...lifetimesOf(extra, written) } : {}),
      ...(thought === undefined || thought > (output ?? 0) ? {} : { reasoningTokens: thought }),
      ...(isCount(searches) ? { webSearchRequests: searches } : {}),
      ...(isCount(fetches) ? { webFetchRequests: fetches } : {}),
      ...(isCount(turns) ? { turns } : {}),
      ...(typeof durationMs === 'number' && durationMs >= 0 ? { durationMs } : {}),
      ...termsOf(extra),
    },
    ...(isCost ? { costUsd: cost } : {}),
    rest: withoutNothing({
      ...rest,
      ...(problems.length === 0
        ? {}
        : {
            stated: {
              prompt_tokens: prompt ?? null,
              completion_tokens: completion ?? null,
              cached_tokens: cached ?? null,
              ...(isCost ? {} : { cost_usd: cost ?? null }),
            },
          }),
      ...(problems.length === 0 ? absentOf({ all, output }) : {}),
    }),
    problem: problems.length === 0 ? null : `${problems.join(', ')}.`,
  };
}

/** Counts that the source does not state, which a usage has as 0. */
function absentOf(counts: {
  readonly all: number | undefined;
  readonly output: number | undefined;
}): JsonObject {
  const absent = [
    ...(counts.all === undefined ? ['prompt_tokens'] : []),
    ...(counts.output === undefined ? ['completion_tokens'] : []),
  ];
  return absent.length === 0 ? {} : { notStated: absent };
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function countIn(fields: JsonObject, names: readonly string[]): number | undefined {
  const [count] = names.flatMap((name) => (isCount(fields[name]) ? (fields[name] as number) : []));
  return count;
}

function lifetimesOf({ cache_creation: parts }: JsonObject, written: number): Partial<Usage> {
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = asObject(parts) ?? {};
  if (!isCount(short) || !isCount(long) || short + long !== written) return {};
  return { cacheWrite5mTokens: short, cacheWrite1hTokens: long };
}

function termsOf({
  speed,
  service_tier: serviceTier,
  inference_geo: inferenceGeo,
}: JsonObject): Partial<Usage> {
  const terms = Object.entries({ speed, serviceTier, inferenceGeo });
  return Object.fromEntries(
    terms.filter(([, value]) => typeof value === 'string' && /^[A-Za-z0-9._:-]{1,40}$/.test(value)),
  );
}

import * as z from 'zod/mini';

const idPattern = /^[A-Za-z0-9._:-]{1,128}$/;

let latestId: string | undefined;

/** Whether a value matches `idSchema`. Faster than the schema, especially for a repeated id. */
export function isId(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  if (value === latestId) return true;
  if (!idPattern.test(value)) return false;
  latestId = value;
  return true;
}

const timestampPattern =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

let latestTimestamp: string | undefined;

/** Whether a value matches `timestampSchema`. Faster than the schema, especially for a repeated time. */
export function isTimestamp(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  if (value === latestTimestamp) return true;
  if (!timestampPattern.test(value)) return false;
  latestTimestamp = value;
  return true;
}

/** The id of an event, message, agent or dispatch: 1 to 128 characters of `A-Z a-z 0-9 . _ : -`. */
export const idSchema = z.string().check(z.regex(idPattern, 'not an id: 1 to 128 of A-Z a-z 0-9 . _ : -'));

/** RFC 3339, UTC, milliseconds: `2026-03-01T09:30:00.000Z`. */
export const timestampSchema = z
  .string()
  .check(z.regex(timestampPattern, 'not a UTC time with milliseconds'));

/** When something happened. Null: its source does not record it, which is never replaced by another time. */
export const recordedTimeSchema = z.nullable(timestampSchema);

/** A count that is never negative: tokens, turns, milliseconds. */
export const countSchema = z.number().check(z.int(), z.nonnegative());

/** A duration in milliseconds; a fraction is allowed. */
export const millisecondsSchema = z.number().check(z.nonnegative());

/** An amount in US dollars. */
export const costSchema = z.number().check(z.nonnegative());

/** The fields of a usage that add up over calls, and that a source may leave out. */
const addedParts = {
  cacheReadTokens: z.optional(countSchema),
  cacheWriteTokens: z.optional(countSchema),
  /** The part of `cacheWriteTokens` that the cache keeps for five minutes. */
  cacheWrite5mTokens: z.optional(countSchema),
  /** The part of `cacheWriteTokens` that the cache keeps for an hour. */
  cacheWrite1hTokens: z.optional(countSchema),
  /** The part of `outputTokens` that the model used to think. */
  reasoningTokens: z.optional(countSchema),
  /** Searches that the server of the model made. */
  webSearchRequests: z.optional(countSchema),
  /** Pages that the server of the model read. */
  webFetchRequests: z.optional(countSchema),
} as const;

/** A term of the source in one word, such as `fast` or `us`. */
const termSchema = z
  .string()
  .check(z.regex(/^[A-Za-z0-9._:-]{1,40}$/, 'not a term: 1 to 40 of A-Z a-z 0-9 . _ : -'));

/** The fields of a usage that decide its price and do not add up. Absent: not known, so what is usual. */
const callTerms = {
  /** `standard` or `fast`. */
  speed: z.optional(termSchema),
  /** `standard`, `priority` or `batch`. */
  serviceTier: z.optional(termSchema),
  /** Where the model ran, if that was restricted: `global` or `us`. */
  inferenceGeo: z.optional(termSchema),
} as const;

/**
 * The usage of a model call, a session or a dispatch. Tokens of a prompt cache are not part of `inputTokens`. Only the usage of a
 * call has a speed, a service tier and a place.
 */
export const usageSchema = z.object({
  inputTokens: countSchema,
  outputTokens: countSchema,
  ...addedParts,
  ...callTerms,
  turns: z.optional(countSchema),
  durationMs: z.optional(millisecondsSchema),
});

export type Usage = z.infer<typeof usageSchema>;

/**
 * What one model used. Tokens as in `usageSchema`. Calls of one model that differ in a speed, a service tier or a place other
 * than the usual one are in separate rows.
 */
export const modelUsageSchema = z.object({
  model: z.string(),
  ...callTerms,
  /** Its recorded calls. 0: only a `session:complete` names the model. */
  calls: countSchema,
  inputTokens: countSchema,
  outputTokens: countSchema,
  ...addedParts,
  /** US dollars: the sum of the costs that the log states. Absent: it states none. */
  costUsd: z.optional(costSchema),
  /** US dollars: an estimate for the calls whose cost the log does not state. Absent: the price table has no price for the model. */
  estimatedUsd: z.optional(costSchema),
  /** The model of the price table that the estimate is for. */
  pricedAs: z.optional(z.string()),
  /** The fields of the usage that the price table has no price for. `estimatedUsd` is then a lower bound. */
  unpriced: z.optional(z.array(z.string())),
});

export type ModelUsage = z.infer<typeof modelUsageSchema>;

/** What a source states that one model used, in all calls of the model. */
export const statedModelUsageSchema = z.omit(modelUsageSchema, {
  calls: true,
  estimatedUsd: true,
  pricedAs: true,
  unpriced: true,
  speed: true,
  serviceTier: true,
  inferenceGeo: true,
});

export type StatedModelUsage = z.infer<typeof statedModelUsageSchema>;

/** Where a session was forked or continued from, in the words of its source. */
export const forkSchema = z.object({
  from: z.object({
    /** `hansard`, or the product that wrote the origin, such as `claude-code`. */
    product: z.string().check(z.minLength(1)),
    sessionId: z.string().check(z.minLength(1)),
    /** The last record that the fork has from its origin. Absent: not known. */
    recordId: z.optional(z.string().check(z.minLength(1))),
    /** The dispatch of the origin. Absent: not known. */
    dispatchId: z.optional(idSchema),
  }),
  /** How the head was repeated, in a word of the source, such as `fork` or `resume`. Absent with `through`: nothing was repeated. */
  kind: z.optional(z.string().check(z.minLength(1))),
  /** The record of the origin after which this session begins. Until the origin can be read, its head is not known. */
  through: z.optional(z.string().check(z.minLength(1))),
  /** What the repeated model calls have used. Absent: none is repeated, or it is not known. */
  usage: z.optional(usageSchema),
});

/** A call of a tool whose result or whose model is not known yet. */
const openToolCallSchema = z.object({
  toolCallId: z.string(),
  /** The quarter of the call, as in `usagePeriodsSchema`. */
  start: recordedTimeSchema,
  /** Null: its message has no `agent:inference` yet. */
  model: z.nullable(z.string()),
  messageId: z.optional(idSchema),
  agentId: z.optional(idSchema),
  /** Absent: the call has no result yet. */
  status: z.optional(z.enum(['completed', 'error'])),
});

export type OpenToolCall = z.infer<typeof openToolCallSchema>;

/** A figure of each period. Null: 0, or nothing recorded states it. An absent column has null everywhere. */
const counts = z.optional(z.array(z.nullable(countSchema)));
const amounts = z.optional(z.array(z.nullable(costSchema)));

/**
 * What a dispatch used by quarter of an hour and model. Each period is a place in every list, because lists of figures are
 * shorter than objects, and faster to read.
 */
export const usagePeriodsSchema = z.object({
  /** The beginning of the quarter of an hour, such as `2026-03-01T09:45:00.000Z`. Null: the time is not recorded. */
  start: z.array(recordedTimeSchema),
  /** With the special terms of its calls: `claude-opus-4-6 (fast)`. Null: not known, or the figures are of all models. */
  model: z.array(z.nullable(z.string())),
  /** Recorded calls of the model, as in `models`. */
  modelCalls: counts,
  /** Calls of models that gave no answer. They are not in `modelCalls`. */
  failedModelCalls: counts,
  /** Calls of tools in messages of the model. */
  toolCalls: counts,
  /** Those of `toolCalls` whose result is an error. */
  failedToolCalls: counts,
  inputTokens: counts,
  outputTokens: counts,
  cacheReadTokens: counts,
  cacheWriteTokens: counts,
  cacheWrite5mTokens: counts,
  cacheWrite1hTokens: counts,
  reasoningTokens: counts,
  webSearchRequests: counts,
  webFetchRequests: counts,
  costUsd: amounts,
  estimatedUsd: amounts,
  /** What the next events need: the last calls of tools that are open. */
  open: z.array(openToolCallSchema),
});

export type UsagePeriods = z.infer<typeof usagePeriodsSchema>;

/** The price table that an estimate was made with. */
export const priceSourceSchema = z.object({
  name: z.string(),
  version: z.string(),
  /** The day from which the table is: `2026-09-14`. */
  date: z.string(),
});

export type PriceSource = z.infer<typeof priceSourceSchema>;

/**
 * A model call at the end of an imported log that can still change, so that it has no event yet. Every sum counts it as the
 * event that it becomes; a sum that has that event ignores it.
 */
export const openCallSchema = z.object({
  /** The id of the `agent:inference` event that it becomes. */
  id: idSchema,
  agentId: z.optional(idSchema),
  messageId: z.optional(idSchema),
  /** The time of that event, as the log is now. */
  timestamp: recordedTimeSchema,
  /** What it adds to `models`. */
  usage: modelUsageSchema,
  /** The table that was asked for its price. Null: none. */
  prices: z.nullable(priceSourceSchema),
});

export type OpenCall = z.infer<typeof openCallSchema>;

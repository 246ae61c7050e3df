import { readFileSync } from 'node:fs';
import { type HansardError, messageOf, type Usage } from '@hansard/events';
import type { PriceTable } from '@hansard/facts';
import { z } from 'zod';
import { importErrors } from '../import-errors.ts';
import { contextOf, partsOf, priceTerms, type UsageParts, unpricedCounts } from './usage-parts.ts';

const price = z.number().nonnegative();

const tokenPrices = {
  /** US dollars for a million tokens. */
  input: price,
  output: price,
  /** Absent: the price of output. */
  reasoning: price.optional(),
  /** Absent: the price of input. */
  cacheRead: price.optional(),
  /** Absent: the price of input. */
  cacheWrite: price.optional(),
  /** Cache writes for an hour. Absent: they count as other cache writes, and are named as not priced. */
  cacheWrite1h: price.optional(),
} as const;

/** By term: what the price of tokens is multiplied by. */
const multipliers = z.record(z.string(), price).optional();

const modelSchema = z.strictObject({
  ...tokenPrices,
  /** The prices of a call that reads more than `above` tokens, for all its tokens. */
  longContext: z.strictObject({ above: price, ...tokenPrices }).optional(),
  /** US dollars for 1,000 requests. Absent: they are named as not priced. */
  webSearches: price.optional(),
  webFetches: price.optional(),
  speeds: multipliers,
  serviceTiers: multipliers,
  inferenceGeos: multipliers,
});

type TokenPrices = z.infer<z.ZodObject<typeof tokenPrices>>;
type ModelPrices = z.infer<typeof modelSchema>;

const fileSchema = z.strictObject({
  name: z.string().min(1),
  version: z.string().min(1),
  date: z.iso.date(),
  /** By the name that the log has for the model. */
  models: z.record(z.string(), modelSchema),
});

/**
 * Reads a price table from a JSON file: `{ "name", "version", "date", "models": { "my-model": { "input": 3, "output": 15 } } }`,
 * in US dollars for a million tokens. Model names must be equal to those of the log.
 * @throws IMPORT_PRICES_INVALID
 */
export function readPriceFile(path: string): PriceTable {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
  const result = fileSchema.safeParse(content);
  if (!result.success) throw invalid(path, firstIssues(result.error), result.error);
  const { models, ...source } = result.data;
  const byName = new Map(Object.entries(models));
  return {
    ...source,
    priceOf({ model, usage }) {
      const prices = byName.get(model);
      return prices === undefined ? null : { ...priceWith(prices, usage), model };
    },
  };
}

function priceWith(prices: ModelPrices, usage: Usage): { usd: number; unpriced?: (keyof Usage)[] } {
  const { longContext, webSearches = 0, webFetches = 0 } = prices;
  const parts = partsOf(usage);
  const isLong = longContext !== undefined && contextOf(parts) > longContext.above;
  const tokens = isLong ? longContext : prices;
  const terms = priceTerms(usage, prices);
  const requests = (parts.webSearches * webSearches + parts.webFetches * webFetches) / 1_000;
  const unpriced = [
    ...terms.unpriced,
    ...unpricedCounts(parts, {
      cacheWrite1hTokens: tokens.cacheWrite1h !== undefined,
      webSearchRequests: prices.webSearches !== undefined,
      webFetchRequests: prices.webFetches !== undefined,
    }),
  ];
  return {
    usd: (priceOfTokens(tokens, parts) * terms.factor) / 1_000_000 + requests,
    ...(unpriced.length === 0 ? {} : { unpriced }),
  };
}

/** US dollars for a million such calls. */
function priceOfTokens(prices: TokenPrices, parts: UsageParts): number {
  const { input, output, reasoning = output, cacheRead = input, cacheWrite = input } = prices;
  const { cacheWrite1h = cacheWrite } = prices;
  return (
    parts.input * input +
    (parts.output - parts.reasoning) * output +
    parts.reasoning * reasoning +
    parts.cacheRead * cacheRead +
    parts.cacheWrite * cacheWrite +
    parts.cacheWrite1h * cacheWrite1h
  );
}

const mostIssues = 5;

function firstIssues({ issues }: z.ZodError): string {
  const places = issues
    .slice(0, mostIssues)
    .map(({ path, message }) => [...(path.length === 0 ? [] : [path.join('.')]), message].join(': '));
  const others = issues.length - places.length;
  return `${places.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

function invalid(path: string, reason: string, cause: unknown): HansardError {
  return importErrors.error('IMPORT_PRICES_INVALID', `${path} is not a price table: ${reason}`, {
    cause,
    details: { path },
  });
}

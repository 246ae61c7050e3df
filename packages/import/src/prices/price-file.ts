import { readFileSync } from 'node:fs';
import { type HansardError, messageOf, type Usage } from '@hansard/events';
import { type PriceTable, specialTerms } from '@hansard/facts';
import { z } from 'zod';
import { importErrors } from '../import-errors.ts';

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

/** The counts of a usage that have a price each. No token is in two of them, except `reasoning` in `output`. */
export interface UsageParts {
  readonly input: number;
  readonly output: number;
  /** A part of `output`. */
  readonly reasoning: number;
  readonly cacheRead: number;
  /** Cache writes for five minutes, and those whose time is not recorded: five minutes is the default of the API. */
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly webSearches: number;
  readonly webFetches: number;
}

/** A part that exceeds what it is a part of is cut, so that no token is priced twice. */
export function partsOf(usage: Usage): UsageParts {
  const { outputTokens, cacheWriteTokens = 0, cacheWrite1hTokens = 0, reasoningTokens = 0 } = usage;
  const cacheWrite1h = Math.min(cacheWrite1hTokens, cacheWriteTokens);
  return {
    input: usage.inputTokens,
    output: outputTokens,
    reasoning: Math.min(reasoningTokens, outputTokens),
    cacheRead: usage.cacheReadTokens ?? 0,
    cacheWrite: cacheWriteTokens - cacheWrite1h,
    cacheWrite1h,
    webSearches: usage.webSearchRequests ?? 0,
    webFetches: usage.webFetchRequests ?? 0,
  };
}

/** How many tokens the model read: what decides whether a long context has its own price. */
export function contextOf({ input, cacheRead, cacheWrite, cacheWrite1h }: UsageParts): number {
  return input + cacheRead + cacheWrite + cacheWrite1h;
}

/** What the price of tokens is multiplied by, by the term of a call. A term that is not here has no price. */
export interface TermPrices {
  readonly speeds?: Readonly<Record<string, number>> | undefined;
  readonly serviceTiers?: Readonly<Record<string, number>> | undefined;
  readonly inferenceGeos?: Readonly<Record<string, number>> | undefined;
}

/** What the terms of a call do to the price of its tokens. */
interface TermsPriced {
  readonly factor: number;
  readonly unpriced: (keyof Usage)[];
}

/**
 * A speed or a place without a price counts as the usual one, which costs less. A service tier without a price may cost less than
 * the usual one, so its tokens count as 0: the sum stays a lower bound.
 */
export function priceTerms(usage: Usage, prices: TermPrices): TermsPriced {
  const { speed, serviceTier, inferenceGeo } = specialTerms(usage);
  const unpriced: (keyof Usage)[] = [];
  let factor = 1;
  const apply = (
    part: keyof Usage,
    term: string | undefined,
    known: TermPrices['speeds'],
    otherwise: number,
  ) => {
    if (term === undefined) return;
    const price = known !== undefined && Object.hasOwn(known, term) ? known[term] : undefined;
    if (price === undefined) unpriced.push(part);
    factor *= price ?? otherwise;
  };
  apply('speed', speed, prices.speeds, 1);
  apply('serviceTier', serviceTier, prices.serviceTiers, 0);
  apply('inferenceGeo', inferenceGeo, prices.inferenceGeos, 1);
  return { factor, unpriced };
}

type Counted = 'cacheWrite1hTokens' | 'webSearchRequests' | 'webFetchRequests';

/** The counts of a call that a table without these prices has to leave out, or to price as something cheaper. */
export function unpricedCounts(
  { cacheWrite1h, webSearches, webFetches }: UsageParts,
  isPriced: Readonly<Record<Counted, boolean>>,
): Counted[] {
  const counts = {
    cacheWrite1hTokens: cacheWrite1h,
    webSearchRequests: webSearches,
    webFetchRequests: webFetches,
  };
  return (Object.keys(counts) as Counted[]).filter((count) => counts[count] > 0 && !isPriced[count]);
}

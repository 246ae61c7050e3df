import type { Usage } from '@hansard/events';
import { specialTerms } from '@hansard/facts';

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

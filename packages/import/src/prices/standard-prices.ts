import type { Usage } from '@hansard/events';
import type { Price, PricedCall, PriceTable } from '@hansard/facts';
import { calcPrice, type PriceOptions } from '@pydantic/genai-prices';
import {
  contextOf,
  partsOf,
  priceTerms,
  type TermPrices,
  type UsageParts,
  unpricedCounts,
} from './price-file.ts';

const batch = { batch: 0.5 } as const;

/** Models before 4.6 have one price, whatever the place. */
const older: ModelTerms = { serviceTiers: batch, inferenceGeos: { us: 1 } };

const newer: ModelTerms = { serviceTiers: batch, inferenceGeos: { us: 1.1 } };

const fast = (multiplier: number): ModelTerms => ({ ...newer, speeds: { fast: multiplier } });

/**
 * By the name of the model in the package. From https://platform.claude.com/docs/en/about-claude/pricing ("Fast mode pricing",
 * "Batch processing", "Data residency pricing", "Long context pricing"); test/priced-parts.test.ts has a row for each. A
 * batch has no fast mode. The priority tier is bought as capacity, so it has no price for a call.
 */
const anthropicTerms: Readonly<Record<string, ModelTerms>> = {
  'claude-v1': older,
  'claude-2': older,
  'claude-3-haiku': older,
  'claude-3-sonnet': older,
  'claude-3-opus-latest': older,
  'claude-3-5-haiku-latest': older,
  'claude-3-5-sonnet': older,
  'claude-3-7-sonnet-latest': older,
  'claude-opus-4-0': older,
  'claude-sonnet-4-0': { ...older, longContext: { input: 2, output: 1.5 } },
  'claude-opus-4-1': older,
  'claude-opus-4-5': older,
  'claude-sonnet-4-5': older,
  'claude-haiku-4-5': older,
  'claude-opus-4-6': fast(6),
  'claude-sonnet-4-6': newer,
  'claude-opus-4-7': fast(6),
  'claude-opus-4-8': fast(2),
  'claude-opus-5': fast(2),
  'claude-opus-5-5': fast(2),
  'claude-sonnet-5': newer,
  'claude-fable-5': newer,
  'claude-fable-5-1': newer,
};

/**
 * List prices of public models, from the package `@pydantic/genai-prices`, which needs no network. It prices each kind of token
 * (one-hour cache writes and long contexts included) and web searches, at the time of the call. Fast mode, batches and data
 * residency come from Anthropic's price list. A call whose time is not recorded has the prices of `date`. Discounts of a contract are not in an estimate.
 */
export const standardPrices: PriceTable = {
  name: 'genai-prices',
  version: '0.1.8',
  date: '2026-09-23',
  priceOf: ({ model, usage, timestamp }: PricedCall): Price | null => {
    const parts = partsOf(usage);
    const found = lookUp(model, parts, timestamp);
    if (found === null) return null;
    const { provider, model: entry, model_price: prices } = found;
    const list = termsFor(provider.id, entry.id);
    const terms = priceTerms(usage, isFastBatch(usage) ? { ...list, speeds: {} } : list);
    const long = contextOf(parts) > longContext ? list.longContext : undefined;
    const tokens = found.input_price * (long?.input ?? 1) + found.output_price * (long?.output ?? 1);
    const perThousandSearches = prices.web_searches_kcount;
    const searches = typeof perThousandSearches === 'number' ? perThousandSearches : 0;
    const unpriced = [
      ...terms.unpriced,
      ...unpricedCounts(parts, {
        cacheWrite1hTokens: prices.cache_write_1h_mtok !== undefined,
        webSearchRequests: typeof perThousandSearches === 'number',
        // Anthropic fetches pages for the price of their tokens.
        webFetchRequests: provider.id === 'anthropic',
      }),
    ];
    return {
      usd: tokens * terms.factor + (parts.webSearches * searches) / 1_000,
      model: `${provider.id}/${entry.id}`,
      ...(unpriced.length === 0 ? {} : { unpriced }),
    };
  },
};

const longContext = 200_000;

/** Anthropic does not offer fast mode in a batch. */
function isFastBatch({ speed, serviceTier }: Usage): boolean {
  return speed === 'fast' && serviceTier === 'batch';
}

type Priced = NonNullable<ReturnType<typeof calcPrice>>;
type Found = Pick<Priced, 'provider' | 'model' | 'model_price' | 'input_price' | 'output_price'>;

interface KnownModel {
  /** The package's provider with this model alone, so that the package searches all models only once. */
  readonly provider: Found['provider'];
  readonly model: Found['model'];
  /** The first day of prices comes last that is not after the call. Null: the prices depend on more, so the package computes each call. */
  readonly fixed: readonly DatedPrices[] | null;
}

/** By the name of a model. Null: the package has none. */
const known = new Map<string, KnownModel | null>();
const mostKnown = 1_000;

/** The entry of the package for exactly this model, with the price of the tokens. Null: it has none. */
function lookUp(model: string, parts: UsageParts, timestamp: string | null): Found | null {
  const name = model.replace(contextSuffix, '');
  const before = known.get(name);
  if (before === null) return null;
  if (before?.fixed != null)
    return pricedAt(pricesAt(before.fixed, timestamp ?? standardPrices.date), before, parts);
  const { output, reasoning, cacheRead, cacheWrite, cacheWrite1h } = parts;
  const found = calcPrice(
    {
      // Here, the tokens of a prompt cache are a part of the input.
      input_tokens: contextOf(parts),
      output_tokens: output,
      output_reasoning_tokens: reasoning,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite + cacheWrite1h,
      cache_write_1h_tokens: cacheWrite1h,
    },
    name,
    {
      ...(before === undefined ? providerOf(name) : { provider: before.provider }),
      timestamp: new Date(timestamp ?? standardPrices.date),
    },
  );
  if (before !== undefined) return found;
  const isFound = found !== null && (isListed(name, found.model.match) || isSameModel(name, found.model.id));
  if (known.size === mostKnown) known.clear();
  known.set(name, isFound ? knownModel(found) : null);
  return isFound ? found : null;
}

function knownModel({ provider, model }: Found): KnownModel {
  return { provider: { ...provider, models: [model] }, model, fixed: fixedPrices(model) };
}

type PackagePrices = Found['model_price'];
type PriceValue =
  | number
  | { readonly base: number; readonly tiers: readonly { start: number; price: number }[] };

/** US dollars for a million tokens, and for 1,000 searches. A price with tiers depends on the tokens of the input. */
type FixedPrices = Readonly<Record<string, PriceValue>>;

interface DatedPrices {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly prices: PackagePrices;
}

const fixedKeys: ReadonlySet<string> = new Set([
  ...['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok', 'cache_write_1h_mtok'],
  'web_searches_kcount',
  // No usage has a count for these.
  ...['input_audio_mtok', 'output_audio_mtok', 'cache_audio_read_mtok', 'input_image_mtok'],
  ...['output_image_mtok', 'cache_image_read_mtok', 'input_video_mtok', 'output_video_mtok'],
  'storage_searches_kcount',
]);

function fixedPrices({ prices }: Found['model']): readonly DatedPrices[] | null {
  const all = Array.isArray(prices) ? prices : [{ prices }];
  const dated = all.map(({ prices: own, constraint }) => ({
    from:
      constraint === undefined
        ? Number.NEGATIVE_INFINITY
        : 'start_date' in constraint
          ? Date.parse(constraint.start_date)
          : Number.NaN,
    prices: own,
  }));
  const isFixed = dated.every(
    ({ from, prices: own }) =>
      !Number.isNaN(from) && Object.entries(own).every(([key, one]) => fixedKeys.has(key) && isPrice(one)),
  );
  return isFixed ? dated : null;
}

function isPrice(value: unknown): value is PriceValue {
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  const { tiers } = value as { readonly tiers?: readonly { readonly start: number }[] };
  return tiers?.every(({ start }, at) => at === 0 || start > (tiers[at - 1]?.start ?? start)) === true;
}

function pricesAt(dated: readonly DatedPrices[], timestamp: string): PackagePrices {
  const [first] = dated;
  const time = dated.length === 1 ? 0 : Date.parse(timestamp);
  return (dated.findLast(({ from }) => time >= from) ?? first)?.prices ?? {};
}

/** What the package computes, which takes twenty times as long. Tokens without a price of their own have that of the kind that includes them. */
function pricedAt(list: PackagePrices, { provider, model }: KnownModel, parts: UsageParts): Found {
  const prices = list as FixedPrices;
  const { cache_read_mtok: read, cache_write_mtok: write, cache_write_1h_mtok: hour } = prices;
  const hours = hour === undefined ? 0 : parts.cacheWrite1h;
  const writes = write === undefined ? 0 : parts.cacheWrite + parts.cacheWrite1h - hours;
  const reads = read === undefined ? 0 : parts.cacheRead;
  const all = contextOf(parts);
  const counts: Readonly<Record<string, number>> = {
    input_mtok: all - reads - writes - hours,
    cache_read_mtok: reads,
    cache_write_mtok: writes,
    cache_write_1h_mtok: hours,
  };
  let input = 0;
  for (const key in prices) input += costOf(prices[key], counts[key] ?? 0, all);
  return {
    ...{ provider, model, model_price: list, input_price: input },
    output_price: costOf(prices.output_mtok, parts.output, all),
  };
}

/** Rounded as the package rounds. */
function costOf(price: PriceValue | undefined, count: number, all: number): number {
  if (price === undefined || count === 0) return 0;
  if (typeof price === 'number') return (price * count) / 1_000_000;
  let { base } = price;
  for (const tier of price.tiers) if (all > tier.start) base = tier.price;
  return (((base * count) / 1_000_000) * 1_000_000) / 1_000_000;
}

/** A context length in the name of a model, such as `[1m]`. */
const contextSuffix = /\[\d+[km]\]$/i;

/** The platform that a name is written for: `us.anthropic.claude-…` for Bedrock, `anthropic/claude-…` for OpenRouter. */
function providerOf(model: string): Pick<PriceOptions, 'providerId'> {
  if (bedrockName.test(model)) return { providerId: 'aws' };
  return model.includes('/') ? { providerId: 'openrouter' } : {};
}

type Match = Found['model']['match'];

/** Whether the package lists the whole name, such as `gpt-5-codex` for `gpt-5`. */
function isListed(model: string, match: Match): boolean {
  if ('or' in match) return match.or.some((one) => isListed(model, one));
  return 'equals' in match && match.equals === model.toLowerCase();
}

/**
 * Whether a match of the package is the model itself. It also matches by prefix, so that the price of `claude-opus-4-1` would be
 * given for `claude-opus-4-10`. What may follow the name is a date or `latest`. The name of the package for
 * `claude-opus-4-20250514` is `claude-opus-4-0`.
 */
function isSameModel(model: string, matched: string): boolean {
  return plainName(model) === plainName(matched);
}

/** On Bedrock, every region but `global` has the price that the package lists as `regional`. */
function plainName(id: string): string {
  const name = id.toLowerCase();
  const bedrock = bedrockName.exec(name);
  if (bedrock === null) return name.replace(suffix, '');
  const [, region, model = ''] = bedrock;
  const place = region === 'global.' ? 'global' : 'regional';
  return `${place} ${model.replace(bedrockVersion, '').replace(suffix, '')}`;
}

const suffix = /(-0)?(-latest|[-@]\d{4}-?\d{2}-?\d{2})?$/;

const bedrockName = /^([a-z-]+\.)?anthropic\.(.+)$/;

const bedrockVersion = /(-v\d+)?(:\d+)?$/;

/** What Anthropic's price list says of a model and `@pydantic/genai-prices` does not have. */
interface ModelTerms extends TermPrices {
  /** Prices of a call that reads more than 200,000 tokens, where the package has none: multipliers. */
  readonly longContext?: { readonly input: number; readonly output: number };
}

/** What the list has for a model of a provider. Only Anthropic's own API has these prices. */
export function termsFor(provider: string, model: string): ModelTerms {
  if (provider !== 'anthropic' || !Object.hasOwn(anthropicTerms, model)) return {};
  return anthropicTerms[model] ?? {};
}

import type { TermPrices } from './usage-parts.ts';

/** What Anthropic's price list says of a model and `@pydantic/genai-prices` does not have. */
interface ModelTerms extends TermPrices {
  /** Prices of a call that reads more than 200,000 tokens, where the package has none: multipliers. */
  readonly longContext?: { readonly input: number; readonly output: number };
}

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

/** What the list has for a model of a provider. Only Anthropic's own API has these prices. */
export function termsFor(provider: string, model: string): ModelTerms {
  if (provider !== 'anthropic' || !Object.hasOwn(anthropicTerms, model)) return {};
  return anthropicTerms[model] ?? {};
}

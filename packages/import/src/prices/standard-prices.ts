import type { Price, PricedCall, PriceTable } from '@hansard/views';
import { calcPrice } from '@pydantic/genai-prices';

/**
 * List prices of public models, from the package `@pydantic/genai-prices`, which needs no network. Discounts, batches and the
 * higher price of a one-hour prompt cache are not in the events of a dispatch, so they are not in an estimate.
 */
export const standardPrices: PriceTable = {
  name: 'genai-prices',
  version: '0.1.8',
  date: '2026-09-23',
  priceOf: ({ model, usage, timestamp }: PricedCall): Price | null => {
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    const price = calcPrice(
      {
        // Here, the tokens of a prompt cache are a part of the input.
        input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
        output_tokens: outputTokens,
        cache_read_tokens: cacheReadTokens,
        cache_write_tokens: cacheWriteTokens,
      },
      model,
      { timestamp: new Date(timestamp) },
    );
    if (price === null || !(isListed(model, price.model.match) || isSameModel(model, price.model.id)))
      return null;
    return { usd: price.total_price, model: `${price.provider.id}/${price.model.id}` };
  },
};

type Match = NonNullable<ReturnType<typeof calcPrice>>['model']['match'];

/** Whether the package lists the whole name, such as `gpt-5-codex` for `gpt-5`. */
function isListed(model: string, match: Match): boolean {
  if ('or' in match) return match.or.some((one) => isListed(model, one));
  return 'equals' in match && match.equals === model.toLowerCase();
}

/**
 * Whether a match of the package is the model itself. It also matches by prefix, so that the price of `claude-opus-4-1` would be
 * given for `claude-opus-4-10`. What may follow the name is a date, `latest`, or a context length such as `[1m]`. The name
 * of the package for `claude-opus-4-20250514` is `claude-opus-4-0`.
 */
function isSameModel(model: string, matched: string): boolean {
  const [name, found] = [model, matched].map((id) => id.toLowerCase().replace(suffix, ''));
  return name === found;
}

const suffix = /(-0)?(-latest|[-@]\d{4}-?\d{2}-?\d{2})?(\[\d+[km]\])?$/;

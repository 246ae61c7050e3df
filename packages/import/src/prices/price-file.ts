import { readFileSync } from 'node:fs';
import { messageOf } from '@hansard/events';
import type { PriceTable } from '@hansard/views';
import { z } from 'zod';
import { ImportError } from '../import-error.ts';

const perMillion = z.number().nonnegative();

const modelSchema = z.strictObject({
  /** US dollars for a million tokens. */
  input: perMillion,
  output: perMillion,
  /** Absent: the price of input. */
  cacheRead: perMillion.optional(),
  cacheWrite: perMillion.optional(),
});

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
    priceOf({ model, usage: { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } }) {
      const prices = byName.get(model);
      if (prices === undefined) return null;
      const { input, output, cacheRead = input, cacheWrite = input } = prices;
      const total =
        inputTokens * input +
        outputTokens * output +
        cacheReadTokens * cacheRead +
        cacheWriteTokens * cacheWrite;
      return { usd: total / 1_000_000, model };
    },
  };
}

const mostIssues = 5;

function firstIssues({ issues }: z.ZodError): string {
  const places = issues
    .slice(0, mostIssues)
    .map(({ path, message }) => [...(path.length === 0 ? [] : [path.join('.')]), message].join(': '));
  const others = issues.length - places.length;
  return `${places.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

function invalid(path: string, reason: string, cause: unknown): ImportError {
  return new ImportError('IMPORT_PRICES_INVALID', `${path} is not a price table: ${reason}`, {
    cause,
    details: { path },
  });
}

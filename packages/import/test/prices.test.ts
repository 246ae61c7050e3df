import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { importErrors, readPriceFile, standardPrices } from '@hansard/import';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const timestamp = '2026-01-01T00:00:00.000Z';
const usage = {
  inputTokens: 1_000_000,
  outputTokens: 100_000,
  cacheReadTokens: 2_000_000,
  cacheWriteTokens: 400_000,
};
const priceOf = (model: string, table = standardPrices) => table.priceOf({ model, usage, timestamp });

describe('the standard price table', () => {
  it('has the version of the installed package', () => {
    const entry = createRequire(import.meta.url).resolve('@pydantic/genai-prices');
    const manifest = JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8'));
    expect(standardPrices.version).toBe(manifest.version);
  });

  it('counts the tokens of a prompt cache at their own rates, once', () => {
    // Dollars for a million tokens: 5 input, 25 output, 0.50 cache read, 6.25 cache write.
    expect(priceOf('claude-opus-4-5-20251101')).toEqual({
      usd: expect.closeTo(5 + 2.5 + 1 + 2.5, 9),
      model: 'anthropic/claude-opus-4-5',
    });
  });

  it.each([
    'claude-opus-4-5',
    'claude-opus-4-5-20251101',
    'claude-opus-4-20250514',
    'claude-sonnet-4-20250514',
    'claude-opus-4-0',
    'claude-sonnet-4-5-20250929[1m]',
    'gpt-5-mini-2025-08-07',
    'gpt-5-codex',
    'gpt-4-0613',
  ])('knows %s', (model) => expect(priceOf(model)?.usd).toBeGreaterThan(0));

  it.each([
    '<synthetic>',
    'claude-opus-4-10',
    'claude-opus-4-00',
    'claude-opus-4-0-0',
    'claude-opus-40',
    'claude-opus-4-5-turbo',
    'my-gpt-5',
    'gpt-5-codex-2',
    'sonnet',
    'scripted',
    '',
  ])('has no price for %j, whatever its name resembles', (model) => expect(priceOf(model)).toBeNull());
});

describe('a price table in a file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hansard-prices-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (content: unknown) => {
    const path = join(folder, 'prices.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const source = { name: 'ours', version: '7', date: '2026-02-03' };

  it('is read as the README and the advice of the error show it', () => {
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    const table = readPriceFile(put(/```json\n(.+?)```/s.exec(readme)?.[1] ?? ''));
    // More than 200,000 tokens were read.
    expect(priceOf('my-model', table)?.usd).toBeCloseTo(6 + 2.25 + 1.2 + 3, 9);
    const { advice } = importErrors.rows.IMPORT_PRICES_INVALID;
    expect(readPriceFile(put(/`(.+?)`/.exec(advice)?.[1] ?? '')).name).toBe('ours');
  });

  it('has the prices of its models for a million tokens, and of no other', () => {
    const models = { mine: { input: 2, output: 10, cacheRead: 0.5 }, __proto__: {} };
    const table = readPriceFile(put({ ...source, models }));
    expect(table).toMatchObject(source);
    // Without a price of its own, a cache write costs what input costs.
    expect(priceOf('mine', table)).toEqual({ usd: expect.closeTo(2 + 1 + 1 + 0.8, 9), model: 'mine' });
    expect(priceOf('mine-2', table)).toBeNull();
    expect(priceOf('constructor', table)).toBeNull();
  });

  it('names the parts of a usage that it has no price for', () => {
    const terms = { speeds: { fast: 3 }, webSearches: 20 };
    const table = readPriceFile(
      put({
        ...source,
        models: { bare: { input: 2, output: 10 }, more: { input: 2, output: 10, ...terms } },
      }),
    );
    const call = (model: string, more: object) =>
      table.priceOf({ model, usage: { inputTokens: 1_000_000, outputTokens: 0, ...more }, timestamp });
    const requests = { webSearchRequests: 2, webFetchRequests: 1 };
    expect(call('bare', requests)).toEqual({
      usd: 2,
      model: 'bare',
      unpriced: ['webSearchRequests', 'webFetchRequests'],
    });
    expect(call('more', requests)).toMatchObject({ usd: 2.04, unpriced: ['webFetchRequests'] });
    expect(call('bare', { cacheWriteTokens: 5, cacheWrite1hTokens: 5 })?.unpriced).toEqual([
      'cacheWrite1hTokens',
    ]);
    expect(call('more', { speed: 'fast' })).toEqual({ usd: 6, model: 'more' });
    expect(call('bare', { speed: 'fast', inferenceGeo: 'mars' })).toMatchObject({
      usd: 2,
      unpriced: ['speed', 'inferenceGeo'],
    });
    // A tier without a price may be cheaper, so its tokens are in no lower bound.
    expect(call('more', { serviceTier: 'batch' })).toMatchObject({ usd: 0, unpriced: ['serviceTier'] });
    // No name of a term reaches a property that every object has.
    expect(call('more', { speed: 'constructor' })).toMatchObject({ usd: 2, unpriced: ['speed'] });
  });

  it.each([
    ['{', 'JSON'],
    [{ ...source }, 'models'],
    [{ ...source, date: 'today', models: {} }, 'price table: date: '],
    [{ ...source, models: { mine: { input: -1, output: 1 } } }, 'models.mine.input: '],
    [{ ...source, models: { mine: { input: 1, output: 1, cached: 1 } } }, 'cached'],
  ])('is refused when it is wrong: %j', (content, reason) => {
    const path = put(content);
    const read = () => readPriceFile(path);
    expect(read).toThrow(reason);
    expect(read).toThrow(path);
    try {
      read();
    } catch (error) {
      expect(importErrors.is(error, 'IMPORT_PRICES_INVALID')).toBe(true);
    }
  });
});

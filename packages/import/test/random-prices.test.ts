import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Usage } from '@hansard/events';
import { createDispatchFacts } from '@hansard/facts';
import { readPriceFile, standardPrices } from '@hansard/import';
import { randomFrom } from '@hansard/testing';
import { calcPrice } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** Prices as the published lists have them, in US cents for a million tokens: input, output, cache read, write, hour. */
const published: Readonly<
  Record<string, { rates: number[]; fast?: number; us: number; long?: [input: number, output: number] }>
> = {
  'claude-opus-4-8': { rates: [500, 2_500, 50, 625, 1_000], fast: 2, us: 1.1 },
  'claude-opus-4-7': { rates: [500, 2_500, 50, 625, 1_000], fast: 6, us: 1.1 },
  'claude-sonnet-4-6': { rates: [300, 1_500, 30, 375, 600], us: 1.1 },
  'claude-sonnet-4-20250514': { rates: [300, 1_500, 30, 375, 600], us: 1, long: [2, 1.5] },
  'claude-sonnet-4-5-20250929': { rates: [300, 1_500, 30, 375, 600], us: 1, long: [2, 1.5] },
  'claude-haiku-4-5': { rates: [100, 500, 10, 125, 200], us: 1 },
};

const speeds = [undefined, 'standard', 'fast', 'turbo'];
const tiers = [undefined, 'standard', 'batch', 'priority', 'flex'];
const geos = [undefined, 'global', 'not_available', 'us', 'eu'];

interface Call {
  readonly model: string;
  readonly usage: Usage;
}

/** The cost of a call in US dollars, and its fields without a price. Counted by hand, token kind by token kind. */
function counted({ model, usage }: Call): { usd: number; unpriced: string[] } {
  const list = published[model];
  if (list === undefined) throw new Error(model);
  const [input = 0, output = 0, read = 0, write = 0, hour = 0] = list.rates;
  const wrote = usage.cacheWriteTokens ?? 0;
  let forAnHour = usage.cacheWrite1hTokens ?? 0;
  if (forAnHour > wrote) forAnHour = wrote;
  const context = usage.inputTokens + (usage.cacheReadTokens ?? 0) + wrote;
  const [more, moreOut] = list.long !== undefined && context > 200_000 ? list.long : [1, 1];
  let cents = usage.inputTokens * input * more;
  cents += (usage.cacheReadTokens ?? 0) * read * more;
  cents += (wrote - forAnHour) * write * more;
  cents += forAnHour * hour * more;
  cents += usage.outputTokens * output * moreOut;
  const unpriced = [];
  if (usage.speed === 'fast' && list.fast !== undefined && usage.serviceTier !== 'batch') cents *= list.fast;
  else if (usage.speed === 'fast' || usage.speed === 'turbo') unpriced.push('speed');
  if (usage.serviceTier === 'batch') cents /= 2;
  if (usage.serviceTier === 'priority' || usage.serviceTier === 'flex') {
    cents = 0;
    unpriced.push('serviceTier');
  }
  if (usage.inferenceGeo === 'us') cents *= list.us;
  if (usage.inferenceGeo === 'eu') unpriced.push('inferenceGeo');
  return { usd: cents / 100_000_000 + (usage.webSearchRequests ?? 0) / 100, unpriced };
}

/** Every combination of model, terms and context length, each with random counts. */
function* everyCall(random: () => number): Generator<Call> {
  const below = (count: number) => Math.floor(random() * count);
  const maybe = <T>(value: T) => (random() < 0.6 ? value : undefined);
  for (const model of Object.keys(published))
    for (const speed of speeds)
      for (const serviceTier of tiers)
        for (const inferenceGeo of geos)
          for (const most of [60_000, 400_000]) {
            const cacheWriteTokens = maybe(below(most));
            const cacheWrite1hTokens = maybe(below(most));
            const outputTokens = below(30_000);
            const usage = {
              inputTokens: below(most),
              outputTokens,
              cacheReadTokens: maybe(below(most)),
              cacheWriteTokens,
              cacheWrite1hTokens,
              cacheWrite5mTokens: maybe(below(most)),
              reasoningTokens: maybe(below(outputTokens * 2)),
              webSearchRequests: maybe(below(9)),
              webFetchRequests: maybe(below(9)),
              speed,
              serviceTier,
              inferenceGeo,
            };
            yield { model, usage: JSON.parse(JSON.stringify(usage)) };
          }
}

function justTokens({ inputTokens, outputTokens, ...usage }: Usage): Usage {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const counts = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens };
  return JSON.parse(JSON.stringify(counts));
}

const timestamp = '2026-06-20T10:00:00.000Z';

/** The published prices as a price file. */
function fileOf(): object {
  const models = Object.entries(published).map(([model, { rates, fast, us, long }]) => {
    const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0] = rates.map(
      (rate) => rate / 100,
    );
    const [more, moreOut] = long ?? [1, 1];
    const prices = {
      input,
      output,
      cacheRead,
      cacheWrite,
      cacheWrite1h,
      longContext: {
        above: 200_000,
        input: input * more,
        output: output * moreOut,
        cacheRead: cacheRead * more,
        cacheWrite: cacheWrite * more,
        cacheWrite1h: cacheWrite1h * more,
      },
      webSearches: 10,
      webFetches: 0,
      speeds: fast === undefined ? {} : { fast },
      serviceTiers: { batch: 0.5 },
      inferenceGeos: { us },
    };
    return [model, prices];
  });
  return { name: 'ours', version: '1', date: '2026-06-01', models: Object.fromEntries(models) };
}

describe(`the price of a whole usage (HANSARD_SEED=${seed})`, () => {
  it('is the same as that of a second implementation, in every combination of model, terms and length', () => {
    let combinations = 0;
    for (const call of everyCall(randomFrom(seed))) {
      const price = standardPrices.priceOf({ ...call, timestamp });
      const expected = counted(call);
      const where = JSON.stringify(call);
      expect(price?.usd, where).toBeCloseTo(expected.usd, 9);
      expect([...(price?.unpriced ?? [])].sort(), where).toEqual(expected.unpriced.sort());
      combinations += 1;
    }
    expect(combinations).toBe(6 * 4 * 5 * 5 * 2);
  });

  it('is the same to the last digit whether the package computed it or the prices that it gave', () => {
    const fixed = [
      'claude-opus-4-8',
      'claude-haiku-4-5',
      'gpt-5',
      'gpt-4o-mini',
      'gemini-2.5-pro',
      'gemini-2.5-flash',
      'gpt-4',
      'o3',
    ];
    const counts = [...everyCall(randomFrom(seed + 3))].filter(({ model }) => model === 'claude-haiku-4-5');
    for (const model of fixed)
      for (const [at, usage] of counts.map((call) => justTokens(call.usage)).entries()) {
        // The price of o3 changed in June 2025.
        const time = at % 2 === 0 ? timestamp : '2025-05-01T10:00:00.000Z';
        const { inputTokens, outputTokens, cacheReadTokens: read = 0, cacheWriteTokens: wrote = 0 } = usage;
        const hour = Math.min(usage.cacheWrite1hTokens ?? 0, wrote);
        const package_ = calcPrice(
          {
            input_tokens: inputTokens + read + wrote,
            output_tokens: outputTokens,
            cache_read_tokens: read,
            cache_write_tokens: wrote,
            cache_write_1h_tokens: hour,
          },
          model,
          { timestamp: new Date(time) },
        );
        const where = `${model} ${JSON.stringify(usage)}`;
        expect(package_, where).not.toBeNull();
        expect(standardPrices.priceOf({ model, usage, timestamp: time })?.usd, where).toBe(
          package_?.total_price,
        );
      }
  });

  it('is the same from a price file with the same prices, where a batch may be fast', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hansard-prices-'));
    try {
      writeFileSync(join(folder, 'prices.json'), JSON.stringify(fileOf()));
      const table = readPriceFile(join(folder, 'prices.json'));
      for (const call of everyCall(randomFrom(seed + 1))) {
        if (call.usage.speed === 'fast' && call.usage.serviceTier === 'batch') continue;
        const expected = counted(call);
        const price = table.priceOf({ ...call, timestamp });
        expect(price?.usd, JSON.stringify(call)).toBeCloseTo(expected.usd, 9);
        expect([...(price?.unpriced ?? [])].sort()).toEqual(expected.unpriced.sort());
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('adds up by model and special terms, and each row has its parts, its estimate and what it lacks', () => {
    const calls = [...everyCall(randomFrom(seed + 2))];
    const totals = createDispatchFacts({ prices: standardPrices });
    const rows = new Map<string, Record<string, number>>();
    const lacking = new Map<string, Set<string>>();
    for (const [at, { model, usage }] of calls.entries()) {
      totals.observe({ id: `e${at}`, type: 'agent:inference', timestamp, data: { model, usage } });
      const { speed, serviceTier, inferenceGeo, ...counts } = usage;
      const key = [
        model,
        speed === 'standard' ? undefined : speed,
        serviceTier === 'standard' ? undefined : serviceTier,
        inferenceGeo === 'us' || inferenceGeo === 'eu' ? inferenceGeo : undefined,
      ].join(' ');
      const price = counted({ model, usage });
      const row = rows.get(key) ?? {};
      for (const [name, count = 0] of Object.entries({ ...counts, calls: 1, estimatedUsd: price.usd }))
        row[name] = (row[name] ?? 0) + count;
      rows.set(key, row);
      const lack = lacking.get(key) ?? new Set();
      for (const part of price.unpriced) lack.add(part);
      lacking.set(key, lack);
    }
    expect(totals.models?.length).toBe(rows.size);
    for (const row of totals.models ?? []) {
      const { model, speed, serviceTier, inferenceGeo, pricedAs, unpriced = [], ...figures } = row;
      const key = [model, speed, serviceTier, inferenceGeo].join(' ');
      const { estimatedUsd = 0, ...expected } = rows.get(key) ?? {};
      expect(figures, key).toEqual({ ...expected, estimatedUsd: expect.closeTo(estimatedUsd, 6) });
      expect(unpriced, key).toEqual([...(lacking.get(key) ?? [])].sort());
    }
  });
});

import { type DispatchEnvelope, type ModelUsage, newEvent, toTimestamp, type Usage } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  addSpending,
  costInWords,
  createDispatchFacts,
  type DispatchFacts,
  explainEstimates,
  formatSpending,
  modelsInWords,
  nothingSpent,
  type PriceTable,
  spendingOf,
  tokensInWords,
} from '../../src/index.ts';

const prices: PriceTable = {
  name: 'a table',
  version: '3',
  date: '2026-03-01',
  priceOf: ({ model, usage }) =>
    model.startsWith('priced') ? { usd: usage.inputTokens / 1_000, model: `a/${model}` } : null,
};
const { priceOf: _, ...source } = prices;

interface Call extends Partial<Usage> {
  readonly model: string;
  readonly inputTokens: number;
  readonly costUsd?: number;
}

function totalsOf(calls: readonly Call[], table: PriceTable | null = prices): DispatchFacts {
  const totals = createDispatchFacts({ prices: table });
  for (const [index, { model, costUsd, ...tokens }] of calls.entries()) {
    const cost = costUsd === undefined ? {} : { costUsd };
    const data = { model, usage: { outputTokens: 1, ...tokens }, ...cost };
    const event = newEvent('agent:inference', data);
    totals.observe({ ...event, id: `call_${index}`, timestamp: toTimestamp(index) });
  }
  return totals;
}

type Costs = Pick<DispatchEnvelope, 'usage' | 'cost' | 'models' | 'prices' | 'openCalls'>;

const none = { usage: null, cost: null, models: null, prices: null, openCalls: null };

const costsOf = (calls: readonly Call[]): Costs => {
  const { costUsd, models, prices: table } = totalsOf(calls);
  return { ...none, cost: costUsd, models, prices: table };
};

describe('the usage of a dispatch by model', () => {
  it('adds up the calls of each model, with cache tokens, stated costs and estimates', () => {
    const totals = totalsOf([
      { model: 'priced-1', inputTokens: 100, cacheReadTokens: 7 },
      { model: 'other', inputTokens: 5, costUsd: 0.5 },
      { model: 'priced-1', inputTokens: 200 },
      { model: 'nobody-knows', inputTokens: 9 },
    ]);
    expect(totals.models).toEqual([
      {
        model: 'priced-1',
        calls: 2,
        inputTokens: 300,
        outputTokens: 2,
        cacheReadTokens: 7,
        estimatedUsd: expect.closeTo(0.3),
        pricedAs: 'a/priced-1',
      },
      { model: 'other', calls: 1, inputTokens: 5, outputTokens: 1, costUsd: 0.5 },
      { model: 'nobody-knows', calls: 1, inputTokens: 9, outputTokens: 1 },
    ]);
    expect(totals.prices).toEqual(source);
  });

  it('is null where no call is recorded, and names no price table where nothing is estimated', () => {
    expect(totalsOf([])).toMatchObject({ models: null, prices: null });
    expect(totalsOf([{ model: 'priced-1', inputTokens: 1 }], null).prices).toBeNull();
    expect(totalsOf([{ model: 'priced-1', inputTokens: 1, costUsd: 1 }]).prices).toBeNull();
  });

  it('adds up to the usage of the dispatch for any calls', () => {
    const seed = Number(process.env.HANSARD_SEED ?? 7);
    const random = randomFrom(seed);
    for (let round = 0; round < 200; round += 1) {
      const calls = Array.from({ length: Math.floor(random() * 30) }, () => ({
        model: ['priced-1', 'priced-2', 'x'][Math.floor(random() * 3)] ?? '',
        inputTokens: Math.floor(random() * 1_000),
        ...(random() < 0.5 ? {} : { cacheReadTokens: Math.floor(random() * 50) }),
        ...(random() < 0.5 ? {} : { costUsd: random() }),
      }));
      const totals = totalsOf(calls);
      const models = totals.models ?? [];
      const sum = (field: keyof ModelUsage) =>
        models.reduce((total, model) => total + Number(model[field] ?? 0), 0);
      const where = `HANSARD_SEED=${seed}, round ${round}`;
      expect(sum('calls'), where).toBe(calls.length);
      expect(sum('inputTokens'), where).toBe(totals.tokens?.inputTokens ?? 0);
      expect(sum('cacheReadTokens'), where).toBe(totals.tokens?.cacheReadTokens ?? 0);
      expect(sum('costUsd'), where).toBeCloseTo(totals.costUsd ?? 0, 9);
      const unstated = calls.filter(({ model, costUsd }) => model !== 'x' && costUsd === undefined);
      const expected = unstated.reduce((total, { inputTokens }) => total + inputTokens / 1_000, 0);
      expect(sum('estimatedUsd'), where).toBeCloseTo(expected, 9);
    }
  });
});

describe('calls of one model with special terms', () => {
  const table: PriceTable = {
    ...prices,
    priceOf: ({ model, usage: { inputTokens, speed, serviceTier } }) => ({
      usd: inputTokens / 1_000,
      model,
      ...(serviceTier === 'batch'
        ? { unpriced: ['serviceTier', ...(speed === 'fast' ? (['speed'] as const) : [])] }
        : {}),
    }),
  };
  const calls = [
    { model: 'm', inputTokens: 100, cacheWriteTokens: 9, cacheWrite1hTokens: 4, webSearchRequests: 2 },
    { model: 'm', inputTokens: 200, speed: 'fast' },
    { model: 'm', inputTokens: 300, speed: 'standard', serviceTier: 'standard', inferenceGeo: 'global' },
    { model: 'm', inputTokens: 400, speed: 'fast', serviceTier: 'batch', reasoningTokens: 1 },
    { model: 'm', inputTokens: 500, serviceTier: 'batch' },
    { model: 'm', inputTokens: 600, speed: 'fast', serviceTier: 'batch' },
  ];

  it('are in rows of their own, and usual calls in one', () => {
    expect(totalsOf(calls, table).models).toEqual([
      {
        model: 'm',
        calls: 2,
        inputTokens: 400,
        outputTokens: 2,
        cacheWriteTokens: 9,
        cacheWrite1hTokens: 4,
        webSearchRequests: 2,
        estimatedUsd: 0.4,
        pricedAs: 'm',
      },
      {
        model: 'm',
        speed: 'fast',
        calls: 1,
        inputTokens: 200,
        outputTokens: 1,
        estimatedUsd: 0.2,
        pricedAs: 'm',
      },
      {
        model: 'm',
        speed: 'fast',
        serviceTier: 'batch',
        calls: 2,
        inputTokens: 1_000,
        outputTokens: 2,
        reasoningTokens: 1,
        estimatedUsd: 1,
        pricedAs: 'm',
        unpriced: ['serviceTier', 'speed'],
      },
      {
        model: 'm',
        serviceTier: 'batch',
        calls: 1,
        inputTokens: 500,
        outputTokens: 1,
        estimatedUsd: 0.5,
        pricedAs: 'm',
        unpriced: ['serviceTier'],
      },
    ]);
  });

  it('are continued by the calls after those of an envelope', () => {
    const [first, rest] = [calls.slice(0, 3), calls.slice(3)];
    const { models, periods, prices: named, usage, costUsd } = totalsOf(first, table);
    const totals = createDispatchFacts({
      prices: table,
      before: { models, periods, prices: named, usage, cost: costUsd, folded: null },
    });
    for (const [index, { model, ...tokens }] of rest.entries()) {
      const event = newEvent('agent:inference', { model, usage: { outputTokens: 1, ...tokens } });
      totals.observe({ ...event, id: `rest_${index}`, timestamp: toTimestamp(index) });
    }
    expect(totals.models).toEqual(totalsOf(calls, table).models);
  });

  it('are one row where a session:complete states the figures of the model, and keep what they lack', () => {
    const totals = totalsOf(calls, table);
    const models = [{ model: 'm', inputTokens: 2_000, outputTokens: 9, webSearchRequests: 3 }];
    const complete = newEvent('session:complete', { status: 'completed', models });
    totals.observe({ ...complete, id: 'complete', timestamp: toTimestamp(9) });
    expect(totals.models).toEqual([
      {
        model: 'm',
        calls: 6,
        inputTokens: 2_000,
        outputTokens: 9,
        cacheWriteTokens: 9,
        cacheWrite1hTokens: 4,
        reasoningTokens: 1,
        webSearchRequests: 3,
        estimatedUsd: expect.closeTo(2.1, 9),
        pricedAs: 'm',
        unpriced: ['serviceTier', 'speed'],
      },
    ]);
  });

  it('are named in words with their terms, and what has no price with its model', () => {
    const { models, prices: named } = totalsOf(calls, table);
    const costs = { ...none, models, prices: named };
    expect(modelsInWords(costs)).toBe(
      [
        'm: 2 calls, 400 in, 2 out, 9 cache written (4 for 1h), 2 web searches, ≈$0.40',
        'm (fast): 1 call, 200 in, 1 out, ≈$0.20',
        'm (fast, batch): 2 calls, 1K in, 2 out (1 reasoning), ≈$1.00+',
        'm (batch): 1 call, 500 in, 1 out, ≈$0.50+',
      ].join('; '),
    );
    expect(spendingOf(costs).unpriced).toEqual(['batch tier of m', 'fast mode of m']);
    expect(formatSpending(spendingOf(costs))).toBe('≈$2.10+');
    expect(explainEstimates([costs])).toContain('; no price for batch tier of m, fast mode of m.');
    const only = totalsOf([{ model: 'm', inputTokens: 5, inferenceGeo: 'us' }], table).models;
    expect(modelsInWords({ ...none, models: only })).toBe('m (in us): 1 call, 5 in, 1 out, ≈$0.005');
  });
});

describe('estimates beside what a session:complete states by model', () => {
  const complete = (costUsd?: number) => {
    const totals = totalsOf([{ model: 'priced-1', inputTokens: 100 }]);
    const model = { model: 'priced-1', inputTokens: 200, outputTokens: 1 };
    const models = [costUsd === undefined ? model : { ...model, costUsd }];
    totals.observe({
      ...newEvent('session:complete', { status: 'completed', models }),
      id: 'complete',
      timestamp: toTimestamp(1),
    });
    return totals;
  };

  it('are replaced by a stated cost, and the price table is no longer named', () => {
    const { models, prices: table } = complete(0.5);
    expect(models).toEqual([
      { model: 'priced-1', calls: 1, inputTokens: 200, outputTokens: 1, costUsd: 0.5 },
    ]);
    expect(table).toBeNull();
  });

  it('stay where it states no cost', () => {
    const { models, prices: table } = complete();
    expect(models).toMatchObject([{ calls: 1, inputTokens: 200, estimatedUsd: 0.1, pricedAs: 'a/priced-1' }]);
    expect(table).toEqual(source);
  });
});

describe('what a dispatch cost', () => {
  it('is what the log states, wherever it states a cost', () => {
    const costs = { ...costsOf([{ model: 'priced-1', inputTokens: 5_000 }]), cost: 0.25 };
    expect(formatSpending(spendingOf(costs))).toBe('$0.25');
    expect(costInWords(costs)).toBe('$0.25');
    expect(explainEstimates([costs])).toBeNull();
  });

  it('is marked as an estimate, with its price table, where the log states none', () => {
    const costs = costsOf([{ model: 'priced-1', inputTokens: 1_500 }]);
    expect(formatSpending(spendingOf(costs))).toBe('≈$1.50');
    expect(costInWords(costs)).toBe('≈$1.50 (estimated from a table 3 (2026-03-01))');
    expect(explainEstimates([costs])).toBe('≈ estimated from a table 3 (2026-03-01).');
  });

  it('names the models without a price, and is never 0 for them', () => {
    const some = costsOf([
      { model: 'priced-1', inputTokens: 1_500 },
      { model: 'nobody-knows', inputTokens: 1 },
    ]);
    expect(formatSpending(spendingOf(some))).toBe('≈$1.50+');
    expect(costInWords(some)).toContain('; no price for nobody-knows)');
    expect(explainEstimates([some])).toContain('; no price for nobody-knows.');
    const costs = costsOf([{ model: 'nobody-knows', inputTokens: 1 }]);
    const unpriced = ['nobody-knows'];
    expect(spendingOf(costs)).toEqual({ costUsd: null, estimatedUsd: null, unpriced });
    expect(formatSpending(spendingOf(costs))).toBeNull();
    expect(costInWords(costs)).toBe('not known (no price for nobody-knows in a table 3 (2026-03-01))');
    expect(explainEstimates([costs])).toBe('No price for nobody-knows in a table 3 (2026-03-01).');
    // Engines record answers that they made up as calls of a model.
    expect(spendingOf(costsOf([{ model: '<synthetic>', inputTokens: 0, outputTokens: 0 }])).unpriced).toEqual(
      [],
    );
  });

  it('names the first of many models without a price, and counts the others', () => {
    const many = costsOf(Array.from({ length: 40 }, (_, at) => ({ model: `m${at}`, inputTokens: 1 })));
    expect(spendingOf(many).unpriced).toHaveLength(40);
    for (const text of [explainEstimates([many]), costInWords(many)])
      expect(text).toContain('o price for m0, m1, m2, m3, m4 and 35 more in a table 3');
  });

  it('keeps stated and estimated amounts apart in a sum', () => {
    const stated = spendingOf({ ...none, cost: 2 });
    const estimated = spendingOf(costsOf([{ model: 'priced-1', inputTokens: 500 }]));
    const sum = [stated, estimated, nothingSpent].reduce(addSpending, nothingSpent);
    expect(sum).toEqual({ costUsd: 2, estimatedUsd: 0.5, unpriced: [] });
    expect(formatSpending(sum)).toBe('≈$2.50');
  });

  it('is shown by model where a dispatch called several', () => {
    const costs = costsOf([
      { model: 'priced-1', inputTokens: 500 },
      { model: 'priced-2', inputTokens: 1_000 },
    ]);
    expect(modelsInWords(costs)).toBe(
      'priced-1: 1 call, 500 in, 1 out, ≈$0.50; priced-2: 1 call, 1K in, 1 out, ≈$1.00',
    );
    expect(modelsInWords(costsOf([{ model: 'priced-1', inputTokens: 500 }]))).toBeNull();
    const totals = { calls: 0, inputTokens: 9, outputTokens: 2, costUsd: 0.25 };
    const stated = [
      { ...totals, model: 'a', calls: 1 },
      { ...totals, model: 'b' },
    ];
    expect(modelsInWords({ ...none, cost: 0.5, models: stated })).toBe(
      'a: 1 call, 9 in, 2 out, $0.25; b: 9 in, 2 out, $0.25',
    );
  });
});

describe('the tokens of a native fork', () => {
  it('name those that its origin has used', () => {
    const usage = { inputTokens: 1_200, outputTokens: 300 };
    const from = { product: 'hansard', sessionId: 'D0', dispatchId: 'D0' };
    const repeated = { inputTokens: 900, outputTokens: 50, cacheReadTokens: 50 };
    const whole = { ...none, usage, source: null } as DispatchEnvelope;
    expect(tokensInWords(whole)).toBe('1.5K');
    expect(tokensInWords({ ...whole, forkedFrom: { from, kind: 'fork', usage: repeated } })).toBe(
      '1.5K (1K copied)',
    );
  });
});

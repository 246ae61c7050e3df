import type { CapturedEvent, DispatchEnvelope, EventOf, ModelUsage, OpenCall } from '@hansard/events';
import { toTimestamp } from '@hansard/events';
import {
  addParts,
  factsOf,
  figuresOfDispatch,
  LoggedUsage,
  openCallEvents,
  type PriceTable,
  spendingOf,
  UsageSums,
  usageParts,
  withOpenCalls,
} from '@hansard/facts';
import { envelope, randomFrom } from '@hansard/testing';
import { renderEnvelope, sessionFacts } from '@hansard/views';
import { describe, expect, it } from 'vitest';

const prices: PriceTable = {
  name: 'a table',
  version: '3',
  date: '2026-03-01',
  priceOf: ({ model, usage }) =>
    model === 'free' ? null : { usd: usage.inputTokens * 0.5, model: `a/${model}` },
};

type ModelCall = EventOf<'agent:inference'>;

function randomCall(random: () => number, number: number): ModelCall {
  const below = (limit: number) => Math.floor(random() * limit);
  const cached = random() < 0.5 ? {} : { cacheReadTokens: below(9), cacheWriteTokens: below(9) };
  const parts = random() < 0.5 ? {} : { cacheWrite1hTokens: below(9), webSearchRequests: below(3) };
  const terms = [{}, {}, { speed: 'fast' }, { serviceTier: 'batch', inferenceGeo: 'us' }][below(4)];
  return {
    id: `m${number}:inference`,
    type: 'agent:inference',
    timestamp: toTimestamp(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000),
    messageId: `m${number}`,
    ...(random() < 0.5 ? {} : { agentId: `a${below(3)}` }),
    data: {
      model: ['opus', 'haiku', 'free'][below(3)] ?? '',
      usage: { inputTokens: below(100), outputTokens: below(100), ...cached, ...parts, ...terms },
      ...(random() < 0.2 ? { costUsd: below(8) / 4 } : {}),
    },
  };
}

/** An open call as an import writes it, made without the code under test. */
function openCallOf({ id, timestamp, agentId, messageId, data }: ModelCall): OpenCall {
  const { model, usage, costUsd } = data;
  const used = [usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.cacheWriteTokens];
  const isAsked = costUsd === undefined && used.some((tokens = 0) => tokens > 0);
  const price = isAsked ? prices.priceOf({ model, usage, timestamp }) : null;
  const { name, version, date } = prices;
  return {
    id,
    timestamp,
    ...(agentId === undefined ? {} : { agentId }),
    ...(messageId === undefined ? {} : { messageId }),
    usage: {
      model,
      calls: 1,
      ...usage,
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(price === null ? {} : { estimatedUsd: price.usd, pricedAs: price.model }),
    },
    prices: isAsked ? { name, version, date } : null,
  };
}

function envelopeOf(calls: readonly ModelCall[], open: readonly ModelCall[] | null): DispatchEnvelope {
  const totals = factsOf(calls, { prices });
  return envelope({
    usage: totals.usage,
    cost: totals.costUsd,
    models: totals.models,
    periods: totals.periods,
    prices: totals.prices,
    openCalls: open?.map(openCallOf) ?? null,
  });
}

const byModel = (models: readonly ModelUsage[] | null) =>
  (models ?? []).toSorted((one, other) => (one.model < other.model ? -1 : 1));

describe('an envelope with open calls', () => {
  it.each([1, 2, 3, 4])('has the figures that it has once they are events (seeds from %i00)', (block) => {
    for (let seed = block * 100; seed < block * 100 + 50; seed += 1) {
      const random = randomFrom(seed);
      const calls = Array.from({ length: Math.floor(random() * 12) }, (_, at) => randomCall(random, at));
      const cut = Math.floor(random() * (calls.length + 1));
      const [events, open] = [calls.slice(0, cut), calls.slice(cut)];
      const later = envelopeOf(calls, null);
      const now = envelopeOf(events, open);
      const label = `seed ${seed}: ${events.length} events, ${open.length} open`;
      const summed = withOpenCalls(now);
      expect({ ...summed, models: byModel(summed.models), periods: null }, label).toEqual({
        ...later,
        periods: null,
        models: byModel(later.models),
        openCalls: open.length === 0 ? now.openCalls : null,
      });
      expect(withOpenCalls(summed), label).toBe(summed);
      expect(figuresOfDispatch(now), label).toEqual(figuresOfDispatch(later));
      expect(spendingOf(now).estimatedUsd, label).toBe(spendingOf(later).estimatedUsd);
      const sumsOf = (one: DispatchEnvelope) => {
        const sums = new UsageSums();
        addParts(sums, usageParts(one), ({ at, model }) => `${at} ${model}`);
        return { rows: sums.rows('key'), total: sums.total };
      };
      expect(sumsOf(now), label).toEqual(sumsOf(later));
      expect(agentsOf(now, events), label).toEqual(agentsOf(later, calls));
      const [view, viewLater] = [sessionFacts(now, events), sessionFacts(later, calls)];
      expect([view.usage, view.costUsd], label).toEqual([viewLater.usage, viewLater.costUsd]);
    }
  });

  it('never counts a call twice whose event is in the log already', () => {
    const random = randomFrom(9);
    const calls = [1, 2, 3].map((number) => randomCall(random, number));
    const stale = envelopeOf(calls.slice(0, 2), calls.slice(2));
    expect(openCallEvents(stale, (id) => id === 'm3:inference')).toEqual([]);
    expect(agentsOf(stale, calls)).toEqual(agentsOf(envelopeOf(calls, null), calls));
    expect(sessionFacts({ ...stale, status: 'running' }, calls).usage).toEqual(
      sessionFacts(envelopeOf(calls, null), calls).usage,
    );
  });

  it('shows them in its facts', () => {
    const open = {
      ...randomCall(randomFrom(1), 1),
      data: { model: 'opus', usage: { inputTokens: 50_000, outputTokens: 400 } },
    };
    const facts = renderEnvelope(envelopeOf([], [open]));
    expect(facts).toContain('50K in, 400 out');
    expect(facts).toContain('≈$25');
  });
});

function agentsOf(one: DispatchEnvelope, events: readonly CapturedEvent[]) {
  const used = new LoggedUsage(one);
  for (const event of events) used.observe(event);
  const sums = new UsageSums();
  addParts(sums, used.parts, ({ agent }) => agent);
  return sums.rows('key');
}

import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { envelope as envelopeOf, randomFrom } from '@hansard/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  addParts,
  createDispatchFacts,
  type DispatchFacts,
  dateKeys,
  factsOf,
  type PriceTable,
  type UsageFigures,
  UsageSums,
  usageBlocks,
  usageParts,
} from '../../src/index.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const seeds = Array.from({ length: 40 }, (_, at) => seed + at);

/** Offsets of 5:45 and -9:30 hours, days that begin at 01:00 or twice, and a change of clocks by half an hour. */
const zones = [
  'UTC',
  'Asia/Kathmandu',
  'Pacific/Marquesas',
  'Asia/Beirut',
  'America/Havana',
  'Europe/Berlin',
  'Australia/Lord_Howe',
];

/** A table that prices input tokens. */
const prices: PriceTable = {
  name: 'test',
  version: '1',
  date: '2026-01-01',
  priceOf: ({ model, usage }) => (model === 'free' ? null : { usd: usage.inputTokens / 1_024, model }),
};

afterEach(() => vi.unstubAllEnvs());

/** The generator's own record of a call. */
interface Called {
  readonly at: number;
  readonly model: string;
  readonly figures: Partial<Record<keyof UsageFigures, number>>;
}

interface Log {
  readonly events: CapturedEvent[];
  readonly called: Called[];
}

/** Days around the change of clocks of each zone, most times close to a midnight of one of them. */
const days = [
  '2026-03-07',
  '2026-03-28',
  '2026-03-29',
  '2026-04-04',
  '2026-10-24',
  '2026-10-31',
  '2026-11-01',
];

/** Calls of models and tools of two agents, in no order of their times. */
function randomLog(from: number, { withStatements = false } = {}): Log {
  const random = randomFrom(from);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const [events, called]: [CapturedEvent[], Called[]] = [[], []];
  const time = () => {
    const hour = pick([0, 2, 3, 4, 9, 14, 18, 21, 22, 23]);
    return Date.parse(`${pick(days)}T00:00:00.000Z`) + hour * 3_600_000 + below(3_600_000);
  };
  const give = (at: number, type: string, data: object, links: object = {}) => {
    const id = `e${events.length}`;
    events.push({ id, type, timestamp: new Date(at).toISOString(), ...links, data } as CapturedEvent);
  };
  for (let message = 0; message < 30; message += 1) {
    const agentId = pick(['a', 'b']);
    const model = pick(['opus', 'haiku', 'free']);
    const links = { agentId, messageId: `m${message}` };
    const tools = Array.from({ length: below(3) }, (_, at) => ({
      id: `t${message}.${at}`,
      at: time(),
      status: pick(['completed', 'error', null]),
      isEarly: random() < 0.3,
    }));
    const result = ({ id, status }: (typeof tools)[number]) =>
      status !== null &&
      give(time(), 'agent:tool_result', { toolCallId: id, tool: 'Bash', metadata: {}, status }, { agentId });
    for (const tool of tools) {
      give(tool.at, 'agent:tool_call', { toolCallId: tool.id, tool: 'Bash', metadata: {} }, links);
      if (tool.isEarly) result(tool);
    }
    const hasInference = random() < 0.8;
    if (hasInference) {
      const at = time();
      const usage = {
        inputTokens: below(500),
        outputTokens: below(50),
        ...(random() < 0.5 ? { cacheReadTokens: below(900) } : {}),
      };
      const costUsd = withStatements && random() < 0.3 ? below(64) / 64 : undefined;
      give(at, 'agent:inference', { model, usage, ...(costUsd === undefined ? {} : { costUsd }) }, links);
      const estimatedUsd = model === 'free' || costUsd !== undefined ? 0 : usage.inputTokens / 1_024;
      called.push({ at, model, figures: { ...usage, modelCalls: 1, estimatedUsd } });
    }
    for (const tool of tools) {
      if (!tool.isEarly) result(tool);
      const figures = { toolCalls: 1, failedToolCalls: tool.status === 'error' ? 1 : 0 };
      called.push({ at: tool.at, model: hasInference ? model : '', figures });
    }
    if (random() < 0.1) {
      const at = time();
      give(at, 'system:api_error', { error: 'overloaded' });
      called.push({ at, model: '', figures: { failedModelCalls: 1 } });
    }
    if (withStatements && random() < 0.15) give(time(), 'session:complete', statement(random));
  }
  return { events, called };
}

/** Totals that need not agree with the calls, or with themselves. */
function statement(random: () => number): object {
  const below = (count: number) => Math.floor(random() * count);
  const usage = () => ({
    inputTokens: below(4_000),
    outputTokens: below(400),
    cacheReadTokens: below(4_000),
  });
  return {
    status: 'completed',
    ...(random() < 0.6 ? { costUsd: below(640) / 64 } : {}),
    ...(random() < 0.6 ? { usage: usage() } : {}),
    ...(random() < 0.4
      ? {
          models: [
            { model: 'opus', ...usage(), costUsd: 1 },
            { model: 'another', ...usage() },
          ],
        }
      : {}),
  };
}

function envelopeWith(events: readonly CapturedEvent[], table: PriceTable | null): DispatchEnvelope {
  return envelopeAfter(factsOf(events, { prices: table }));
}

function envelopeAfter({
  usage,
  costUsd: cost,
  models,
  periods,
  prices: source,
}: DispatchFacts): DispatchEnvelope {
  return { ...envelopeOf(), usage, cost, models, periods, prices: source };
}

/** Figures by key, without those that are 0 or not known. */
function known(rows: Iterable<readonly [string, object]>) {
  return new Map(
    [...rows].flatMap(([key, figures]) => {
      const some = Object.entries(figures).filter(
        ([name, value]) => typeof value === 'number' && value !== 0 && name !== 'dispatches',
      );
      return some.length === 0 ? [] : [[key, Object.fromEntries(some)] as const];
    }),
  );
}

function sumsBy(envelope: DispatchEnvelope, keyOf: (at: number, model: string) => string) {
  const sums = new UsageSums();
  addParts(sums, usageParts(envelope), ({ at, model }) => keyOf(at ?? Number.NaN, model));
  return sums;
}

/** What the generator adds up by itself. */
function expected(called: readonly Called[], keyOf: (call: Called) => string) {
  const rows = new Map<string, Record<string, number>>();
  for (const call of called) {
    const row = rows.get(keyOf(call)) ?? {};
    rows.set(keyOf(call), row);
    for (const [name, value] of Object.entries(call.figures)) row[name] = (row[name] ?? 0) + value;
  }
  return known(rows);
}

/** The days of a zone according to the data of the platform, without the clock of this process. */
function dayIn(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
  return (at) => format.format(at);
}

function mondayOf(day: string): string {
  for (let at = Date.parse(day); ; at -= 86_400_000)
    if (new Date(at).getUTCDay() === 1) return new Date(at).toISOString().slice(0, 10);
}

const sorted = (rows: Map<string, unknown>) => [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
const found = (sums: UsageSums) =>
  sorted(known(sums.rows('key').map(({ key, ...figures }) => [key, figures] as const)));

describe(`usage by quarter of an hour (HANSARD_SEED=${seed})`, () => {
  it.each(zones.flatMap((zone) => seeds.slice(0, 10).map((from) => [zone, from] as const)))(
    'sums up to the days, weeks and months of %s: seed %d',
    (zone, from) => {
      const { events, called } = randomLog(from);
      const envelope = envelopeWith(events, prices);
      const dayOf = dayIn(zone);
      vi.stubEnv('TZ', zone);
      const { day, week, month } = dateKeys('local');
      expect(found(sumsBy(envelope, day))).toEqual(sorted(expected(called, ({ at }) => dayOf(at))));
      expect(found(sumsBy(envelope, (at, model) => `${day(at)} ${model}`))).toEqual(
        sorted(expected(called, ({ at, model }) => `${dayOf(at)} ${model}`)),
      );
      expect(found(sumsBy(envelope, week))).toEqual(
        sorted(expected(called, ({ at }) => mondayOf(dayOf(at)))),
      );
      expect(found(sumsBy(envelope, month))).toEqual(
        sorted(expected(called, ({ at }) => dayOf(at).slice(0, 7))),
      );
    },
  );

  it.each(seeds)('is the same in one pass and continued from the envelope at any event: seed %d', (from) => {
    const { events } = randomLog(from);
    const whole = envelopeWith(events, prices);
    for (let cut = 0; cut <= events.length; cut += 7) {
      const before = JSON.parse(JSON.stringify(envelopeWith(events.slice(0, cut), prices)));
      const totals = createDispatchFacts({ prices, before });
      for (const event of events.slice(cut)) totals.observe(event);
      expect(envelopeAfter(totals)).toEqual(whole);
    }
  });

  it('keeps the latest open calls of each agent, continued anywhere and in any order of agents', () => {
    const agents = ['b', 'a', 'c'];
    const event = (type: CapturedEvent['type'], agentId: string, at: number): CapturedEvent => ({
      id: `${type}-${agentId}-${at}`,
      type,
      agentId,
      timestamp: type === 'agent:tool_call' ? '2026-03-07T09:30:00.000Z' : '2026-03-07T10:30:00.000Z',
      // Later calls have smaller ids.
      data: {
        toolCallId: `${agentId}-${900 - at}`,
        tool: 'Bash',
        metadata: {},
        status: at < 26 ? 'completed' : 'error',
      },
    });
    const each = (agentId: string) => [
      ...Array.from({ length: 90 }, (_, at) => event('agent:tool_call', agentId, at)),
      // The first 26 calls are not open any more. The others failed, at the time of the calls.
      ...Array.from({ length: 90 }, (_, at) => event('agent:tool_result', agentId, at)),
    ];
    const logs = agents.map(each);
    const byAgent = logs.flat();
    const mixed = Array.from({ length: 180 }, (_, at) => logs.map((log) => log[at] as CapturedEvent)).flat();
    const whole = envelopeWith(byAgent, prices);
    expect(envelopeWith(mixed, prices)).toEqual(whole);
    const open = envelopeWith(mixed.slice(0, 270), prices);
    expect(open.periods?.open).toHaveLength(3 * 64);
    expect(
      envelopeWith(
        logs.flatMap((log) => log.slice(0, 90)),
        prices,
      ),
    ).toEqual(open);
    expect(whole.periods?.failedToolCalls).toEqual([3 * 64]);
    for (let cut = 0; cut <= mixed.length; cut += 13) {
      const before = JSON.parse(JSON.stringify(envelopeWith(mixed.slice(0, cut), prices)));
      const totals = createDispatchFacts({ prices, before });
      for (const one of mixed.slice(cut)) totals.observe(one);
      expect(envelopeAfter(totals), `cut at ${cut}`).toEqual(whole);
    }
  });

  it.each(seeds)('sums up to the figures of the envelope, whatever a log states: seed %d', (from) => {
    const { events } = randomLog(from, { withStatements: true });
    const totals = createDispatchFacts({ prices: from % 2 === 0 ? prices : null });
    for (const event of events) {
      totals.observe(event);
      const { usage, costUsd, models, periods } = totals;
      const sumOf = (figure: 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'costUsd' | 'modelCalls') =>
        (periods?.[figure] ?? []).reduce<number>((sum, value) => sum + (value ?? 0), 0);
      if (usage !== null)
        for (const figure of ['inputTokens', 'outputTokens', 'cacheReadTokens'] as const)
          expect(sumOf(figure)).toBe(usage[figure] ?? 0);
      if (costUsd !== null) expect(sumOf('costUsd')).toBeCloseTo(costUsd, 9);
      expect(sumOf('modelCalls')).toBe((models ?? []).reduce((sum, { calls }) => sum + calls, 0));
      for (const column of Object.values(periods ?? {}) as unknown[][])
        for (const value of column) if (typeof value === 'number') expect(value).toBeGreaterThanOrEqual(0);
    }
  });

  it.each(seeds)('gives each model its figures, where a log states them by model: seed %d', (from) => {
    const { events } = randomLog(from);
    const models = [{ model: 'opus', inputTokens: from % 20_000, outputTokens: 7, costUsd: 2 }];
    const usage = { inputTokens: from % 20_000, outputTokens: 7 };
    events.push({
      ...(events[0] as CapturedEvent),
      id: 'end',
      type: 'session:complete',
      data: { status: 'completed', usage, models, costUsd: 2 },
    });
    const envelope = envelopeWith(events, prices);
    const { periods } = envelope;
    const sumOf = (model: string, figure: 'inputTokens' | 'outputTokens' | 'costUsd' | 'modelCalls') =>
      (periods?.[figure] ?? []).reduce<number>(
        (sum, value, at) => sum + (periods?.model[at] === model ? (value ?? 0) : 0),
        0,
      );
    for (const { model, calls, ...figures } of envelope.models ?? []) {
      expect([model, sumOf(model, 'modelCalls')]).toEqual([model, calls]);
      for (const figure of ['inputTokens', 'outputTokens', 'costUsd'] as const)
        expect([model, sumOf(model, figure)]).toEqual([model, figures[figure] ?? 0]);
    }
  });

  it.each(seeds)('sums up to the same total by every key, and before and after any time: seed %d', (from) => {
    const { events, called } = randomLog(from, { withStatements: from % 2 === 0 });
    const envelope = envelopeWith(events, prices);
    const { day } = dateKeys('utc');
    const totals = [day, (_: number, model: string) => model, (at: number) => String(at)].map(
      (keyOf) => sumsBy(envelope, keyOf).total,
    );
    const figures = (total: UsageFigures) => ({
      ...total,
      dispatches: null,
      costUsd: total.costUsd?.toFixed(9),
      estimatedUsd: total.estimatedUsd?.toFixed(9),
    });
    for (const total of totals) expect(figures(total)).toEqual(figures(totals[0] as UsageFigures));
    const parts = usageParts(envelope);
    const middle = called[Math.floor(called.length / 2)]?.at ?? 0;
    const [before, after] = [new UsageSums(), new UsageSums()];
    addParts(
      before,
      parts.filter(({ at }) => (at ?? 0) < middle),
      () => '',
    );
    addParts(
      after,
      parts.filter(({ at }) => (at ?? 0) >= middle),
      () => '',
    );
    const both = new UsageSums();
    both.add('', before.total);
    both.add('', after.total);
    expect(figures(both.total)).toEqual(figures(totals[0] as UsageFigures));
  });
});

describe('five-hour blocks', () => {
  const hours = (time: string) => Date.parse(`2026-03-01T${time}:00.000Z`);

  it('begin at the full hour of the first use, and end five hours later', () => {
    const times = ['09:45', '10:00', '13:45', '14:00', '14:15', '18:45', '19:00'].map(hours);
    const blocks = usageBlocks(times.toReversed());
    expect(times.map((time) => new Date(blocks.get(time) ?? 0).toISOString().slice(11, 16))).toEqual([
      '09:00',
      '09:00',
      '09:00',
      '14:00',
      '14:00',
      '14:00',
      '19:00',
    ]);
  });

  it('begin anew after a gap', () => {
    const blocks = usageBlocks([hours('01:15'), hours('06:30'), hours('22:45')]);
    expect([...blocks.values()]).toEqual([hours('01:00'), hours('06:00'), hours('22:00')]);
  });
});

import type { CapturedEvent, DispatchEnvelope, ModelUsage } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { AgentUsage, addModels, figuresOfDispatch, ToolUsage, UsageSums } from '../../src/index.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const seeds = Array.from({ length: 40 }, (_, at) => seed + at);

/** What the generator adds up by itself. A figure is absent if nothing stated it. */
class Expected {
  readonly rows = new Map<string, Record<string, number>>();

  add(key: string, figures: Readonly<Record<string, number | null | undefined>>): void {
    const row = this.rows.get(key) ?? {};
    this.rows.set(key, row);
    for (const [name, value] of Object.entries(figures))
      if (typeof value === 'number') row[name] = (row[name] ?? 0) + value;
  }
}

/** The rows without the figures that are not known. */
function found(sums: UsageSums): Map<string, Record<string, number>> {
  const known = (figures: object) =>
    Object.fromEntries(Object.entries(figures).filter(([, value]) => typeof value === 'number')) as Record<
      string,
      number
    >;
  return new Map(sums.rows('key').map(({ key, ...figures }) => [key, known(figures)]));
}

function numbersFrom(from: number) {
  const random = randomFrom(from);
  const below = (count: number) => Math.floor(random() * count);
  return {
    below,
    is: (share: number) => random() < share,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    tokens: () => ({
      inputTokens: below(1_000),
      outputTokens: below(100),
      ...(random() < 0.5 ? { cacheReadTokens: below(5_000) } : {}),
      ...(random() < 0.5 ? { cacheWriteTokens: below(500) } : {}),
      ...(random() < 0.5 ? { cacheWrite5mTokens: below(250), cacheWrite1hTokens: below(250) } : {}),
      ...(random() < 0.5 ? { reasoningTokens: below(100), webSearchRequests: below(3) } : {}),
      ...(random() < 0.5 ? { webFetchRequests: below(3) } : {}),
    }),
  };
}

const nothing: DispatchEnvelope = {
  dispatchId: 'd',
  taskSlug: 't',
  role: 'worker',
  title: null,
  model: null,
  cwd: null,
  startedAt: '2026-03-01T09:00:00.000Z',
  completedAt: null,
  status: 'completed',
  ended: null,
  cost: null,
  usage: null,
  models: null,
  prices: null,
  openCalls: null,
  folded: null,
  source: null,
  structuredResult: null,
  parentDispatchId: null,
  botId: null,
  fidelity: 'full',
  schemaVersion: 1,
};
const prices = { name: 'table', version: '1', date: '2026-01-01' };

describe(`sums of usage (HANSARD_SEED=${seed})`, () => {
  it.each(seeds)('by day, from envelopes: seed %d', (from) => {
    const { below, is, pick, tokens } = numbersFrom(from);
    const [sums, expected] = [new UsageSums(), new Expected()];
    for (let dispatch = 0; dispatch < 30; dispatch += 1) {
      const day = pick(['monday', 'tuesday', 'friday']);
      const usage = is(0.7) ? { ...tokens(), ...(is(0.5) ? { durationMs: below(900) } : {}) } : null;
      const cost = is(0.5) ? below(100) / 8 : null;
      const status = pick(['running', 'completed', 'aborted', 'crashed'] as const);
      const models = is(0.5) ? [{ model: 'opus', calls: below(9), ...tokens(), estimatedUsd: 0.5 }] : null;
      const looked = is(0.7) ? prices : null;
      sums.add(day, figuresOfDispatch({ ...nothing, usage, cost, status, models, prices: looked }));
      expected.add(day, {
        dispatches: 1,
        failures: status === 'aborted' || status === 'crashed' ? 1 : 0,
        calls: models?.[0]?.calls,
        ...usage,
        costUsd: cost,
        // An estimate only where the log states no cost.
        estimatedUsd: cost === null && looked !== null && models !== null ? 0.5 : null,
      });
    }
    expect(found(sums)).toEqual(expected.rows);
  });

  it.each(seeds)('by model, from envelopes: seed %d', (from) => {
    const { below, is, pick, tokens } = numbersFrom(from);
    const [sums, expected] = [new UsageSums(), new Expected()];
    let allCosts = 0;
    for (let dispatch = 0; dispatch < 30; dispatch += 1) {
      const cost = is(0.5) ? below(100) / 8 : null;
      const names = ['opus', 'haiku', 'sonnet'].filter(() => is(0.5));
      const models = names.map(
        (model): ModelUsage => ({
          model,
          calls: below(9),
          ...tokens(),
          ...(is(0.5) ? { estimatedUsd: 0.25 } : {}),
          ...pick([{}, { speed: 'fast' }, { serviceTier: 'batch', inferenceGeo: 'us' }]),
        }),
      );
      addModels(sums, { ...nothing, cost, models, model: 'lone' });
      allCosts += cost ?? 0;
      if (names.length === 0) expected.add('lone', { dispatches: 1, failures: 0, calls: 0, costUsd: cost });
      for (const { model, speed, serviceTier, inferenceGeo, pricedAs: _, unpriced: __, ...figures } of models)
        expected.add(
          `${model}${speed ? ' (fast)' : ''}${serviceTier && inferenceGeo ? ' (batch, in us)' : ''}`,
          {
            dispatches: 1,
            ...figures,
            estimatedUsd: cost === null ? figures.estimatedUsd : null,
            costUsd: names.length === 1 ? cost : null,
          },
        );
      if (names.length > 1 && cost !== null) expected.add('', { costUsd: cost });
    }
    expect(found(sums)).toEqual(expected.rows);
    // Whatever the models know, no cost is lost.
    expect(sums.total.costUsd ?? 0).toBe(allCosts);
  });

  it.each(seeds)('by agent and by tool, from events: seed %d', (from) => {
    const { below, is, pick, tokens } = numbersFrom(from);
    const [agents, tools] = [new UsageSums(), new UsageSums()];
    const [byAgent, byTool] = [new Expected(), new Expected()];
    for (let dispatch = 0; dispatch < 5; dispatch += 1) {
      const [agentUsage, toolUsage] = [
        new AgentUsage({ role: `role ${dispatch % 2}`, openCalls: null }),
        new ToolUsage(tools),
      ];
      const names = new Map(
        [
          ['a1', 'Ann'],
          ['a2', 'Bo'],
        ].filter(() => is(0.7)) as [string, string][],
      );
      const labelOf = (agentId: string) =>
        names.get(agentId) ?? (agentId === '' ? `role ${dispatch % 2}` : agentId);
      const [usedBy, usedTools] = [new Set<string>(), new Set<string>()];
      let events = 0;
      const give = (type: string, agentId: string, data: object, again = false) => {
        events += 1;
        const event = {
          id: `e${events}`,
          type,
          timestamp: '2026-03-01T09:00:00.000Z',
          ...(agentId === '' ? {} : { agentId }),
          data,
        } as unknown as CapturedEvent;
        for (let times = again ? 2 : 1; times > 0; times -= 1) {
          agentUsage.observe(event);
          toolUsage.observe(event);
        }
      };
      for (const [agentId, name] of names) give('agent:created', agentId, { name });
      for (let step = 0; step < 40; step += 1) {
        const agentId = pick(['', 'a1', 'a2', 'a3']);
        const tool = pick(['Bash', 'Read']);
        const choice = below(4);
        if (choice < 2) {
          const usage = tokens();
          const costUsd = is(0.3) ? 0.125 : undefined;
          const durationMs = is(0.5) ? below(50) : undefined;
          // A call that is recorded twice counts once.
          give('agent:inference', agentId, { model: 'opus', usage, costUsd, durationMs }, is(0.2));
          const key = labelOf(agentId);
          const first = usedBy.has(agentId) ? {} : { dispatches: 1 };
          usedBy.add(agentId);
          byAgent.add(key, { ...first, calls: 1, ...usage, costUsd, durationMs });
        } else if (choice === 2) {
          give('agent:tool_call', agentId, { toolCallId: `t${step}`, tool, metadata: {} });
          byTool.add(tool, { ...(usedTools.has(tool) ? {} : { dispatches: 1 }), calls: 1, failures: 0 });
          usedTools.add(tool);
        } else {
          const status = pick(['completed', 'error'] as const);
          const durationMs = is(0.5) ? below(50) : undefined;
          give('agent:tool_result', agentId, {
            toolCallId: `t${step}`,
            tool,
            metadata: {},
            status,
            durationMs,
          });
          byTool.add(tool, { failures: status === 'error' ? 1 : 0, durationMs });
        }
      }
      agentUsage.addTo(agents);
    }
    expect(found(agents)).toEqual(byAgent.rows);
    expect(found(tools)).toEqual(byTool.rows);
  });

  it('has null, and not 0, for what nothing states, and puts the ones that used the most first', () => {
    const sums = new UsageSums();
    sums.add('few', { inputTokens: 1 });
    sums.add('many', { inputTokens: 5, cacheReadTokens: 2 });
    sums.add('none', {});
    expect(sums.rows('most').map(({ key }) => key)).toEqual(['many', 'few', 'none']);
    expect(sums.total).toMatchObject({
      inputTokens: 6,
      cacheReadTokens: 2,
      outputTokens: null,
      costUsd: null,
    });
  });
});

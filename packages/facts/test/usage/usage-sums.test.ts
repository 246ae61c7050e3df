import type { CapturedEvent, DispatchEnvelope, ModelUsage } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { addParts, LoggedUsage, UsageSums, usageParts } from '../../src/index.ts';

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

/** The rows without the figures that are 0. */
function nonZero(rows: ReadonlyMap<string, Record<string, number>>): Map<string, Record<string, number>> {
  const some = (row: Record<string, number>) => Object.entries(row).filter(([, value]) => value !== 0);
  return new Map([...rows].sort().map(([key, row]) => [key, Object.fromEntries(some(row))]));
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
  periods: null,
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

/** A dispatch of random events, and what its generator adds up. */
class PlayedDispatch {
  readonly used: LoggedUsage;
  readonly #numbers: ReturnType<typeof numbersFrom>;
  readonly #role: string;
  readonly #byAgent: Expected;
  readonly #byTool: Expected;
  /** Some agents have one. */
  readonly #names: ReadonlyMap<string, string>;
  readonly #usedBy = new Set<string>();
  readonly #usedTools = new Set<string>();
  #events = 0;

  constructor(numbers: ReturnType<typeof numbersFrom>, role: string, byAgent: Expected, byTool: Expected) {
    this.used = new LoggedUsage({ role, openCalls: null });
    this.#numbers = numbers;
    this.#role = role;
    this.#byAgent = byAgent;
    this.#byTool = byTool;
    this.#names = new Map(
      [
        ['a1', 'Ann'],
        ['a2', 'Bo'],
      ].filter(() => numbers.is(0.7)) as [string, string][],
    );
    for (const [agentId, name] of this.#names) this.#give('agent:created', agentId, { name });
  }

  step(toolCallId: string): void {
    const { below, pick } = this.#numbers;
    const agentId = pick(['', 'a1', 'a2', 'a3']);
    const tool = pick(['Bash', 'Read']);
    const choice = below(3);
    if (choice === 0) this.#modelCall(agentId);
    else if (choice === 1) this.#failedModelCall(agentId);
    else this.#toolCall(agentId, tool, toolCallId);
  }

  #modelCall(agentId: string): void {
    const { below, is, tokens } = this.#numbers;
    const usage = tokens();
    const costUsd = is(0.3) ? 0.125 : undefined;
    const durationMs = is(0.5) ? below(50) : undefined;
    // A call that is recorded twice counts once.
    this.#give('agent:inference', agentId, { model: 'opus', usage, costUsd, durationMs }, is(0.2));
    this.#expect(agentId, { modelCalls: 1, ...usage, costUsd, durationMs });
  }

  #failedModelCall(agentId: string): void {
    this.#give('harness:error', agentId, { message: 'no answer', code: 'SESSION_MODEL_FAILED' });
    this.#expect(agentId, { failedModelCalls: 1 });
  }

  #toolCall(agentId: string, tool: string, toolCallId: string): void {
    const { below, is, pick } = this.#numbers;
    const status = pick(['completed', 'error', null] as const);
    const durationMs = is(0.5) ? below(50) : undefined;
    this.#give('agent:tool_call', agentId, { toolCallId, tool, metadata: {} });
    if (status !== null)
      // Under the agent of the call.
      this.#give('agent:tool_result', 'a2', { toolCallId, tool, metadata: {}, status, durationMs });
    const figures = {
      toolCalls: 1,
      failedToolCalls: status === 'error' ? 1 : 0,
      durationMs: status === null ? undefined : durationMs,
    };
    this.#expect(agentId, figures);
    this.#byTool.add(tool, { ...once(this.#usedTools, tool), ...figures });
  }

  #expect(agentId: string, figures: Readonly<Record<string, number | null | undefined>>): void {
    const label = this.#names.get(agentId) ?? (agentId === '' ? this.#role : agentId);
    this.#byAgent.add(label, { ...once(this.#usedBy, label), ...figures });
  }

  #give(type: string, agentId: string, data: object, again = false): void {
    this.#events += 1;
    const event = {
      id: `e${this.#events}`,
      type,
      timestamp: '2026-03-01T09:00:00.000Z',
      ...(agentId === '' ? {} : { agentId }),
      data,
    } as unknown as CapturedEvent;
    for (let times = again ? 2 : 1; times > 0; times -= 1) this.used.observe(event);
  }
}

/** Counts the dispatch at the first use of a key. */
function once(seen: Set<string>, key: string): { readonly dispatches?: number } {
  const first = seen.has(key) ? {} : { dispatches: 1 };
  seen.add(key);
  return first;
}

describe(`sums of usage (HANSARD_SEED=${seed})`, () => {
  it.each(seeds)('by model, from envelopes without events: seed %d', (from) => {
    const { below, is, pick, tokens } = numbersFrom(from);
    const [sums, expected] = [new UsageSums(), new Expected()];
    let allCosts = 0;
    for (let dispatch = 0; dispatch < 30; dispatch += 1) {
      const cost = is(0.5) ? below(100) / 8 : null;
      const names = ['opus', 'haiku', 'sonnet'].filter(() => is(0.5));
      const looked = is(0.7) ? prices : null;
      const models = names.map(
        (model): ModelUsage => ({
          model,
          calls: below(9),
          ...tokens(),
          ...(is(0.5) && looked !== null ? { estimatedUsd: 0.25 } : {}),
          ...pick([{}, { speed: 'fast' }, { serviceTier: 'batch', inferenceGeo: 'us' }]),
        }),
      );
      const status = pick(['running', 'completed', 'aborted', 'crashed'] as const);
      const envelope = { ...nothing, status, cost, models, prices: looked, model: 'lone' };
      addParts(sums, usageParts(envelope), ({ model }) => model);
      allCosts += cost ?? 0;
      if (names.length === 0) expected.add('lone', { dispatches: 1, costUsd: cost });
      for (const {
        model,
        speed,
        serviceTier,
        pricedAs: _,
        inferenceGeo: __,
        unpriced: ___,
        calls,
        ...figures
      } of models)
        expected.add(`${model}${speed ? ' (fast)' : ''}${serviceTier ? ' (batch, in us)' : ''}`, {
          dispatches: 1,
          modelCalls: calls,
          ...figures,
          // An estimate only where the log states no cost.
          estimatedUsd: cost === null ? figures.estimatedUsd : null,
          costUsd: names.length === 1 ? cost : null,
        });
      // A cost that is not given by model.
      if (names.length > 1 && cost !== null) expected.add('', { dispatches: 1, costUsd: cost });
    }
    expect(nonZero(found(sums))).toEqual(nonZero(expected.rows));
    expect(sums.total.costUsd ?? 0).toBe(allCosts);
  });

  it('of an envelope without events are at its end, and of one without figures at its start', () => {
    const usage = { inputTokens: 7, outputTokens: 3, durationMs: 5 };
    const ended = { ...nothing, completedAt: '2026-03-02T00:01:00.000Z', usage, cost: 0 };
    expect(usageParts(ended)).toEqual([
      {
        at: Date.parse('2026-03-02T00:00:00.000Z'),
        model: '',
        figures: expect.objectContaining({ inputTokens: 7, outputTokens: 3, costUsd: 0 }),
      },
    ]);
    const at = Date.parse(nothing.startedAt ?? '');
    expect(usageParts(nothing)).toEqual([{ at, model: '', figures: {} }]);
  });

  it.each(seeds)('by agent and by tool, from events: seed %d', (from) => {
    const numbers = numbersFrom(from);
    const [agents, tools] = [new UsageSums(), new UsageSums()];
    const [byAgent, byTool] = [new Expected(), new Expected()];
    for (let dispatch = 0; dispatch < 5; dispatch += 1) {
      const played = new PlayedDispatch(numbers, `role ${dispatch % 2}`, byAgent, byTool);
      for (let step = 0; step < 40; step += 1) played.step(`t${step}`);
      addParts(agents, played.used.parts, ({ agent }) => agent);
      addParts(
        tools,
        played.used.parts.filter(({ tool }) => tool !== null),
        ({ tool }) => tool ?? '',
      );
    }
    expect(nonZero(found(agents))).toEqual(nonZero(byAgent.rows));
    expect(nonZero(found(tools))).toEqual(nonZero(byTool.rows));
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

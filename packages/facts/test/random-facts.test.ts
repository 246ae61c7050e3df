import type { CapturedEvent, Usage } from '@hansard/events';
import { envelope, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createDispatchFacts, type DispatchFacts, factsOf } from '../src/index.ts';

const first = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const seeds = Array.from({ length: 60 }, (_, at) => first + at);

type Speed = 'fast' | 'standard' | undefined;

/** Calls of a few models with and without terms, tools, and statements of totals. `messages`: of several agents, in messages. */
function randomLog(seed: number, messages: boolean): CapturedEvent[] {
  const random = randomFrom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  let time = Date.UTC(2026, 2, 1, 9, 20);
  return Array.from({ length: 10 + below(60) }, (_, at): CapturedEvent => {
    time += below(4) === 0 ? below(1_500_000) : below(30_000);
    const agentId = messages ? pick([undefined, 'a', 'b']) : undefined;
    const links = {
      id: `e${at}`,
      timestamp: new Date(time).toISOString(),
      ...(agentId === undefined ? {} : { agentId }),
      ...(messages && below(5) > 0 ? { messageId: `m${Math.floor(at / 6) + below(3)}` } : {}),
    };
    const speed: Speed = pick([undefined, undefined, undefined, 'fast', 'standard']);
    const usage = {
      inputTokens: below(50),
      outputTokens: below(50),
      ...(speed === undefined ? {} : { speed }),
    };
    const kind = below(10);
    if (kind < 6)
      return { ...links, type: 'agent:inference', data: { model: pick(['x', 'x', 'x', 'y']), usage } };
    if (kind < 8)
      return {
        ...links,
        type: kind === 6 ? 'agent:tool_call' : 'agent:text',
        data: { toolCallId: `t${at}`, tool: 'Bash', metadata: {}, text: 'x' },
      };
    const models = [{ model: 'x', inputTokens: below(500), outputTokens: 1 }];
    const stated = { inputTokens: below(900), outputTokens: 2 };
    return {
      ...links,
      type: 'session:complete',
      data: {
        status: 'completed',
        ...(kind === 8 ? { models } : {}),
        ...(below(2) === 0 ? { usage: stated } : {}),
      },
    };
  });
}

/** Input tokens and calls by model and special speed, one event after the other. */
function oracle(log: readonly CapturedEvent[]): {
  rows: Record<string, [calls: number, input: number]>;
  input: number;
} {
  let rows = new Map<string, [number, number]>();
  let input = 0;
  for (const { type, data } of log) {
    const usage = data.usage as Usage | undefined;
    if (type === 'agent:inference') {
      const key = usage?.speed === 'fast' ? `${data.model} fast` : `${data.model}`;
      const [calls, tokens] = rows.get(key) ?? [0, 0];
      rows.set(key, [calls + 1, tokens + (usage?.inputTokens ?? 0)]);
      input += usage?.inputTokens ?? 0;
    } else if (type === 'session:complete') {
      if (usage !== undefined) input = usage.inputTokens;
      const models = data.models as { model: string; inputTokens: number }[] | undefined;
      if (models === undefined) continue;
      const stated = new Map(models.map(({ model, inputTokens }) => [model, inputTokens]));
      const next = new Map<string, [number, number]>(
        models.map(({ model }) => [model, [0, stated.get(model) ?? 0]]),
      );
      for (const [key, [calls]] of rows) {
        const [model = ''] = key.split(' ');
        const [before, tokens] = next.get(model) ?? [0, 0];
        if (calls > 0) next.set(model, [before + calls, tokens]);
      }
      rows = next;
    }
  }
  return { rows: Object.fromEntries(rows), input };
}

const rowsOf = ({ models }: DispatchFacts) =>
  Object.fromEntries(
    (models ?? []).map(({ model, speed, calls, inputTokens }) => [
      speed === undefined ? model : `${model} ${speed}`,
      [calls, inputTokens],
    ]),
  );

describe('the facts of any log', () => {
  it.each(seeds)('have the calls and tokens of each model, with special terms apart: seed %d', (seed) => {
    const log = randomLog(seed, false);
    for (let end = 1; end <= log.length; end += 1) {
      const events = log.slice(0, end);
      const facts = factsOf(events);
      const expected = oracle(events);
      expect(rowsOf(facts)).toEqual(expected.rows);
      expect(facts.tokens?.inputTokens ?? 0).toBe(expected.input);
    }
  });

  it.each(seeds)('are the same in one pass and continued from the envelope at any event: seed %d', (seed) => {
    const log = randomLog(seed, true);
    const whole = factsOf(log).figures;
    for (let cut = 1; cut < log.length; cut += 1) {
      const figures = factsOf(log.slice(0, cut)).figures;
      const before = JSON.parse(JSON.stringify(envelope({ cost: null, usage: null, ...figures })));
      const facts = createDispatchFacts({ before });
      for (const event of log.slice(cut)) facts.observe(event);
      expect(facts.figures, `cut at ${cut}`).toEqual(whole);
    }
  });
});

import { type CapturedEvent, newEvent, toTimestamp } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import { LoopDetector, type LoopLimits } from '../../src/limits/loop-detector.ts';

interface Call {
  readonly name: string;
  result: string | null;
}

/** Whether the last calls are `times` repetitions of `period` calls that are not all equal. Unknown results equal any result. */
function endsWithCycle(calls: readonly Call[], period: number, times: number): boolean {
  const tail = calls.slice(-period * times);
  if (tail.length < period * times || new Set(tail.map(({ name }) => name)).size === 1) return false;
  return tail.every((call, at) => {
    const before = tail[at - period];
    if (before === undefined) return true;
    return (
      call.name === before.name &&
      (call.result === null || before.result === null || call.result === before.result)
    );
  });
}

/** The definition of a loop that stops an agent, calculated anew from all calls of the agent. */
function isKilled(calls: readonly Call[], { window, killAt }: LoopLimits): boolean {
  const latest = calls.slice(-window);
  if (latest.filter(({ name }) => name === calls.at(-1)?.name).length >= killAt) return true;
  return [2, 3, 4].some((period) => endsWithCycle(calls, period, killAt));
}

it('stops exactly the loops of the definition, for random calls, results and delays', () => {
  const seed = Number(process.env.HANSARD_SEED ?? 20_261_122);
  const random = randomFrom(seed);
  const below = (count: number) => Math.floor(random() * count);
  let kills = 0;
  for (let round = 0; round < 1_000; round += 1) {
    const killAt = 2 + below(5);
    const limits = { window: killAt + below(6), warnAt: 1 + below(killAt), killAt };
    const detector = new LoopDetector(limits);
    const agents = ['a', 'b', ''].slice(0, 1 + below(3));
    const byAgent = new Map<string, Call[]>(agents.map((agent) => [agent, []]));
    const pattern = Array.from({ length: 1 + below(4) }, () => 'xyz'[below(3)] ?? '');
    const results = Array.from({ length: 1 + below(8) }, () => 'pq'[below(2)] ?? '');
    const noise = random() < 0.5 ? 0 : 0.03;
    const waiting: (() => void)[] = [];
    let killed = false;
    for (let step = 0; step < 120 && !killed; step += 1) {
      const agentId = agents[below(agents.length)] ?? '';
      const calls = byAgent.get(agentId) ?? [];
      const at = calls.length;
      const name = random() < noise ? 'other' : (pattern[at % pattern.length] ?? '');
      const call: Call = { name, result: null };
      calls.push(call);
      const links = agentId === '' ? {} : { agentId };
      const seen = (event: ReturnType<typeof newEvent>, id: string): CapturedEvent => ({
        ...event,
        id,
        timestamp: toTimestamp(step),
      });
      const data = { toolCallId: `${agentId}_${at}`, tool: name, metadata: {} };
      const finding = detector.observe(seen(newEvent('agent:tool_call', data, links), `call_${step}`));
      killed = finding?.act === 'kill';
      if (killed !== isKilled(calls, limits))
        expect.fail(
          `HANSARD_SEED=${seed}, round ${round}, step ${step}: ${killed ? 'stopped' : 'not stopped'} after ${JSON.stringify({ limits, calls })}`,
        );
      const result = random() < noise ? `${step}` : (results[at % results.length] ?? '');
      waiting.push(() => {
        call.result = result;
        const outcome = { ...data, status: 'completed' as const, output: result, durationMs: step };
        detector.observe(seen(newEvent('agent:tool_result', outcome, links), `result_${step}`));
      });
      // Results of parallel calls arrive together, in any order; some never.
      while (waiting.length > 0 && random() < 0.8) {
        const [settle] = waiting.splice(below(waiting.length), 1);
        if (random() < 0.95) settle?.();
      }
    }
    if (killed) kills += 1;
  }
  expect(kills).toBeGreaterThan(100);
});

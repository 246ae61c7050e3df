/**
 * Measures the rendering of a context: the first time and at each later call, in logs of 100,000 and 200,000 events; without
 * its messages, and with the array of messages for a model.
 */
import { type CapturedEvent, toTimestamp } from '@hansard/events';
import { type ContextPolicy, createContextRenderer } from '@hansard/prompt';
import { createTokenCounter } from '@hansard/prompt/tokens';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';

const lengths = [100_000, 200_000] as const;
const calls = 100;
const rounds = 3;
const turnsAtOnce = 1_000;
const timestamp = toTimestamp(0);
const tokens = await createTokenCounter();
const policies: readonly ContextPolicy[] = [{ name: 'full' }, { name: 'faded', budget: 24_000 }];

/** One turn of an agent: asked, calls a tool, gets a result, answers. */
function turn(number: number): CapturedEvent[] {
  const id = `m${number}`;
  const whose = { timestamp, agentId: 'agent_001' };
  const tool = { toolCallId: `c${number}`, tool: 'read', metadata: {} };
  const output = `The ${number}th page, with what stands on it, line by line. `.repeat(8);
  return [
    {
      ...whose,
      id: `${id}.0`,
      type: 'user:message',
      data: { text: `Read page ${number}.`, source: { kind: 'user' } },
    },
    {
      ...whose,
      id: `${id}.1`,
      messageId: id,
      type: 'agent:tool_call',
      data: { ...tool, input: { page: number } },
    },
    { ...whose, id: `${id}.2`, type: 'agent:tool_result', data: { ...tool, status: 'completed', output } },
    { ...whose, id: `${id}.3`, type: 'agent:text', data: { text: `Page ${number} says what it says.` } },
  ];
}

function milliseconds<T>(work: () => T): number {
  const start = process.hrtime.bigint();
  work();
  return microsecondsSince(start) / 1_000;
}

for (const policy of policies) {
  const firsts = new Map<number, number[]>(lengths.map((length) => [length, []]));
  const nexts = new Map<number, number[]>(lengths.map((length) => [length, []]));
  const taken = new Map<number, number[]>(lengths.map((length) => [length, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const length of lengths) {
      const renderer = createContextRenderer({ policy, tokens });
      let first = 0;
      // A part of the log at a time: a whole one in memory is a load on the collector that is not the renderer's.
      for (let from = 0; from < length / 4; from += turnsAtOnce) {
        const events = Array.from({ length: turnsAtOnce }, (_, number) => turn(from + number)).flat();
        first += milliseconds(() => {
          for (const event of events) renderer.observe(event);
        });
      }
      firsts.get(length)?.push(first + milliseconds(() => renderer.render()));
      for (let call = 0; call < calls; call += 1) {
        const more = turn(length + call);
        const next = milliseconds(() => {
          for (const event of more) renderer.observe(event);
          renderer.render();
        });
        nexts.get(length)?.push(next);
        const context = renderer.render();
        taken.get(length)?.push(milliseconds(() => context.messages));
      }
    }
  const of = (samples: ReadonlyMap<number, number[]>, length: number) => median(samples.get(length) ?? []);
  const [half, whole] = lengths;
  for (const length of lengths) {
    const result = { benchmark: 'context', policy: policy.name, events: length };
    const next = { ...result, call: 'next', milliseconds: rounded(of(nexts, length)) };
    const withMessages = rounded(of(nexts, length) + of(taken, length));
    report({ ...next, withMessages }, [{ key: 'withMessages', atMost: 5 }]);
    report({ ...result, call: 'first', milliseconds: rounded(of(firsts, length)) });
  }
  for (const [call, samples, atMost] of [
    ['next', nexts, 1.5],
    ['first', firsts, 2.2],
  ] as const) {
    const ofHalf = rounded(of(samples, whole) / of(samples, half));
    report({ benchmark: 'context', policy: policy.name, events: whole, call, ofHalf }, [
      { key: 'ofHalf', atMost },
    ]);
  }
}

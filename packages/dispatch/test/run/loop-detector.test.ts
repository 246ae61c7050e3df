import { type CapturedEvent, type JsonObject, newEvent, toTimestamp } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { defaultLoopLimits, LoopDetector, type LoopFinding } from '../../src/limits/loop-detector.ts';

let ids = 0;

interface Use {
  readonly tool?: string;
  readonly target?: string;
  readonly metadata?: JsonObject;
  readonly input?: JsonObject;
  readonly agentId?: string;
  /** Absent: the call has no result yet. */
  readonly output?: string;
}

/** A call and its result. */
function use({ tool = 'Bash', target, metadata = {}, input, agentId, output }: Use): CapturedEvent[] {
  ids += 1;
  const toolCallId = `call_${ids}`;
  const links = agentId === undefined ? {} : { agentId };
  const data = { toolCallId, tool, ...(target === undefined ? {} : { target }), metadata };
  const call = newEvent('agent:tool_call', { ...data, ...(input === undefined ? {} : { input }) }, links);
  const outcome = { ...data, status: 'completed' as const, durationMs: ids, output: output ?? null };
  const events = output === undefined ? [call] : [call, newEvent('agent:tool_result', outcome, links)];
  return events.map((event, index) => ({
    ...event,
    id: `event_${ids}_${index}`,
    timestamp: toTimestamp(ids),
  }));
}

function repeat(times: number, ...uses: readonly Use[]): CapturedEvent[] {
  return Array.from({ length: times }, () => uses.flatMap(use)).flat();
}

/** What the detector found before it stopped the agent, with the number of calls until then. */
function watch(events: readonly CapturedEvent[], limits = defaultLoopLimits) {
  const detector = new LoopDetector(limits);
  const found: (LoopFinding['data'] & { readonly act: string; readonly at: number })[] = [];
  let at = 0;
  for (const event of events) {
    if (event.type === 'agent:tool_call') at += 1;
    const finding = detector.observe(event);
    if (finding !== null) found.push({ act: finding.act, at, ...finding.data });
    if (finding?.act === 'kill') break;
  }
  return found;
}

const uses = (length: number, output?: string): Use[] =>
  Array.from({ length }, (_, index) => ({
    target: `step ${index}`,
    ...(output === undefined ? {} : { output: `${output} ${index}` }),
  }));

describe('the loop detector', () => {
  it.each([2, 3, 4])('warns of %i calls that are repeated in turn, then stops the agent', (period) => {
    const calls = uses(period).map(({ target }) => ({ tool: 'Bash', target }));
    expect(watch(repeat(200, ...uses(period, 'same')))).toMatchObject([
      { act: 'warn', at: 8 * period, count: 8, limit: 8, window: 8 * period, calls },
      { act: 'kill', at: 15 * period, count: 15, limit: 15, window: 15 * period, calls },
    ]);
  });

  it.each([2, 3, 4])('finds %i calls in turn when their results are not recorded', (period) => {
    expect(watch(repeat(200, ...uses(period))).map(({ act }) => act)).toEqual(['warn', 'kill']);
  });

  it('names the repeated results', () => {
    const events = repeat(200, ...uses(3, 'same'));
    const kill = watch(events).at(-1);
    const results = events.filter(({ type }) => type === 'agent:tool_result');
    // The third call of the last repetition has no result yet: the one before it is the evidence.
    expect(kill?.results).toEqual([42, 43, 41].map((index) => results[index]?.id));
    const single = watch(repeat(200, { target: 'npm test', output: 'failed' })).at(-1);
    expect(single).toMatchObject({ act: 'kill', at: 15, results: [expect.stringMatching(/^event_\d+_1$/)] });
  });

  it('names no result as evidence when results differ', () => {
    const polls = Array.from({ length: 20 }, (_, index) => use({ target: 'date', output: `${index}` }));
    const found = watch(polls.flat());
    expect(found.map(({ act }) => act)).toEqual(['warn', 'kill']);
    for (const finding of found) expect(finding).not.toHaveProperty('results');
  });

  it('lets an agent alternate edits and tests as long as a result changes', () => {
    const rounds = Array.from({ length: 100 }, (_, index) => [
      ...use({ tool: 'Edit', target: 'a.ts', output: 'edited' }),
      ...use({ target: 'npm test', output: `${index} failed` }),
    ]);
    expect(watch(rounds.flat()).map(({ act }) => act)).toEqual(['warn', 'warn']);
  });

  it('stops an agent that repeats four calls which look like two while the latest results are not known', () => {
    const [look, toggle] = [{ target: 'look', output: 'same' }, { target: 'toggle' }];
    const calls = [look, { ...toggle, output: 'on' }, look, { ...toggle, output: 'off' }];
    expect(watch(repeat(16, ...calls)).at(-1)).toMatchObject({ act: 'kill', at: 60, count: 15, window: 60 });
  });

  it('stops an agent at too many equal calls, including those that are a part of a cycle', () => {
    const calls = ['x', 'y', 'y', 'x', 'y', 'y'].map((target) => ({ target, output: 'same' }));
    expect(watch(repeat(1, ...calls), { window: 5, warnAt: 2, killAt: 4 }).at(-1)).toMatchObject({
      act: 'kill',
      at: 6,
      count: 4,
      target: 'y',
    });
  });

  it('compares inputs whatever the order of their keys is', () => {
    const [one, other] = [
      { path: 'a', lines: { from: 1, to: 2 } },
      { lines: { to: 2, from: 1 }, path: 'a' },
    ];
    const found = watch(repeat(10, { tool: 'read', input: one }, { tool: 'read', input: other }));
    expect(found.at(-1)).toMatchObject({ act: 'kill', at: 15 });
    expect(found.at(-1)).not.toHaveProperty('calls');
  });

  it('ignores the description of a command, in the input and in the metadata', () => {
    const varied = Array.from({ length: 20 }, (_, index) => {
      const fields = { command: 'npm test', description: `Attempt ${index}` };
      return use({ target: 'npm test', metadata: fields, input: fields });
    });
    expect(watch(varied.flat()).at(-1)).toMatchObject({ act: 'kill', at: 15 });
  });

  it('compares a description that is all that a call says', () => {
    const notes = Array.from({ length: 50 }, (_, index) =>
      use({ tool: 'add_note', input: { kind: 'bug', description: `Bug ${index}` } }),
    );
    expect(watch(notes.flat())).toEqual([]);
  });

  it('finds the loop of one agent among the calls of others', () => {
    const rounds = Array.from({ length: 100 }, (_, index) => [
      ...use({ agentId: 'ben', target: `read ${index}` }),
      ...use({ agentId: 'ann', target: 'npm test' }),
      ...use({ agentId: 'cleo', target: `search ${index}` }),
    ]);
    expect(watch(rounds.flat()).at(-1)).toMatchObject({ act: 'kill', at: 15 * 3 - 1, target: 'npm test' });
  });

  it('remembers the calls of a bounded number of agents', () => {
    const many = (times: number) =>
      Array.from({ length: 200 }, (_, agent) => repeat(times, { agentId: `agent_${agent}`, target: 'ls' }));
    expect(watch([...many(7), ...many(7)].flat())).toEqual([]);
  });

  it('finds nothing in random calls, and every random cycle at its limit', () => {
    const seed = Number(process.env.HANSARD_SEED ?? 20_261_122);
    const next = randomFrom(seed);
    const random = (below: number) => Math.floor(next() * below);
    for (let round = 0; round < 300; round += 1) {
      const where = `HANSARD_SEED=${seed}, round ${round}`;
      const noise = Array.from({ length: random(60) }, (_, index) => use({ target: `noise ${index}` }));
      expect(watch(noise.flat()), where).toEqual([]);
      const period = 1 + random(4);
      const killAt = 3 + random(10);
      const limits = { window: killAt, warnAt: 2, killAt };
      const cycle = uses(period, random(2) === 0 ? undefined : 'same');
      const found = watch([...noise, repeat(killAt + 1, ...cycle)].flat(), limits);
      expect(found.at(-1), where).toMatchObject({ act: 'kill', at: noise.length + killAt * period });
    }
  });
});

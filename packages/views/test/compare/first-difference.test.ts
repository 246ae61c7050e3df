import type { CapturedEvent, JsonObject } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { firstDifference } from '../../src/index.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** A step of a story. Its events have other ids and times in each version. */
interface Step {
  readonly agent: string;
  readonly type: CapturedEvent['type'];
  readonly data: JsonObject;
}

function storyFrom(random: () => number): Step[] {
  const below = (count: number) => Math.floor(random() * count);
  const words = () => `word ${below(1_000)} word`;
  const steps: Step[] = [];
  for (let at = 2 + below(20); at > 0; at -= 1) {
    const agent = ['', 'ada', 'ben'][below(3)] ?? '';
    const tool = ['Bash', 'Read'][below(2)] ?? '';
    const kind = below(5);
    if (kind === 0) steps.push({ agent, type: 'agent:text', data: { text: words() } });
    else if (kind === 1)
      steps.push({ agent, type: 'user:message', data: { text: words(), source: { kind: 'user' } } });
    else if (kind === 2) steps.push({ agent, type: 'agent:thinking', data: { text: words() } });
    else {
      const call = { tool, target: words(), metadata: {} };
      steps.push({
        agent,
        type: 'agent:tool_call',
        data: { ...call, input: { a: words(), b: [below(9), { c: null }] } },
      });
      const ended =
        below(4) === 0 ? { status: 'error', error: words() } : { status: 'completed', output: words() };
      steps.push({ agent, type: 'agent:tool_result', data: { ...call, ...ended } });
    }
  }
  steps.push({ agent: '', type: 'session:complete', data: { status: 'completed', result: words() } });
  return steps;
}

const noise: readonly Pick<Step, 'type' | 'data'>[] = [
  { type: 'session:status', data: { status: 'requesting' } },
  { type: 'system:hook_started', data: { toolUseID: 'x' } },
  { type: 'agent:inference', data: { model: 'm', usage: { inputTokens: 1, outputTokens: 2 } } },
];

/** The events of a story, with own ids, times, durations and noise, and where each step is. */
function tell(steps: readonly Step[], version: string, random: () => number) {
  const events: CapturedEvent[] = [];
  const positions: number[] = [];
  const add = ({ agent, type, data }: Step, extra: JsonObject = {}) =>
    events.push({
      id: `${version}-${events.length}`,
      type,
      timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(random() * 1e9)).toISOString(),
      ...(agent === '' ? {} : { agentId: `${version}-${agent}` }),
      data: { ...data, ...extra },
    } as CapturedEvent);
  for (const [at, step] of steps.entries()) {
    while (random() < 0.4)
      add({ agent: '', ...(noise[Math.floor(random() * noise.length)] as (typeof noise)[number]) });
    positions.push(events.length);
    const isCall = step.type.startsWith('agent:tool_');
    const isResult = step.type === 'agent:tool_result';
    add(step, {
      ...(isCall ? { toolCallId: `${version}-${at}` } : {}),
      ...(isResult ? { durationMs: Math.floor(random() * 100) } : {}),
    });
  }
  return { events, positions };
}

/** A changed field of a step, by the name that the answer must give it. */
function changed(
  { agent, type, data }: Step,
  random: () => number,
): { readonly step: Step; readonly field: string } {
  const changes: [string, Step][] = [];
  const set = (field: string, key: string, value: JsonObject[string]) =>
    changes.push([field, { agent, type, data: { ...data, [key]: value } }]);
  if (data.text !== undefined) set('text', 'text', `${data.text}!`);
  if (type === 'agent:tool_call') {
    set('tool', 'tool', 'Other');
    set('target', 'target', 'elsewhere');
    set('input', 'input', { ...(data.input as JsonObject), b: [9, { c: false }] });
    set('input', 'input', { ...(data.input as JsonObject), d: null });
  }
  if (type === 'agent:tool_result') {
    set('tool', 'tool', 'Other');
    if (data.error === undefined) set('output', 'output', null);
    else set('error', 'error', `${data.error}!`);
  }
  if (type === 'session:complete') set('result', 'result', 'another one');
  const [field, step] = changes[Math.floor(random() * changes.length)] as [string, Step];
  return { field, step };
}

describe(`the first difference (HANSARD_SEED=${seed})`, () => {
  it('is none between two versions of one story', async () => {
    const random = randomFrom(seed);
    for (let round = 0; round < 200; round += 1) {
      const story = storyFrom(random);
      expect(
        await firstDifference(tell(story, 'x', random).events, tell(story, 'y', random).events),
      ).toBeNull();
    }
  });

  it('is where the first change was planted, whatever comes after', async () => {
    const random = randomFrom(seed + 1);
    const fields = new Set<string>();
    for (let round = 0; round < 400; round += 1) {
      const story = storyFrom(random);
      const at = Math.floor(random() * story.length);
      const { step, field } = changed(story[at] as Step, random);
      const rest = random() < 0.5 ? story.slice(at + 1) : storyFrom(random);
      const [one, other] = [
        tell(story, 'x', random),
        tell([...story.slice(0, at), step, ...rest], 'y', random),
      ];
      const found = await firstDifference(one.events, other.events);
      expect(found).toMatchObject({
        same: at,
        field,
        one: { position: one.positions[at], id: `x-${one.positions[at]}` },
        other: { position: other.positions[at], id: `y-${other.positions[at]}` },
      });
      fields.add(field);
    }
    expect([...fields].sort()).toEqual(['error', 'input', 'output', 'result', 'target', 'text', 'tool']);
  });

  it('is where a step is missing or too much, and at the end of a log that is cut', async () => {
    const random = randomFrom(seed + 2);
    for (let round = 0; round < 200; round += 1) {
      const story = storyFrom(random);
      const at = Math.floor(random() * story.length);
      const one = tell(story, 'x', random);
      const cut = tell(story.slice(0, at), 'y', random);
      expect(await firstDifference(one.events, cut.events)).toMatchObject({
        same: at,
        field: 'end of the log',
        one: { position: one.positions[at] },
        other: null,
      });
      expect(await firstDifference(cut.events, one.events)).toMatchObject({ same: at, one: null });
    }
  });

  it('is an agent that is another one than before, not one with another id', async () => {
    const says = (...agents: string[]) =>
      tell(
        agents.map((agent): Step => ({ agent, type: 'agent:text', data: { text: 'Yes.' } })),
        'x',
        () => 0.9,
      ).events;
    expect(await firstDifference(says('ada', 'ben', 'ada'), says('eve', 'kim', 'eve'))).toBeNull();
    expect(await firstDifference(says('ada', 'ben', 'ada'), says('ada', 'ben', 'ben'))).toMatchObject({
      same: 2,
      field: 'agent',
    });
  });

  it('stops reading where it is, and closes both logs', async () => {
    const counts = { read: 0, closed: 0 };
    async function* log(text: string) {
      try {
        for (let at = 0; ; at += 1) {
          counts.read += 1;
          const data = { text: at === 3 ? text : 'same' };
          yield {
            id: `e${at}`,
            type: 'agent:text',
            timestamp: '2026-03-01T09:00:00.000Z',
            data,
          } as CapturedEvent;
        }
      } finally {
        counts.closed += 1;
      }
    }
    expect(await firstDifference(log('a'), log('b'))).toMatchObject({ same: 3, field: 'text' });
    expect(counts).toEqual({ read: 8, closed: 2 });
  });
});

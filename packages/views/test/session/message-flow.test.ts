import type { CapturedEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { columnsOf, createLogIndex, flowMermaid, messageFlow, renderFlow } from '../../src/index.ts';
import { created, decides, heard, marketLog, says } from '../market-log.ts';

type How = 'same' | 'altered' | 'withheld';

/** What was said, as it was played: the oracle of a random log. */
interface Played {
  readonly position: number;
  readonly from: string;
  readonly to: ReadonlyMap<string, How>;
}

function playRandomTalk(seed: number, agents: number): { events: CapturedEvent[]; played: Played[] } {
  const random = randomFrom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const events: CapturedEvent[] = [];
  const id = () => `e${events.length}`;
  for (let at = 0; at < agents; at++) events.push(created(id(), `a${at}`, `N${at}`));
  const played: Played[] = [];
  for (let round = 0; round < 12; round++) {
    const from = pick(agents);
    const saying = id();
    const position = events.length;
    events.push(says(saying, `a${from}`, `saying ${saying}`));
    const to = new Map<string, How>();
    for (let at = 0; at < agents; at++) {
      if (at === from || random() < 0.4) continue;
      const how = (['same', 'same', 'altered', 'withheld'] as const)[pick(4)] ?? 'same';
      to.set(`N${at}`, how);
      const decision = id();
      const decide = (kind: 'alter' | 'deny') =>
        events.push(
          decides(decision, `a${at}`, {
            hook: 'h',
            on: 'delivery',
            decision: kind,
            reason: 'r',
            subject: saying,
          }),
        );
      if (how === 'withheld') decide('deny');
      if (how === 'altered') {
        decide('alter');
        events.push(
          heard(id(), `a${at}`, 'other words', { from: `a${from}`, substance: saying, via: decision }),
        );
      }
      if (how === 'same')
        events.push(heard(id(), `a${at}`, `saying ${saying}`, { from: `a${from}`, substance: saying }));
    }
    played.push({ position, from: `N${from}`, to });
  }
  return { events, played };
}

const heardBy: Readonly<Record<string, How>> = { '▶': 'same', '◀': 'same', '≠': 'altered', '✗': 'withheld' };

/** Reads a drawing back: what stands where the middle of a name is. */
function readDrawing(text: string): Played[] {
  const [head = '', ...lines] = text.split('\n');
  const lanes = [...head.matchAll(/N\d+/g)].map(({ 0: name, index }) => ({
    name,
    column: index + Math.floor(name.length / 2),
  }));
  return lines.slice(0, -1).map((line) => {
    const marks = lanes.map(({ name, column }) => [name, line[column] ?? ''] as const);
    return {
      position: Number(/^ *(\d+)/.exec(line)?.[1]),
      from: marks.find(([, mark]) => mark === '●')?.[0] ?? '',
      to: new Map(
        marks.flatMap(([name, mark]) => {
          const how = heardBy[mark];
          return how === undefined ? [] : [[name, how] as const];
        }),
      ),
    };
  });
}

describe('the flow of messages', () => {
  const seeds = Array.from({ length: 200 }, (_, at) => at);

  it('has, read back from its drawing, an arrow for each delivery of a random talk, and no other', () => {
    for (const seed of seeds) {
      const { events, played } = playRandomTalk(seed, 2 + (seed % 6));
      const drawing = renderFlow(messageFlow(createLogIndex(events)), { width: 80 + (seed % 60) });
      expect(readDrawing(drawing), `seed ${seed}\n${drawing}`).toEqual(played);
    }
  });

  it('is never wider than asked, and gives lanes that do not fit one of their own', () => {
    for (const seed of seeds) {
      const { events, played } = playRandomTalk(seed, 40);
      const flow = messageFlow(createLogIndex(events));
      const width = 60 + seed;
      const lines = renderFlow(flow, { width }).split('\n');
      const drawn = lines.filter((line) => /^ *\d+ /.test(line));
      expect(Math.max(...drawn.map(columnsOf)), `seed ${seed}`).toBeLessThanOrEqual(width);
      expect(drawn).toHaveLength(played.length);
      const others =
        lines
          .find((line) => line.includes('Others: '))
          ?.split('Others: ')[1]
          ?.split(', ') ?? [];
      const own = flow.lanes.filter(({ label }) => !others.includes(label));
      expect(own.length + others.length).toBe(flow.lanes.length);
    }
  });

  it('says of whom it is not known', () => {
    const events = [created('e1', 'a', 'Ann'), heard('e2', 'a', 'Hello'), says('e3', 'a', 'Hi')];
    expect(renderFlow(messageFlow(createLogIndex(events)))).toContain('●');
    expect(renderFlow(messageFlow(createLogIndex([])))).toBe('(nothing was said)');
  });

  it('takes chosen agents', () => {
    const flow = messageFlow(createLogIndex(marketLog()), ['ann', 'Conscience']);
    expect(flow.lanes.map(({ label }) => label)).toEqual(['Ann', 'Conscience']);
    expect(() => messageFlow(createLogIndex(marketLog()), ['zoe'])).toThrow(TypeError);
  });

  it('is cut as Mermaid, and says how much', () => {
    const { events } = playRandomTalk(1, 6);
    const flow = messageFlow(createLogIndex(events));
    const many = { ...flow, steps: Array.from({ length: 500 }, () => flow.steps).flat() };
    const { text, left } = flowMermaid(many);
    expect([text.length <= 45_000, left > 0]).toEqual([true, true]);
    const drawn = new Set([...text.matchAll(/: (\d+) /g)].map(([, place]) => place));
    expect(drawn.size).toBe(flow.steps.length);
    expect(flowMermaid(flow).left).toBe(0);
  });
});

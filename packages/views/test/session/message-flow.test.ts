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

  it('shows all marks of a lane side by side, where it is shared by the speaker and hearers', () => {
    const random = randomFrom(20261127);
    const pick = (count: number) => Math.floor(random() * count);
    const names = Array.from({ length: 30 }, (_, at) => `N${at}`);
    const hows = ['same', 'wrapped', 'altered', 'withheld'] as const;
    const markOf = { same: '◀', wrapped: '◀', altered: '≠', withheld: '✗' };
    const steps = Array.from({ length: 300 }, (_, position) => ({
      id: `e${position}`,
      position,
      text: '',
      isPublic: null,
      from: pick(30),
      // Also to itself.
      to: Array.from({ length: pick(8) }, () => ({ lane: pick(30), how: hows[pick(4)] ?? 'same' })),
      notKnown: random() < 0.3 ? [pick(30)] : [],
    }));
    const silent = { id: 'e', position: 0, text: '', isPublic: null, from: 0, to: [], notKnown: [] };
    const flow = { lanes: names.map((label) => ({ label, agentId: label })), steps: [silent, ...steps] };
    const drawing = renderFlow(flow, { width: 60 });
    const lines = drawing.split('\n');
    const others = (lines.find((line) => line.includes('Others: ')) ?? '').split('Others: ')[1]?.split(', ');
    const [first = '', ...rest] = lines.filter((line) => /^ *\d+ {2}/.test(line));
    const middle = Math.max(first.lastIndexOf('│'), first.lastIndexOf('●'));
    expect(others?.length).toBeGreaterThan(10);
    let most = 0;
    for (const [at, { from, to, notKnown }] of steps.entries()) {
      const isOther = (lane: number) => others?.includes(`N${lane}`) === true;
      const strongest = new Map<number, (typeof hows)[number]>();
      for (const how of [...hows].reverse())
        for (const heard of to) if (heard.how === how) strongest.set(heard.lane, how);
      const expected = new Set([
        ...(isOther(from) ? ['●'] : []),
        ...[...strongest].filter(([lane]) => isOther(lane)).map(([, how]) => markOf[how]),
        ...(notKnown.some(isOther) ? ['?'] : []),
      ]);
      const drawn = [...(rest[at] ?? '').slice(middle - 2, middle + 3)].map((mark) => mark.replace('▶', '◀'));
      expect(new Set(drawn.filter((mark) => '●◀≠✗?'.includes(mark))), `${at}\n${rest[at]}`).toEqual(expected);
      most = Math.max(most, expected.size);
    }
    expect(most).toBe(5);
    const own = { ...silent, to: [{ lane: 0, how: 'same' as const }] };
    const self = renderFlow({ lanes: [{ label: 'Ann', agentId: 'a' }], steps: [own] }, { width: 60 });
    expect(self).toContain('●◀');
    expect(Math.max(...lines.filter((line) => /^ *\d+ {2}/.test(line)).map(columnsOf))).toBeLessThanOrEqual(
      60,
    );
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

  it('has as Mermaid one line for what everybody heard, and the text once for what some heard', () => {
    const lanes = Array.from({ length: 41 }, (_, at) => ({ label: `N${at}`, agentId: `a${at}` }));
    const hearers = Array.from({ length: 40 }, (_, at) => ({ lane: at + 1, how: 'same' as const }));
    const step = { id: 'e1', text: 'Good morning', from: 0, notKnown: [] };
    const words = (isPublic: boolean | null, to: (typeof hearers)[number][], position = 7) =>
      flowMermaid({ lanes, steps: [{ ...step, position, isPublic, to }] })
        .text.split('\n')
        .slice(42);
    expect(words(true, hearers)).toEqual(['  note over p0,p40: 7 N0 to all#58; Good morning']);
    for (const isPublic of [false, null]) {
      const arrows = words(isPublic, hearers.slice(1));
      expect(arrows).toHaveLength(39);
      expect(arrows.slice(0, 2)).toEqual(['  p0->>p2: 7 Good morning', '  p0->>p3: 7']);
    }
    const [first, ...rest] = hearers;
    const altered = { ...first, how: 'altered' } as unknown as typeof first & object;
    expect(words(true, [altered, ...rest])).toEqual([
      '  note over p0,p40: 7 N0 to all#58; Good morning',
      '  p0-->>p1: 7 (altered)',
    ]);
    expect(words(true, hearers.slice(0, 2))).toEqual(['  p0->>p1: 7 Good morning', '  p0->>p2: 7']);
    const many = Array.from({ length: 400 }, (_, position) => ({
      ...step,
      position,
      isPublic: true,
      to: hearers,
    }));
    expect(flowMermaid({ lanes, steps: many }).left).toBe(0);
  });

  it('is cut as Mermaid, and says how much', () => {
    const { events } = playRandomTalk(1, 6);
    const flow = messageFlow(createLogIndex(events));
    const many = { ...flow, steps: Array.from({ length: 500 }, () => flow.steps).flat() };
    const { text, left } = flowMermaid(many);
    expect([text.length <= 45_000, left > 0]).toEqual([true, true]);
    const drawn = new Set([...text.matchAll(/: (\d+)/g)].map(([, place]) => place));
    expect(drawn.size).toBe(flow.steps.length);
    expect(flowMermaid(flow).left).toBe(0);
  });
});

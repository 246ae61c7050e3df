import type { CapturedEvent, Delta } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import type { RunChange } from '@hansard/viewer';
import { expect, it } from 'vitest';
import { mostKept, mostTexts, RunTexts } from '../src/create-run-page.ts';

function setUp() {
  const changes: RunChange[] = [];
  let key = 0;
  const texts = new RunTexts(
    () => {
      key += 1;
      return key;
    },
    (change) => changes.push(change),
  );
  const shown = () => texts.open().map(({ agentId, kind, text }) => [agentId, kind, text]);
  const ended = () =>
    changes.flatMap((change) => (change.kind === 'ended' ? [[change.key, change.eventId]] : []));
  return { texts, shown, ended };
}

const delta = (text: string, more: Partial<Delta> = {}): Delta => ({ type: 'delta:text', text, ...more });
let eventNumber = 0;
function event(type: CapturedEvent['type'], agentId?: string): CapturedEvent {
  eventNumber += 1;
  const data = { text: '' };
  const own = agentId === undefined ? {} : { agentId };
  return { id: `e${eventNumber}`, type, timestamp: '2026-03-01T09:30:00.000Z', data, ...own };
}

it('has the text of each agent until it is recorded, and its thoughts until they are', () => {
  const { texts, shown, ended } = setUp();
  texts.add(delta('Let me ', { type: 'delta:thinking', agentId: 'a' }));
  texts.add(delta('see.', { type: 'delta:thinking', agentId: 'a' }));
  texts.add(delta('Two ', { agentId: 'a' }));
  texts.add(delta('Lead.'));
  texts.add(delta('{"path"', { type: 'delta:tool_input', agentId: 'a', toolCallId: 'c' }));
  texts.add(delta('files.', { agentId: 'a' }));
  const all = [
    ['a', 'thinking', 'Let me see.'],
    ['a', 'text', 'Two files.'],
    ['', 'text', 'Lead.'],
  ];
  expect(shown()).toEqual(all);
  texts.recorded(event('agent:text', 'b'));
  texts.recorded(event('agent:inference', 'a'));
  texts.recorded(event('user:message'));
  expect(shown()).toEqual(all);
  const thought = event('agent:thinking', 'a');
  texts.recorded(thought);
  expect(shown()).toEqual(all.slice(1));
  const said = event('agent:text', 'a');
  texts.recorded(said);
  expect(shown()).toEqual(all.slice(2));
  texts.endAll();
  expect(ended()).toEqual([
    [1, thought.id],
    [2, said.id],
    [3, null],
  ]);
});

it('forgets a message that was not recorded when another one begins', () => {
  const { texts, shown, ended } = setUp();
  texts.add(delta('One', { messageId: 'm1' }));
  texts.add(delta('Two', { messageId: 'm2' }));
  expect([shown(), ended()]).toEqual([[['', 'text', 'Two']], [[1, null]]]);
});

it('keeps the end of a long text and says how much is before it, and the latest of many texts', () => {
  const { texts, ended } = setUp();
  const piece = 'x'.repeat(999);
  for (let at = 0; at < 100; at += 1) texts.add(delta(`${piece}${at % 10}`));
  const [long] = texts.open();
  expect((long?.start ?? 0) + (long?.text.length ?? 0)).toBe(100_000);
  expect(long?.text.endsWith(`${piece}8${piece}9`)).toBe(true);
  expect(long?.text.length).toBeGreaterThanOrEqual(mostKept);
  expect(long?.text.length).toBeLessThanOrEqual(2 * mostKept);
  for (let at = 0; at < mostTexts; at += 1) texts.add(delta('short', { agentId: `a${at}` }));
  expect(texts.open()).toHaveLength(mostTexts);
  expect(ended()).toEqual([[1, null]]);
});

const seed = Number(process.env.HANSARD_SEED ?? 2_517);

it(`has what an oracle says after any deltas and events (HANSARD_SEED=${seed})`, () => {
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const { texts, shown } = setUp();
  // The oracle: all pieces that no end follows.
  let lines: { readonly agent: string; readonly kind: string; readonly piece: string }[] = [];
  for (let step = 0; step < 4_000; step += 1) {
    const agent = pick(['', 'a', 'b']);
    const kind = pick(['text', 'thinking'] as const);
    const own = agent === '' ? {} : { agentId: agent };
    if (random() < 0.7) {
      const piece = `${step} `;
      texts.add({ type: `delta:${kind}`, text: piece, ...own });
      lines.push({ agent, kind, piece });
    } else {
      const type = pick<CapturedEvent['type']>([
        'agent:text',
        'agent:thinking',
        'agent:tool_call',
        'agent:tool_result',
        'harness:error',
      ]);
      texts.recorded(event(type, agent === '' ? undefined : agent));
      lines = lines.filter((line) => {
        if (line.agent !== agent || type === 'agent:tool_result') return true;
        return type === 'agent:thinking' && line.kind === 'text';
      });
    }
    const joined = new Map<string, string>();
    for (const line of lines) {
      const name = JSON.stringify([line.agent, line.kind]);
      joined.set(name, (joined.get(name) ?? '') + line.piece);
    }
    const wanted = [...joined].map(([name, text]) => [...(JSON.parse(name) as string[]), text]);
    expect(shown().sort()).toEqual(wanted.sort());
  }
});

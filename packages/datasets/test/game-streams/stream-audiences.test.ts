import { type CapturedEvent, type NewEvent, newEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { audienceOf, createLogIndex } from '@hansard/views';
import { expect, it } from 'vitest';
import { play } from './played-game.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** A line of a stream, by what decides its audience. */
type Said = readonly [stream: 'chat' | 'whispers', message: string, to: readonly string[]];

/** A log of agents that come, go, and speak to some or to all. The generator decides who receives. */
function randomTalk(random: () => number): { events: NewEvent[]; truth: Said[] } {
  const below = (count: number) => Math.floor(random() * count);
  const events: NewEvent[] = [];
  const truth: Said[] = [];
  let present: string[] = [];
  const join = () => {
    const agentId = `agent_${events.length}`;
    events.push(newEvent('agent:created', { name: `N${events.length}` }, { agentId }));
    present.push(agentId);
  };
  const nameOf = (agentId: string) => agentId.replace('agent_', 'N');
  join();
  join();
  for (let step = 0; step < 40; step += 1) {
    const choice = random();
    if (choice < 0.1) join();
    else if (choice < 0.18 && present.length > 2) {
      const agentId = present[below(present.length)] ?? '';
      present = present.filter((one) => one !== agentId);
      events.push(newEvent('agent:terminated', {}, { agentId }));
    } else {
      const agentId = present[below(present.length)] ?? '';
      const messageId = `m${step}`;
      const said = `Text ${step}.`;
      const substance = `e${events.length}`;
      events.push(newEvent('agent:text', { text: said }, { agentId, messageId }));
      events.push(
        newEvent(
          'agent:inference',
          { model: 'm', usage: { inputTokens: 1, outputTokens: 1 } },
          { agentId, messageId },
        ),
      );
      const others = present.filter((one) => one !== agentId);
      const isToAll = random() < 0.5;
      const receivers = others.filter(() => isToAll || random() < 0.5);
      // One hears it from another, and at times the speaker its own words.
      let carried = substance;
      for (const receiver of random() < 0.2 ? [...receivers, agentId] : receivers) {
        const source = { kind: 'agent', agentId } as const;
        const from = random() < 0.3 ? carried : substance;
        carried = `e${events.length}`;
        events.push(newEvent('user:message', { text: said, source }, { agentId: receiver, substance: from }));
      }
      truth.push(
        receivers.length === others.length ? ['chat', said, []] : ['whispers', said, receivers.map(nameOf)],
      );
    }
  }
  return { events, truth };
}

it(`the streams of random talks agree with who received each text, and with audienceOf (HANSARD_SEED=${seed})`, () => {
  let whispers = 0;
  for (let from = seed; from < seed + 60; from += 1) {
    const { events, truth } = randomTalk(randomFrom(from));
    const { of } = play(events);
    const lines = (['chat', 'whispers'] as const).flatMap((stream) =>
      of(stream).map((line): Said => {
        const { message, to = [] } = line as { message: string; to?: string[] };
        return [stream, message, to];
      }),
    );
    const byText = (one: Said, other: Said) => (one[1] < other[1] ? -1 : 1);
    expect([from, lines.toSorted(byText)]).toEqual([from, truth.toSorted(byText)]);
    whispers += of('whispers').length;

    const index = createLogIndex(
      events.map(
        (event, at): CapturedEvent => ({ timestamp: '2026-03-01T09:30:00.000Z', ...event, id: `e${at}` }),
      ),
    );
    const public_ = new Map(truth.map(([stream, message]) => [message, stream === 'chat']));
    for (const saying of index.sayings.values())
      expect([from, saying.text, audienceOf(index, saying).isPublic]).toEqual([
        from,
        saying.text,
        public_.get(saying.text),
      ]);
  }
  // Otherwise nothing was tested.
  expect(whispers).toBeGreaterThan(100);
});

import { type NewEvent, newEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import {
  ann,
  bo,
  call,
  created,
  heard,
  inference,
  mapping,
  names,
  play,
  result,
  text,
} from './played-game.ts';

describe('text that reached only some agents', () => {
  const cy = { agentId: 'agent_004', messageId: 'm3' };
  const three = [...names, created(cy, 'Cy')];
  const piece = (at: number, cause: number) => ({
    ...newEvent('agent:piece_of_text', { text: 'Psst' }, { agentId: ann.agentId, cause: `e${cause}` }),
    id: `e${at}`,
  });

  it('is a whisper to its receivers, including when agents speak to all by their answers', () => {
    const events = [
      ...three,
      text(ann, 'Bo, it is me.'),
      inference(ann),
      heard(bo, ann, 'Bo, it is me.', 3),
      text(cy, 'Good day.'),
      inference(cy),
      heard(ann, cy, 'Good day.', 6),
      heard(bo, cy, 'Good day.', 6),
    ];
    const { of } = play(events);
    expect(of('whispers')).toMatchObject([{ speaker: 'Ann', to: ['Bo'], message: 'Bo, it is me.' }]);
    expect(of('chat')).toMatchObject([{ speaker: 'Cy', message: 'Good day.' }]);
  });

  it('is a whisper if the tool that speaks to all did not reach all', () => {
    const speak = [...three, call(ann, 'c1', 'speak', { text: 'Hi' }), piece(4, 3), heard(bo, ann, 'Hi', 4)];
    const { of } = play([...speak, result(ann, 'c1', 'speak')]);
    expect([of('chat'), of('whispers')]).toMatchObject([[], [{ to: ['Bo'], message: 'Hi' }]]);
    const all = play([...speak, heard(cy, ann, 'Hi', 4), result(ann, 'c1', 'speak')]);
    expect([all.of('chat'), all.of('whispers')]).toMatchObject([[{ message: 'Hi' }], []]);
  });

  it('is public if the others have left, have died, or do not play according to the game', () => {
    const gone = newEvent('agent:terminated', {}, { agentId: cy.agentId });
    const died: NewEvent = { type: 'game:death', data: { player: 'Cy' } };
    const living: NewEvent = { type: 'game:day', data: { turn: 'Day 1', living_players: ['Ann', 'Bo'] } };
    for (const event of [gone, died, living]) {
      const { of } = play([
        ...three,
        event,
        text(ann, 'We two.'),
        inference(ann),
        heard(bo, ann, 'We two.', 4),
      ]);
      expect([of('chat'), of('whispers')]).toMatchObject([[{ message: 'We two.' }], []]);
    }
  });

  it('is a whisper without receivers if it reached nobody, and is not in the chat', () => {
    const { of } = play([...three, text(ann, 'To myself.'), inference(ann)]);
    expect([of('chat'), of('whispers')]).toMatchObject([[], [{ to: [], message: 'To myself.' }]]);
  });

  it('has its receivers if pieces of text are whispers', () => {
    const pieces = { ...mapping, whispers: { piecesOfText: true } };
    const { of } = play([...three, piece(3, 2), heard(cy, ann, 'Psst', 3)], pieces);
    expect(of('whispers')).toMatchObject([{ speaker: 'Ann', to: ['Cy'], message: 'Psst' }]);
  });
});

describe('the audience of an utterance', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'is public if and only if all others have received it (seed %i)',
    (seed) => {
      let state = seed;
      const random = (below: number) => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
      };
      const agents = Array.from({ length: 2 + random(4) }, (_, at) => `a${at}`);
      const events: NewEvent[] = agents.map((agentId) =>
        newEvent('agent:created', { name: agentId }, { agentId }),
      );
      const expected: Record<'chat' | 'whispers', string[]> = { chat: [], whispers: [] };
      for (let number = 0; number < 60; number += 1) {
        const speaker = agents[random(agents.length)] ?? '';
        const others = agents.filter((agentId) => agentId !== speaker);
        const to = random(2) === 0 ? others : others.filter(() => random(2) === 0);
        const said = `e${events.length}`;
        events.push(text({ agentId: speaker, messageId: `m${number}` }, `said ${number}`));
        events.push(inference({ agentId: speaker, messageId: `m${number}` }));
        for (const agentId of to) {
          const source = { kind: 'agent', agentId: speaker } as const;
          // The delivered text differs, which does not show who received the rest.
          events.push(newEvent('user:message', { text: 'said 1', source }, { agentId, substance: said }));
        }
        if (to.length === others.length) expected.chat.push(`${speaker}: said ${number}`);
        else expected.whispers.push(`${speaker} to ${to.join(' ')}: said ${number}`);
      }
      const { of } = play(events);
      const whispers = (of('whispers') as { speaker: string; to: string[]; message: string }[]).map(
        ({ speaker, to, message }) => `${speaker} to ${to.join(' ')}: ${message}`,
      );
      const chat = (of('chat') as { speaker: string; message: string }[]).map(
        ({ speaker, message }) => `${speaker}: ${message}`,
      );
      expect([chat, whispers.sort()]).toEqual([expected.chat, expected.whispers.sort()]);
    },
  );
});

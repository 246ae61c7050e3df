import { audienceOf, createLogIndex, type Row, rowsOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { playRandomSession } from './random-session.ts';

const seeds = Array.from({ length: 40 }, (_, at) => at + 1);

describe('the rows of 40 random sessions', () => {
  it('say who received what, as it was played, and have every event once', async () => {
    let compared = 0;
    for (const seed of seeds) {
      const { events, truth } = await playRandomSession(seed, 60);
      const rows = rowsOf(events);
      const positions = rows.flatMap((row) => row.events);
      expect(positions.toSorted((one, other) => one - other)).toEqual([...events.keys()]);

      const received = truth.sayings.flatMap(({ text, hearings }) =>
        hearings.length === 0
          ? []
          : JSON.stringify([text, hearings.map(({ agentId, way }) => [agentId, way])]),
      );
      const shown = rows.flatMap((row) => {
        const { heard = [] } = row;
        const ways = heard.map(({ agent, how }) => [agent.agentId, how]);
        return heard.length === 0 ? [] : JSON.stringify([textOf(row), ways]);
      });
      expect(shown.toSorted(), `seed ${seed}`).toEqual(received.toSorted());
      compared += shown.length;

      const index = createLogIndex(events);
      for (const saying of index.sayings) {
        const row = rows.find(({ events: own }) => own.includes(saying.position));
        if (row?.heard === undefined || row.kind === 'call') continue;
        expect(row.missing?.map(({ agentId }) => agentId)).toEqual(audienceOf(index, saying).missing);
      }
    }
    expect(compared).toBeGreaterThan(500);
  });
});

function textOf({ content: [part] }: Row): string {
  return part?.kind === 'text' ? part.text : '';
}

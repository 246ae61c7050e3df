import type { CapturedEvent } from '@hansard/events';
import { type RosterGame, randomRosterGame, rosterGames, rosterMapping } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createJudgePacket, readCast, readPseudonyms } from '../../src/index.ts';

const dispatchId = 'D1';

async function packetOf(events: readonly CapturedEvent[]) {
  async function* log() {
    yield* events;
  }
  const pseudonyms = await readPseudonyms(log(), rosterMapping, dispatchId);
  const cast = await readCast(events, rosterMapping);
  const packet = createJudgePacket({
    pass: 'external',
    mapping: rosterMapping,
    dispatchId,
    pseudonyms,
    cast,
  });
  const lines = [...events.flatMap((event) => packet.add(event)), ...packet.finish()];
  return {
    ids: lines.map(({ eventId }) => eventId).sort(),
    texts: lines.map(({ line }) => line.text),
    bytes: JSON.stringify([lines.map(({ line }) => line), packet.manifest()]),
    unmatched: packet.unmatchedPlayers,
    pseudonyms,
  };
}

const publicIds = ({ sayings }: RosterGame) =>
  sayings.flatMap(({ id, isPublic }) => (isPublic ? id : [])).sort();

describe('an external packet has what was said to all, and nothing that was said to one player', () => {
  it.each(rosterGames.map((game) => [game.title, game] as const))('if the game lists %s', async (_, game) => {
    const { ids, texts, bytes, unmatched } = await packetOf(game.events);
    expect(ids).toEqual(publicIds(game));
    expect(texts).toHaveLength(ids.length);
    expect(bytes).not.toContain('wolf');
    // The names are for the person who packs, not for the judge.
    expect(unmatched).toEqual(game.unmatched);
    for (const name of unmatched) expect(bytes).not.toContain(JSON.stringify(name));
  });

  it('in random games (seeds 1 to 60)', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const game = randomRosterGame(seed);
      const { ids } = await packetOf(game.events);
      expect([seed, ids]).toEqual([seed, publicIds(game)]);
    }
  });
});

describe('the players of a packet', () => {
  const titled = (title: string) => rosterGames.find((game) => game.title === title)?.events ?? [];

  it.each(['names in another case', 'objects with names', 'the first name of an agent that was renamed'])(
    'are the agents if the game lists %s',
    async (title) => {
      const { pseudonyms } = await packetOf(titled(title));
      expect(pseudonyms.players).toEqual(['P1', 'P2', 'P3']);
      expect(pseudonyms.hide('Ann').text).toBe(pseudonyms.of('a1'));
    },
  );

  it('include every agent if the lists do not match them, and no host if they do', async () => {
    const { pseudonyms } = await packetOf(titled('names to which the agents add a model'));
    for (const agentId of ['a1', 'a2', 'a3']) expect(pseudonyms.isNoPlayer(agentId)).toBe(false);
    const matched = await packetOf(titled('the names of the agents, beside an agent that does not play'));
    expect(matched.pseudonyms.isNoPlayer('gm')).toBe(true);
  });
});

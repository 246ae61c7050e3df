import type { CapturedEvent } from '@hansard/events';
import { type RosterGame, randomRosterGame, rosterGames, rosterMapping } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { Cast, createGameStreams } from '../../src/index.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

function streamsOf(events: readonly CapturedEvent[]) {
  const cast = new Cast(rosterMapping);
  for (const event of events) cast.observe(event);
  const streams = createGameStreams(rosterMapping, { runId: 'D1', cast });
  const lines = [...events.flatMap((event) => streams.add(event)), ...streams.finish()];
  const textsIn = (name: string) =>
    lines.flatMap(({ stream, line }) => (stream === name && 'message' in line ? line.message : [])).sort();
  return { chat: textsIn('chat'), whispers: textsIn('whispers'), unmatched: streams.unmatchedPlayers };
}

const textsOf = ({ sayings }: RosterGame, isPublic: boolean) =>
  sayings.flatMap((saying) => (saying.isPublic === isPublic ? saying.text : [])).sort();

const titled = rosterGames.map((game) => [game.title, game] as const);

describe('speech to one player is a whisper, and speech to all is chat', () => {
  it.each(titled)('if the game lists %s', (_, game) => {
    const { chat, whispers } = streamsOf(game.events);
    expect({ chat, whispers }).toEqual({ chat: textsOf(game, true), whispers: textsOf(game, false) });
  });

  it(`if lists match the agents in part, or not at all (HANSARD_SEED=${seed})`, () => {
    const count = { chat: 0, whispers: 0, unmatched: 0 };
    for (let from = seed; from < seed + 300; from += 1) {
      const game = randomRosterGame(from);
      const { chat, whispers, unmatched } = streamsOf(game.events);
      expect([from, chat, whispers]).toEqual([from, textsOf(game, true), textsOf(game, false)]);
      expect([from, [...unmatched].sort()]).toEqual([from, [...game.unmatched].sort()]);
      count.chat += chat.length;
      count.whispers += whispers.length;
      count.unmatched += unmatched.length;
    }
    // Otherwise nothing was tested.
    expect(Math.min(count.chat, count.whispers)).toBeGreaterThan(1000);
    expect(count.unmatched).toBeGreaterThan(100);
  });
});

it('an agent that appears after the cast was read must receive what is said then', () => {
  const game = rosterGames.find(({ title }) => title === 'nothing, in a log that creates the agents');
  const events = game?.events ?? [];
  const cast = new Cast(rosterMapping);
  for (const event of events.filter(({ agentId }) => agentId !== 'a3')) cast.observe(event);
  const streams = createGameStreams(rosterMapping, { runId: 'D1', cast });
  const lines = [...events.flatMap((event) => streams.add(event)), ...streams.finish()];
  expect(lines.flatMap(({ stream }) => (stream === 'whispers' ? stream : []))).toHaveLength(1);
});

describe('the players that match no agent', () => {
  it.each(titled)('are known if the game lists %s', (_, game) => {
    expect(streamsOf(game.events).unmatched).toEqual(game.unmatched);
  });
});

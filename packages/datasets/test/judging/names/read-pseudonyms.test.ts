import { type CapturedEvent, type NewEvent, newEvent, parseEvent } from '@hansard/events';
import { readWerewolfMatch } from '@hansard/formats';
import { gameText, isCorpusThere, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  createJudgePacket,
  type GameMappingInput,
  judgePasses,
  matchMapping,
  playersOf,
  readCast,
  readPseudonyms,
} from '../../../src/index.ts';

const base: GameMappingInput = {
  turn: { events: ['game:day'] },
  gameEvents: { events: ['game:*'] },
  chat: { utterances: true },
};

const agents = (...names: string[]): NewEvent[] =>
  names.map((name, at) => newEvent('agent:created', { name }, { agentId: `agent_00${at}` }));
const said = (text: string): NewEvent =>
  newEvent('agent:text', { text }, { agentId: 'agent_000', messageId: 'm' });

function logOf(...events: NewEvent[]): () => AsyncGenerator<CapturedEvent> {
  const parsed = events.map((event, at) =>
    parseEvent({ ...event, id: `event-${at}`, timestamp: '2026-03-01T09:30:01.000Z' }),
  );
  return async function* log() {
    yield* parsed;
  };
}

describe('the pseudonyms of a log', () => {
  it.each([
    ['nobody typed one', [], 'P'],
    ['a player typed one', [said('I am P1, p7')], 'Q'],
    ['several letters are typed', [said('P1 Q2'), said('(r3)')], 'S'],
    ['one is in an input or a key', [{ type: 'custom:thing', data: { a: [{ P4: 'x' }] } } as NewEvent], 'Q'],
    ['one is the name of a player', agents('p9'), 'Q'],
    ['all letters are typed', [said([...'PQRSTUVWXYZ'].map((letter) => `${letter}1`).join(' '))], 'PP'],
    [
      'it is within a longer word, or a signature',
      [
        said('XP1 P1a aP12'),
        newEvent('agent:thinking', { text: '', signature: 'P1' }, { agentId: 'agent_000' }),
      ],
      'P',
    ],
    ['a judge wrote one', [{ type: 'judge:verdict', data: { explanation: 'P1 lies' } } as NewEvent], 'P'],
  ])('have a prefix that no text has: %s', async (_, more, prefix) => {
    const { players } = await readPseudonyms(logOf(...agents('Zed', 'Xu'), ...more)(), base, 'D1');
    expect(players[0]).toBe(`${prefix}1`);
  });

  it('have the aliases, parts, initials, titles, inflections and words of the mapping', async () => {
    const names = {
      players: {
        'Zora Quist': { aliases: ['Zazie'], parts: ['Zora'], initials: ['ZQ'] },
        agent_001: { aliases: ['Xuxa'] },
      },
      titles: ['Maître'],
      inflections: { a: ['ę'] },
      words: ['plume'],
    };
    const log = logOf(...agents('Zora Quist', 'Xu', 'Plume'));
    const { hide, of } = await readPseudonyms(log(), { ...base, names }, 'D1');
    const [zora, xu, plume] = [of('Zora Quist'), of('Xu'), of('Plume')];
    expect(hide('zazie, ZQ, zq, Maître Zora, Zorę and a quist; xuxa; ma plume, Plume').text).toBe(
      `${zora}, ${zora}, zq, ${zora}, ${zora} and a quist; ${xu}; ma plume, ${plume}`,
    );
  });

  it('show agents that do not play as their roles, and leave them out of the players', async () => {
    const log = logOf(...agents('Zed', 'Xu', 'Ms Host-Lee', 'Narrator'));
    const names = { others: { 'Ms Host-Lee': 'game master' } };
    const { players, of, isNoPlayer, hide } = await readPseudonyms(log(), { ...base, names }, 'D1');
    expect(players).toEqual(['P1', 'P2']);
    expect([of('agent_002'), of('Narrator'), isNoPlayer('agent_003')]).toEqual([
      'game master',
      'somebody',
      true,
    ]);
    expect(hide('Ms Host-Lee asks agent_002; the narrator sleeps').text).toBe(
      'game master asks game master; the somebody sleeps',
    );
    const playing = { ...base, names: { players: { Narrator: {} } } };
    expect((await playersOf(log(), playing, 'D1')).filter(({ isHost }) => isHost === true)).toEqual([]);
  });

  it.skipIf(!isCorpusThere)(`leave no name in the packets of the recorded match${skipped}`, async () => {
    const match = gameText('werewolf-match.json');
    const names = Object.keys((JSON.parse(match) as { players: object }).players);
    async function* log() {
      yield* readWerewolfMatch(match).events;
    }
    /** The number of words that are a name, ignoring case and with any ending of up to two letters. */
    const left = (text: string) =>
      text
        .split(/[^A-Za-z]+/)
        .filter((word) =>
          names.some(
            (name) => word.toLowerCase().startsWith(name.toLowerCase()) && word.length < name.length + 3,
          ),
        ).length;
    expect(left(match)).toBeGreaterThan(500);
    const pseudonyms = await readPseudonyms(log(), matchMapping, 'D1');
    const cast = await readCast(log(), matchMapping);
    for (const pass of judgePasses) {
      const packet = createJudgePacket({ pass, mapping: matchMapping, dispatchId: 'D1', pseudonyms, cast });
      const written = [];
      for await (const event of log()) written.push(...packet.add(event));
      written.push(...packet.finish());
      const bytes = written.map(({ line }) => JSON.stringify(line)).join('\n');
      expect([written.length > 50, left(bytes)]).toEqual([true, 0]);
    }
  });
});

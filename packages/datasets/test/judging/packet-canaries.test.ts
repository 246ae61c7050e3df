import type { CapturedEvent } from '@hansard/events';
import { type CanaryGame, canariesIn, canaryGame, canaryMapping } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  createJudgePacket,
  type GameMappingInput,
  type JudgePass,
  readCast,
  readPseudonyms,
} from '../../src/index.ts';

const games = Array.from({ length: 20 }, (_, at) => canaryGame(at + 1));
const speech = ['speak message', 'public utterance'];
/** The fields that a packet shows. Any other field of the log is private. */
const open: Readonly<Record<JudgePass, readonly string[]>> = {
  external: speech,
  internal: [...speech, 'agent:thinking.text', 'text beside a call'],
};

async function packetOf(
  pass: JudgePass,
  events: readonly CapturedEvent[],
  mapping: GameMappingInput = canaryMapping,
): Promise<string> {
  async function* log() {
    yield* events;
  }
  const dispatchId = '01JM0000000000000000000000';
  const pseudonyms = await readPseudonyms(log(), mapping, dispatchId);
  const cast = await readCast(events, mapping);
  const packet = createJudgePacket({ pass, mapping, dispatchId, pseudonyms, cast });
  const lines = events.flatMap((event) => packet.add(event)).concat(packet.finish());
  return JSON.stringify([lines.map(({ line }) => line), packet.manifest()]);
}

/** The fields whose words are in a packet although they are private. */
function leaksOf({ planted }: CanaryGame, pass: JudgePass, packet: string): string[] {
  const found = canariesIn(packet);
  return planted.flatMap(({ word, field }) => (found.has(word) && !open[pass].includes(field) ? field : []));
}

describe.each(['external', 'internal'] as const)('the %s packet of random games', (pass) => {
  it('holds what it promises, and none of the words in private fields', async () => {
    const count = new Map<string, number>();
    const shown = new Set<string>();
    for (const [at, game] of games.entries()) {
      const packet = await packetOf(pass, game.events);
      expect(leaksOf(game, pass, packet), `seed ${at + 1}`).toEqual([]);
      const found = canariesIn(packet);
      for (const { word, field } of game.planted) {
        count.set(field, (count.get(field) ?? 0) + 1);
        if (found.has(word)) shown.add(field);
      }
      const said = game.planted.filter(({ field }) => speech.includes(field));
      expect(said.filter(({ word }) => !found.has(word))).toEqual([]);
    }
    expect([...shown].sort()).toEqual([...open[pass]].sort());
    expect(count.size).toBeGreaterThan(45);
    expect([...count].filter(([, times]) => times < 20)).toEqual([]);
  });

  it.each([
    ['a whisper', 'whisper', { chat: { tools: { whisper: 'message' } }, whispers: {} }],
    ['a field beside a message', 'speak field', { chat: { tools: { speak: 'why' } } }],
    [
      'an unmapped field of an action',
      'vote field',
      { actions: { vote: { type: 'VOTE', payload: { why: 'reason' } } } },
    ],
    [
      'the input of a tool',
      'tool input',
      { actions: { read_notes: { type: 'READ', payload: { what: 'path' } } } },
    ],
  ] as const)(
    'would show %s if the mapping made it public, which these words catch',
    async (_, field, more) => {
      for (const game of games.slice(0, 2)) {
        const packet = await packetOf(pass, game.events, { ...canaryMapping, ...more } as GameMappingInput);
        expect(leaksOf(game, pass, packet)).toContain(field);
      }
    },
  );
});

describe('the reasoning of the internal packet', () => {
  it('would be a leak in the external packet, which these words catch', async () => {
    for (const game of games.slice(0, 2)) {
      const internal = await packetOf('internal', game.events);
      expect(leaksOf(game, 'external', internal)).toContain('agent:thinking.text');
    }
  });
});

import type { CapturedEvent } from '@hansard/events';
import { type CanaryGame, canariesIn, canaryGame, canaryMapping } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { Cast, createGameStreams, type GameMappingInput } from '../../src/index.ts';

const games = Array.from({ length: 20 }, (_, at) => canaryGame(at + 1));
/** Speech for everybody. Any other field of the log is private. */
const open: ReadonlySet<string> = new Set(['speak message', 'public utterance']);

function chatOf(events: Iterable<CapturedEvent>, mapping: GameMappingInput): string {
  const log = [...events];
  const cast = new Cast(mapping);
  for (const event of log) cast.observe(event);
  const streams = createGameStreams(mapping, { runId: 'D1', cast });
  const lines = log.flatMap((event) => streams.add(event)).concat(streams.finish());
  return lines.flatMap(({ stream, line }) => (stream === 'chat' ? JSON.stringify(line) : [])).join('\n');
}

/** The fields whose words are in the chat although they are private. */
function leaksOf({ planted }: CanaryGame, chat: string): string[] {
  const found = canariesIn(chat);
  return planted.flatMap(({ word, field }) => (found.has(word) && !open.has(field) ? field : []));
}

describe('the chat stream of random games', () => {
  it('holds everything said to all, and none of the words in private fields', () => {
    const count = new Map<string, number>();
    for (const [at, game] of games.entries()) {
      const chat = chatOf(game.events, canaryMapping);
      expect(leaksOf(game, chat), `seed ${at + 1}`).toEqual([]);
      const said = game.planted.filter(({ field }) => open.has(field)).map(({ word }) => word);
      expect([...canariesIn(chat)].sort(), `seed ${at + 1}`).toEqual(said.sort());
      for (const { field } of game.planted) count.set(field, (count.get(field) ?? 0) + 1);
    }
    expect(count.size).toBeGreaterThan(45);
    expect([...count].filter(([, times]) => times < 20)).toEqual([]);
  });

  it.each([
    ['a whisper that the mapping calls chat', 'whisper', { tools: { whisper: 'message' }, utterances: true }],
    ['a field beside the message', 'speak field', { tools: { speak: 'why' } }],
    ['the input of any tool', 'tool input', { tools: { read_notes: 'path' } }],
  ] as const)('would leak %s, which these words catch', (_, field, chat) => {
    for (const game of games)
      expect(leaksOf(game, chatOf(game.events, { ...canaryMapping, whispers: {}, chat }))).toContain(field);
  });

  it('would leak an utterance for some if its deliveries went to all, which these words catch', () => {
    for (const game of games) {
      // Each of these utterances is delivered to the other players too.
      const company = new Set(['agent_001', 'agent_002', 'agent_003', 'agent_004']);
      const events = game.events.flatMap((event): CapturedEvent[] => {
        if (event.type !== 'agent:text') return [event];
        const heard = game.events.filter(({ substance }) => substance === event.id);
        if (heard.length === 0 || heard.length === company.size - 1) return [event];
        const missing = [...company].filter(
          (agentId) => agentId !== event.agentId && !heard.some((delivery) => delivery.agentId === agentId),
        );
        const [first] = heard;
        if (first === undefined) return [event];
        return [event, ...missing.map((agentId, at) => ({ ...first, agentId, id: `${event.id}-${at}` }))];
      });
      expect(leaksOf(game, chatOf(events, canaryMapping))).toContain('whispered utterance');
    }
  });
});

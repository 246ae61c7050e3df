import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { type CanaryGame, canariesIn, canaryGame, canaryMapping, canaryPlayers } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type TrainingFormatId, trainingFormatIds, writeTrainingData } from '../../src/index.ts';

const games = Array.from({ length: 10 }, (_, at) => canaryGame(at + 1));

/** What the model of an agent is given or answers: its rows may hold it, and no other rows. Any other field is in no row. */
const own: ReadonlySet<string> = new Set([
  'agent:system_prompt.text',
  'user:message.text',
  'text beside a call',
  'speak message',
  'speak field',
  'whisper',
  'vote field',
  'bare action',
  'tool input',
  'agent:tool_result.output',
  'agent:output.parts',
  'session:compaction.summary',
  'public utterance',
  'whispered utterance',
  'unheard utterance',
]);

/** All rows of one agent. Formats without metadata do not say whose row it is. */
async function rowsOf(
  agentId: string,
  events: readonly CapturedEvent[],
  format: TrainingFormatId,
): Promise<string> {
  const envelope = {
    dispatchId: 'D1',
    role: 'host',
    status: 'completed',
    fidelity: 'full',
  } as DispatchEnvelope;
  const lines = writeTrainingData(
    {
      taskDir: 'village/tasks/canaries',
      task: null,
      envelopes: [envelope],
      async *readEvents() {
        yield* events;
      },
    },
    { format, agents: [agentId], mapping: canaryMapping },
  );
  let text = '';
  for await (const line of lines) text += line;
  return text;
}

/** The words that are in the rows of an agent although they are private, or private to another one. */
function leaksOf(
  { planted }: CanaryGame,
  agentId: string,
  rows: string,
  shown: ReadonlySet<string>,
): string[] {
  const found = canariesIn(rows);
  return planted.flatMap((word) =>
    !found.has(word.word) ||
    (shown.has(word.field) && (word.agentId === agentId || word.heardBy.includes(agentId)))
      ? []
      : `${word.field} of ${word.agentId} for ${agentId}`,
  );
}

describe.each(trainingFormatIds)('the rows of %s, from random games', (format) => {
  /** `sft` always has the thoughts of the answer. The model of a call is in the metadata of TRL. */
  const shown = new Set([
    ...own,
    ...(format === 'sft' ? ['agent:thinking.text'] : []),
    ...(format.startsWith('trl') ? ['agent:inference.model'] : []),
  ]);

  it('of an agent hold what its model was given or answered, and nothing private of another one', async () => {
    const count = new Map<string, number>();
    const found = new Set<string>();
    for (const [at, game] of games.entries())
      for (const agentId of Object.keys(canaryPlayers)) {
        const rows = await rowsOf(agentId, game.events, format);
        expect(leaksOf(game, agentId, rows, shown), `seed ${at + 1}`).toEqual([]);
        const words = canariesIn(rows);
        for (const { word, field } of game.planted) {
          count.set(field, (count.get(field) ?? 0) + 1);
          if (words.has(word)) found.add(field);
        }
      }
    expect([...count].filter(([, times]) => times < 20)).toEqual([]);
    expect([...found].sort()).toEqual([...shown].sort());
  });

  it.each([
    [
      'an event counts as that of another agent',
      (event: CapturedEvent) => (event.agentId === 'agent_001' ? { ...event, agentId: 'agent_002' } : event),
    ],
    [
      'a private message is delivered to another agent as well',
      (event: CapturedEvent) =>
        event.type === 'user:message' && event.agentId === 'agent_001'
          ? { ...event, agentId: 'agent_002' }
          : event,
    ],
  ])('would leak if %s, which these words catch', async (_, altered) => {
    const leaks: string[] = [];
    for (const game of games) {
      const rows = await rowsOf('agent_002', game.events.map(altered), format);
      leaks.push(...leaksOf(game, 'agent_002', rows, shown));
    }
    expect(leaks.length).toBeGreaterThan(0);
  });
});

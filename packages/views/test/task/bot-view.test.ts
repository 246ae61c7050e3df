import { describe, expect, it } from 'vitest';
import { botView } from '../../src/index.ts';
import { envelope, event } from '../make.ts';

const said = (text: string, minute: number) => ({
  ...event('agent:text', { text }),
  timestamp: `2026-03-01T09:3${minute}:00.000Z`,
});

describe('botView', () => {
  it('has the events of all dispatches of a bot as one timeline, with the sums of their figures', () => {
    const logs = [
      { envelope: envelope({ dispatchId: 'D1', botId: 'bot-7' }), events: [said('one', 1), said('four', 4)] },
      { envelope: envelope({ dispatchId: 'D2', botId: 'bot-8' }), events: [said('two', 2)] },
      {
        envelope: envelope({ dispatchId: 'D3', botId: 'bot-7', role: 'critic' }),
        events: [said('three', 3)],
      },
      { envelope: envelope({ dispatchId: 'D4' }), events: [said('of no bot', 5)] },
    ];
    const { envelopes, figures, rows } = botView(logs, 'bot-7');
    expect(envelopes.map(({ dispatchId }) => dispatchId)).toEqual(['D1', 'D3']);
    expect(
      rows.map(({ dispatchId, role, position, event: { data } }) => [dispatchId, role, position, data.text]),
    ).toEqual([
      ['D1', 'product-analyst', 0, 'one'],
      ['D3', 'critic', 0, 'three'],
      ['D1', 'product-analyst', 1, 'four'],
    ]);
    expect(figures).toEqual({
      costUsd: 0.3,
      estimatedUsd: null,
      unpricedModels: [],
      inputTokens: 600,
      outputTokens: 120,
      turns: 6,
      durationMs: 140_000,
    });
    expect(botView(logs, 'bot-9')).toMatchObject({ envelopes: [], rows: [], figures: { costUsd: null } });
  });
});

import { envelope } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { botView } from '../../src/index.ts';

describe('botView', () => {
  it('has the dispatches of a bot, with the sums of their figures', () => {
    const all = [
      envelope({ dispatchId: 'D1', botId: 'bot-7' }),
      envelope({ dispatchId: 'D2', botId: 'bot-8' }),
      envelope({ dispatchId: 'D3', botId: 'bot-7', role: 'critic' }),
      envelope({ dispatchId: 'D4' }),
    ];
    const { envelopes, figures } = botView(all, 'bot-7');
    expect(envelopes.map(({ dispatchId }) => dispatchId)).toEqual(['D1', 'D3']);
    expect(figures).toEqual({
      costUsd: 0.3,
      estimatedUsd: null,
      unpriced: [],
      inputTokens: 600,
      outputTokens: 120,
      turns: 6,
      durationMs: 140_000,
    });
    expect(botView(all, 'bot-9')).toMatchObject({ envelopes: [], figures: { costUsd: null } });
  });
});

import { describe, expect, it } from 'vitest';
import { priorOutcomes } from '../../src/index.ts';
import { envelope } from '../make.ts';

const at = (day: number, changes: Parameters<typeof envelope>[0] = {}) =>
  envelope({
    dispatchId: `D${day}`,
    startedAt: `2026-03-0${day}T09:30:00.000Z`,
    completedAt: `2026-03-0${day}T09:31:10.000Z`,
    ...changes,
  });

describe('priorOutcomes', () => {
  it('reports the outcomes of ended dispatches from their envelopes, oldest first', () => {
    const { text, dispatchIds, omitted } = priorOutcomes([
      at(3, { status: 'running', completedAt: null }),
      at(2, { status: 'aborted', model: null, cost: null, botId: 'bot-7' }),
      at(1, { structuredResult: { routes: 3 } }),
    ]);
    expect({ dispatchIds, omitted }).toEqual({ dispatchIds: ['D1', 'D2'], omitted: 0 });
    expect(text.split('\n')).toEqual([
      'The outcomes of 2 earlier dispatches of this task, oldest first.',
      '',
      'D1: product-analyst, claude-sonnet-4-5, completed, started 2026-03-01T09:30:00.000Z, 1m 10s, $0.15',
      '{"routes":3}',
      '',
      'D2: product-analyst, bot bot-7, aborted, started 2026-03-02T09:30:00.000Z, 1m 10s',
      'No structured result.',
    ]);
  });

  it('is empty if no dispatch has ended', () => {
    expect(priorOutcomes([])).toEqual({ text: '', dispatchIds: [], omitted: 0 });
    expect(priorOutcomes([at(1, { status: 'running' })]).text).toBe('');
  });

  it('is never longer than the limit: long results are cut, then the oldest are left out', () => {
    const long = [1, 2, 3, 4, 5].map((day) => at(day, { structuredResult: `${day}`.repeat(50_000) }));
    for (const maxCharacters of [8_000, 5_000, 2_400, 100]) {
      const { text, dispatchIds, omitted } = priorOutcomes(long, { maxCharacters });
      expect(text.length).toBeLessThanOrEqual(maxCharacters);
      expect(dispatchIds.length + omitted).toBe(5);
      expect(dispatchIds).toEqual(['D1', 'D2', 'D3', 'D4', 'D5'].slice(omitted));
      if (text !== '') expect(text).toContain(`The ${omitted} oldest are left out.`);
    }
    expect(priorOutcomes(long).text).toContain('[… 48000 characters left out …]');
    expect(priorOutcomes(long).dispatchIds).toHaveLength(3);
  });
});

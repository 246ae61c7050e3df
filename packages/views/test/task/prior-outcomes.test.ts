import type { CapturedEvent, JsonObject } from '@hansard/events';
import { envelope } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { dispatchEnding, priorOutcomes } from '../../src/index.ts';
import type { PriorDispatch } from '../../src/task/prior-outcomes.ts';

const at = (
  day: number,
  changes: Parameters<typeof envelope>[0] = {},
  events?: readonly CapturedEvent[],
): PriorDispatch => {
  const ended = envelope({
    dispatchId: `D${day}`,
    startedAt: `2026-03-0${day}T09:30:00.000Z`,
    completedAt: `2026-03-0${day}T09:31:10.000Z`,
    ...changes,
  });
  return { envelope: ended, ending: events && dispatchEnding(ended, events) };
};

let ids = 0;

function event(type: string, data: JsonObject, agentId?: string): CapturedEvent {
  ids += 1;
  const timestamp = '2026-03-01T09:31:00.000Z';
  return { id: `e${ids}`, type: type as 'agent:text', timestamp, ...(agentId && { agentId }), data };
}

const said = event('agent:text', { text: 'I will begin with the routes.' });

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

  it.each<[string, Parameters<typeof envelope>[0], readonly CapturedEvent[], readonly string[]]>([
    [
      'the result in text',
      {},
      [said, event('session:complete', { status: 'completed', result: 'Three routes.' })],
      ['Three routes.'],
    ],
    [
      'the structured result before the text',
      { structuredResult: 3 },
      [event('session:complete', { status: 'completed', result: 'Three routes.' })],
      ['3'],
    ],
    [
      'the last text of the dispatched agent, and that it is no stated result',
      {},
      [said, event('agent:text', { text: 'I am a sub-agent.' }, 'a2')],
      ['No result is stated. Its last text: I will begin with the routes.'],
    ],
    ['that there is nothing', {}, [], ['No result.']],
    [
      'why it failed, and its last text',
      { status: 'crashed' },
      [said, event('session:complete', { status: 'failed', errors: ['overloaded'] })],
      ['overloaded', 'No result is stated. Its last text: I will begin with the routes.'],
    ],
    [
      'what stopped it, not what failed after that, and the result so far',
      { status: 'aborted' },
      [
        event('harness:abort', { reason: 'wrong branch', by: 'lead' }),
        event('session:complete', { status: 'failed', result: 'Two routes.' }),
        event('harness:error', { message: 'The engine was closed.' }),
      ],
      ['abort by lead wrong branch', 'Two routes.'],
    ],
    [
      'no failure that it survived',
      {},
      [
        event('harness:error', { message: 'A hook failed.' }),
        event('session:complete', { status: 'completed' }),
      ],
      ['No result.'],
    ],
  ])('reports %s', (_what, changes, events, lines) => {
    const { text } = priorOutcomes([at(1, changes, events)]);
    expect(text.split('\n').slice(3)).toEqual(lines);
  });

  it('is empty if no dispatch has ended', () => {
    expect(priorOutcomes([])).toEqual({ text: '', dispatchIds: [], omitted: 0 });
    expect(priorOutcomes([at(1, { status: 'running' })]).text).toBe('');
  });

  it('is never longer than the limit: long results are cut, then the oldest are left out', () => {
    const long = [1, 2, 3, 4, 5].map((day) => at(day, { structuredResult: `${day}字`.repeat(25_000) }));
    for (const maxCharacters of [8_000, 5_000, 2_400, 100]) {
      const { text, dispatchIds, omitted } = priorOutcomes(long, { maxCharacters });
      expect(text.length).toBeLessThanOrEqual(maxCharacters);
      expect(dispatchIds.length + omitted).toBe(5);
      expect(dispatchIds).toEqual(['D1', 'D2', 'D3', 'D4', 'D5'].slice(omitted));
      if (text !== '') expect(text).toContain(`The ${omitted} oldest are left out.`);
    }
    expect(priorOutcomes(long).text).toContain('[… 48001 characters left out …]');
    expect(priorOutcomes(long).dispatchIds).toHaveLength(3);
  });
});

import type { CapturedEvent } from '@hansard/events';
import { type DispatchFacts, factsOf } from '@hansard/facts';
import { envelope, event } from '@hansard/testing';
import { dispatchTree, sessionFacts } from '@hansard/views';
import { describe, expect, it } from 'vitest';

const usage = { inputTokens: 10, outputTokens: 2 };

function totalsOf(...events: CapturedEvent[]): DispatchFacts {
  return factsOf(events);
}

describe('the totals of a dispatch', () => {
  it('are null, never 0, if the log states none', () => {
    const { costUsd, usage: used } = totalsOf(event('agent:text', { text: 'Hello.' }));
    expect([costUsd, used]).toEqual([null, null]);
    expect(totalsOf(event('agent:inference', { model: 'm', usage }))).toMatchObject({ costUsd: null, usage });
    expect(totalsOf(event('agent:inference', { model: 'm', usage, costUsd: 0 })).costUsd).toBe(0);
  });

  it('keep a figure that a later session:complete leaves out', () => {
    const totals = totalsOf(
      event('agent:inference', { model: 'm', usage, costUsd: 0.5 }),
      event('session:complete', { status: 'completed', turns: 1 }),
      event('agent:inference', { model: 'm', usage, costUsd: 0.25 }),
      event('session:complete', { status: 'completed', usage: { inputTokens: 50, outputTokens: 5 } }),
    );
    expect(totals).toMatchObject({ costUsd: 0.75, usage: { inputTokens: 50, outputTokens: 5 } });
  });

  it('include the call of a sub-agent once, if its message began before the session:complete that counts it', () => {
    const ofAgent = { agentId: 'a1', messageId: 'm1' };
    const totals = totalsOf(
      event('agent:text', { text: 'Checking.' }, ofAgent),
      event('session:complete', { status: 'completed', usage, costUsd: 0.5, turns: 2 }),
      event('agent:inference', { model: 'm', usage }, ofAgent),
    );
    expect(totals).toMatchObject({ costUsd: 0.5, usage: { ...usage, turns: 2 } });
  });

  it('have the usage and cost of each model as the last session:complete states them, and later calls', () => {
    const totals = totalsOf(
      event('agent:inference', { model: 'm', usage }, { messageId: 'm1' }),
      event('agent:inference', { model: 'other-name', usage }),
      event('agent:text', { text: 'Checking.' }, { messageId: 'm2' }),
      event('session:complete', {
        status: 'completed',
        costUsd: 0.75,
        usage: { inputTokens: 50, outputTokens: 9 },
        models: [
          { model: 'm', inputTokens: 40, outputTokens: 6, cacheReadTokens: 5, costUsd: 0.5 },
          { model: 'titles', inputTokens: 10, outputTokens: 3, costUsd: 0.25 },
        ],
      }),
      event('agent:inference', { model: 'm', usage }, { messageId: 'm2' }),
      event('agent:inference', { model: 'm', usage, costUsd: 0.125 }, { messageId: 'm3' }),
    );
    expect(totals.models).toEqual([
      { model: 'm', calls: 3, inputTokens: 50, outputTokens: 8, cacheReadTokens: 5, costUsd: 0.625 },
      { model: 'titles', calls: 0, inputTokens: 10, outputTokens: 3, costUsd: 0.25 },
      { model: 'other-name', calls: 1, inputTokens: 0, outputTokens: 0 },
    ]);
    expect(totals).toMatchObject({ costUsd: 0.875, usage: { inputTokens: 60, outputTokens: 11 } });
  });

  it('stay at the largest number of an envelope where the sum is larger, and name it', () => {
    const most = { inputTokens: Number.MAX_SAFE_INTEGER - 1, outputTokens: 1, cacheReadTokens: 2 };
    const call = event('agent:inference', { model: 'm', usage: most, costUsd: Number.MAX_VALUE });
    expect(totalsOf(event('agent:inference', { model: 'm', usage: most })).atLimit).toEqual([]);
    const totals = totalsOf(call, { ...call, id: 'again' }, { ...call, id: 'and-again' });
    expect(totals).toMatchObject({
      usage: { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 3, cacheReadTokens: 6 },
      costUsd: Number.MAX_VALUE,
      models: [{ inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 3, costUsd: Number.MAX_VALUE }],
      atLimit: ['inputTokens', 'costUsd'],
    });
  });

  it('keep the usage by model that a session:complete without it leaves out', () => {
    const models = [{ model: 'm', inputTokens: 40, outputTokens: 6, costUsd: 0.5 }];
    const totals = totalsOf(
      event('session:complete', { status: 'completed', models }),
      event('agent:text', { text: 'Checking.' }, { messageId: 'm2' }),
      event('session:complete', { status: 'completed', usage, costUsd: 1 }),
      event('agent:inference', { model: 'm', usage }, { messageId: 'm2' }),
    );
    expect(totals.models).toEqual([{ model: 'm', calls: 1, inputTokens: 50, outputTokens: 8, costUsd: 0.5 }]);
    expect(totals.usage).toEqual(usage);
  });

  it('come from the events in the view of a running dispatch, and are unknown in the tree', () => {
    const running = envelope({ status: 'running', completedAt: null, cost: null, usage: null });
    const events = [event('agent:inference', { model: 'm', usage, costUsd: 0.5 })];
    expect(sessionFacts(running, events)).toMatchObject({ costUsd: 0.5, usage });
    expect(dispatchTree([running])).toMatchObject([{ own: { costUsd: null }, subtree: { costUsd: null } }]);
  });

  it('come from the events in the view of an ended dispatch that an older version recorded without totals', () => {
    const aborted = envelope({ status: 'aborted', cost: null, usage: null });
    const events = [event('agent:inference', { model: 'm', usage, costUsd: 0.5 })];
    expect(sessionFacts(aborted, events)).toMatchObject({ costUsd: 0.5, usage });
  });
});

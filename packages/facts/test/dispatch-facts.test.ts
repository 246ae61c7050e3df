import { anyEvent, event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createDispatchFacts, factsOf } from '../src/index.ts';

const usage = { inputTokens: 10, outputTokens: 2 };
const call = (id: string) => event('agent:inference', { model: 'm', usage, costUsd: 0.5 }, { id });
const asked = (text: string) => event('user:message', { text, source: { kind: 'user' } });
const done = event('session:complete', { status: 'completed', result: 'Four routes.' });

describe('the facts of a dispatch', () => {
  it('are all known after one pass over its events', () => {
    const facts = factsOf([
      asked('Plan the routes'),
      event('agent:created', { name: 'jill' }, { agentId: 'a1' }),
      event('agent:text', { text: 'Checking.' }, { agentId: 'a1', messageId: 'm1' }),
      event('agent:inference', { model: 'm', usage, costUsd: 0.5 }, { agentId: 'a1', messageId: 'm1' }),
      done,
    ]);
    expect(facts).toMatchObject({
      title: { text: 'Plan the routes', isGiven: false, position: 0 },
      usage,
      costUsd: 0.5,
      models: [{ model: 'm', calls: 1 }],
      ending: 'complete',
      completion: { result: 'Four routes.' },
      lastActivity: '2026-03-01T09:30:00.000Z',
      through: 4,
    });
    expect(facts.agents.agents).toEqual([
      { agentId: '', name: null },
      { agentId: 'a1', name: 'jill' },
    ]);
  });

  it('name the origin of a fork for the envelope: the first one', () => {
    const from = { product: 'claude-code', sessionId: 's0' };
    const fork = event('session:fork', { from, kind: 'fork' });
    const other = event('session:fork', { from: { product: 'hansard', sessionId: 'D9' }, through: 'e1' });
    expect(factsOf([fork, other]).figures.forkedFrom).toEqual({ from, kind: 'fork' });
    expect(factsOf([done]).figures).not.toHaveProperty('forkedFrom');
  });

  it('say that a log can have branches: after a rewind, a named place, a retraction or an inherited head', () => {
    const made = (inherits?: { agentId: string; through: string }) =>
      event('agent:created', { name: 'jill', ...(inherits && { inherits }) });
    const branching = [
      event('session:rewind', { keptThrough: null }),
      { ...event('user:message', { text: 'Again', source: { kind: 'user' } }), follows: 'e1' },
      { ...event('agent:text', { text: 'Sorry' }), retracts: ['e1'] },
      made({ agentId: 'a1', through: 'e1' }),
    ];
    for (const one of branching) expect(factsOf([done, one]).figures.branched).toBe(true);
    expect(factsOf([done, made()]).figures).not.toHaveProperty('branched');
  });

  it('are not known before the first event', () => {
    expect(createDispatchFacts()).toMatchObject({
      ...{ title: null, usage: null, costUsd: null, models: null, periods: null, through: -1 },
      ...{ ending: null, completion: null, lastActivity: null, calls: 0 },
    });
  });

  it('count an event once, and none after a gap until the events before it', () => {
    const facts = createDispatchFacts();
    facts.observe(call('c0'), 0);
    facts.observe(call('c0'), 0);
    facts.observe(call('c2'), 2);
    expect([facts.calls, facts.through]).toEqual([1, 0]);
    facts.observe(call('c1'), 1);
    facts.observe(call('c2'), 2);
    expect([facts.calls, facts.costUsd, facts.through]).toEqual([3, 1.5, 2]);
    expect(facts.figures.folded).toMatchObject({ through: 2, eventId: 'c2' });
  });

  it('have the latest time, whatever the order of the events', () => {
    const at = (timestamp: string) => ({ ...asked('x'), timestamp });
    const facts = factsOf([
      at('2026-03-01T09:30:00.000Z'),
      at('2026-03-01T09:31:00.000Z'),
      at('2025-12-31T23:59:00.000Z'),
    ]);
    expect(facts.lastActivity).toBe('2026-03-01T09:31:00.000Z');
  });

  it('do not change with figures that were read in between', () => {
    const calls = Array.from({ length: 9 }, (_, at) => call(`c${at}`));
    const [read, unread] = [createDispatchFacts(), createDispatchFacts()];
    for (const one of calls) {
      read.observe(one);
      unread.observe(one);
      expect(read.models?.[0]?.calls).toBe(read.calls);
      expect(read.tokens?.inputTokens).toBe(10 * read.calls);
      expect(read.periods?.modelCalls).toEqual([read.calls]);
    }
    expect(unread.figures).toEqual(read.figures);
  });

  it('keep events of a shape that this version does not know, without a title or a figure of them', () => {
    const facts = factsOf([
      anyEvent('user:message', { words: ['new'] }),
      anyEvent('agent:inference', { model: 4 }),
    ]);
    expect(facts).toMatchObject({ title: null, usage: null, calls: 0, through: 1 });
  });
});

describe('the ending of a dispatch', () => {
  const stop = event('harness:abort', { reason: 'enough' });
  const text = event('agent:text', { text: 'More.' });
  const task = (type: 'system:task_started' | 'system:task_notification') =>
    anyEvent(type, { task_id: 'b1' });
  it.each([
    ['nothing was said', [asked('x')], null],
    ['the agent completed it', [asked('x'), done], 'complete'],
    ['the agent went on after it', [done, text], null],
    ['a harness recorded facts after it', [done, anyEvent('harness:note', {})], 'complete'],
    ['it was stopped', [asked('x'), stop], 'stopped'],
    ['it was stopped, and the agent completed it then', [stop, done], 'stopped'],
    ['a background task runs', [task('system:task_started'), done], null],
    [
      'the background task has ended',
      [task('system:task_started'), done, task('system:task_notification')],
      'complete',
    ],
    ['an error ended it', [done, event('harness:error', { message: 'broken' })], null],
  ] as const)('is known from its events: %s', (_, events, ending) => {
    expect(factsOf(events).ending).toBe(ending);
  });
});

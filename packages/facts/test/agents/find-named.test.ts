import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { AgentRoster, findNamed } from '../../src/index.ts';

const things = [
  { id: 'alpha-1', title: 'Plan the routes' },
  { id: '1-beta', title: 'plan the ROUTES' },
  { id: 'gamma-1x', title: 'beta' },
  { id: 'Plan', title: null },
  { id: 'delta-22', title: 'Weather' },
];

function meaning(wanted: string): string {
  const answer = findNamed(things, wanted, ({ id, title }) => ({ id, names: [title] }));
  if (answer.kind === 'unknown') return 'unknown';
  return answer.kind === 'found' ? answer.item.id : answer.items.map(({ id }) => id).join(' or ');
}

describe('a name', () => {
  it.each([
    ['Plan', 'Plan', 'a whole id comes first'],
    ['beta', 'gamma-1x', 'a whole name comes before the end of an id'],
    ['Plan the routes', 'alpha-1', 'a name in the same case comes before others'],
    ['PLAN THE ROUTES', 'alpha-1 or 1-beta', 'a name that two have is ambiguous'],
    ['1', 'alpha-1', 'the end of an id comes before its beginning'],
    ['gam', 'gamma-1x', 'the beginning of an id'],
    ['wea', 'delta-22', 'the beginning of a name'],
    ['eta', '1-beta', 'the end of an id'],
    ['zeta', 'unknown', 'nothing fits'],
    ['', 'unknown', 'an empty text is not a part of everything'],
  ])('%j means %s: %s', (wanted, expected) => {
    expect(meaning(wanted)).toBe(expected);
  });
});

describe('the agents of a dispatch', () => {
  it('are found by id, by a part of it, by name, and the dispatched one by its role', () => {
    const roster = new AgentRoster('analyst');
    roster.learn(event('agent:text', { text: 'x' }));
    roster.learn(event('agent:created', { name: 'jill' }, { agentId: 'agent-007' }));
    roster.learn(event('agent:created', { name: 'jill' }, { agentId: 'agent-017' }));
    roster.learn(event('agent:text', { text: 'x' }, { agentId: 'sub-9' }));
    const found = (wanted: string) => {
      const answer = roster.find(wanted);
      if (answer.kind === 'unknown') return [];
      return answer.kind === 'found' ? [answer.item.agentId] : answer.items.map(({ agentId }) => agentId);
    };
    expect(found('007')).toEqual(['agent-007']);
    expect(found('Jill')).toEqual(['agent-007', 'agent-017']);
    expect(found('sub')).toEqual(['sub-9']);
    expect(found('analyst')).toEqual(['']);
    expect(found('dispatched agent')).toEqual(['']);
    expect(found('nobody')).toEqual([]);
    expect(roster.agents.map((agent) => roster.label(agent))).toEqual([
      'analyst',
      'jill (agent-007)',
      'jill (agent-017)',
      'sub-9',
    ]);
  });
});

import { anyEvent } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { causesOf, createLogIndex, interventionsOf, renderInterventions } from '../../src/index.ts';
import { calls, decides, heard, marketLog, receives, says } from '../market-log.ts';

describe('interventionsOf', () => {
  it('gives the decisions of a hook on deliveries, with their effects', () => {
    const rows = interventionsOf(createLogIndex(marketLog()));
    expect(rows).toMatchObject([
      {
        id: 'e16',
        hook: 'secrets',
        decision: 'alter',
        reason: 'a recipe',
        agentId: 'ann',
        subject: { id: 'e15', text: 'Rye with caraway, baked at 240 degrees' },
        effect: 'altered',
        outcome: { id: 'e17', text: '[Ben]: Rye with caraway, baked at [hidden]' },
      },
      { id: 'e18', decision: 'deny', agentId: 'carl', effect: 'withheld', outcome: null },
    ]);
  });

  it('gives the final delivery as the outcome of each of several alterations', () => {
    const altered = { hook: 'h', on: 'delivery', decision: 'alter', subject: 'e1', text: 'Rye' } as const;
    const index = createLogIndex([
      says('e1', 'ben', 'Rye, 240 degrees, 3 euro'),
      decides('e2', 'ann', altered),
      decides('e3', 'ann', { ...altered, previous: 'e2', text: 'Bread' }),
      heard('e4', 'ann', 'Bread', { substance: 'e1', via: 'e3' }),
    ]);
    expect(interventionsOf(index)).toMatchObject([
      { id: 'e2', previous: null, given: null, made: 'Rye', outcome: { id: 'e4', text: 'Bread' } },
      { id: 'e3', previous: 'e2', given: 'Rye', made: 'Bread', outcome: { id: 'e4' } },
    ]);
  });

  it('gives no outcome for an alteration that no delivery names, even if the content is delivered later', () => {
    const index = createLogIndex([
      says('e1', 'ben', 'Rye, 240 degrees'),
      decides('e2', 'ann', { hook: 'h', on: 'delivery', decision: 'alter', subject: 'e1', text: 'Rye' }),
      decides('e3', 'ann', { hook: 'g', on: 'delivery', decision: 'deny', subject: 'e1', previous: 'e2' }),
      heard('e4', 'ann', 'Rye, 240 degrees', { substance: 'e1' }),
    ]);
    expect(interventionsOf(index).map(({ outcome }) => outcome)).toEqual([null, null]);
  });

  it('gives the result that a hook altered or withheld, and what it was before', () => {
    const onResult = {
      on: 'tool_result',
      toolCallId: 'c1',
      subject: 'e2',
      given: 'Rye, 240 degrees',
    } as const;
    const log = (decision: 'alter' | 'deny') => [
      says('e1', 'ben', 'Rye, 240 degrees'),
      calls('e2', 'olga', 'c1', 'talk'),
      decides('e3', 'olga', {
        ...onResult,
        hook: 'h',
        decision,
        madeFrom: ['e1'],
        ...(decision === 'alter' ? { text: 'Rye' } : {}),
      }),
      receives('e4', 'olga', 'c1', decision === 'alter' ? 'Rye' : 'Error: withheld', {
        ...(decision === 'alter' ? { substance: 'e1' } : {}),
        via: 'e3',
      }),
    ];
    const altered = createLogIndex(log('alter'));
    expect(interventionsOf(altered)).toMatchObject([
      { given: 'Rye, 240 degrees', made: 'Rye', effect: 'altered', outcome: { id: 'e4', text: 'Rye' } },
    ]);
    expect(altered.sayings[0]?.hearings).toMatchObject([{ agentId: 'olga', how: 'altered', text: 'Rye' }]);
    const denied = createLogIndex(log('deny'));
    expect(interventionsOf(denied)).toMatchObject([
      { made: null, effect: 'withheld', outcome: { id: 'e4', text: 'Error: withheld' } },
    ]);
    expect(denied.sayings[0]?.hearings).toMatchObject([{ agentId: 'olga', how: 'withheld', text: null }]);
  });

  it('follows the chain in why: from the result over the last decision to the first', () => {
    const index = createLogIndex([
      calls('e1', 'olga', 'c1', 'task', { name: 'Dan' }),
      decides('e2', 'olga', {
        hook: 'h',
        on: 'tool_call',
        decision: 'alter',
        toolCallId: 'c1',
        input: 'Don',
      }),
      decides('e3', 'olga', {
        hook: 'g',
        on: 'tool_result',
        decision: 'alter',
        toolCallId: 'c1',
        previous: 'e2',
        given: 'Don',
        text: 'D.',
      }),
      receives('e4', 'olga', 'c1', 'D.', { via: 'e3' }),
    ]);
    const because = new Map(causesOf(index, 'e4').map(({ id, because }) => [id, because]));
    expect(because.get('e4')).toContainEqual({ kind: 'via', id: 'e3', isLost: false });
    expect(because.get('e3')).toContainEqual({ kind: 'previous', id: 'e2', isLost: false });
  });

  it('gives the call that was stopped, and the result that the agent received', () => {
    const index = createLogIndex([
      calls('e1', 'olga', 'c1', 'task', { name: 'Dan' }),
      decides('e2', 'olga', {
        hook: 'limit',
        on: 'tool_call',
        decision: 'deny',
        reason: 'full',
        toolCallId: 'c1',
      }),
      receives('e3', 'olga', 'c1', "Error: Action blocked by hook 'limit': full", {
        status: 'error',
        via: 'e2',
      }),
    ]);
    expect(interventionsOf(index)).toMatchObject([
      {
        id: 'e2',
        effect: 'stopped',
        subject: { id: 'e1', text: 'task {"name":"Dan"}' },
        outcome: { id: 'e3' },
        verdict: null,
      },
    ]);
  });

  it('gives the altered input of a call', () => {
    const index = createLogIndex([
      calls('e1', 'olga', 'c1', 'task', { name: 'Dan' }),
      anyEvent(
        'harness:hook_decision',
        { hook: 'h', on: 'tool_call', decision: 'alter', toolCallId: 'c1', input: { name: 'Don' } },
        { id: 'e2', agentId: 'olga' },
      ),
      receives('e3', 'olga', 'c1', 'Don is there', { via: 'e2' }),
    ]);
    expect(interventionsOf(index)[0]).toMatchObject({
      effect: 'altered',
      outcome: { text: '{"name":"Don"}' },
    });
  });

  it('finds the utterance of an agent that decided as a hook among the causes', () => {
    const index = createLogIndex([
      calls('e1', 'olga', 'c1', 'task'),
      says('e2', 'watch', 'No, there are enough.'),
      decides(
        'e3',
        'olga',
        { hook: 'Watch', on: 'tool_call', decision: 'deny', toolCallId: 'c1' },
        { cause: ['e1', 'e2'] },
      ),
    ]);
    expect(interventionsOf(index)[0]?.verdict).toEqual({
      id: 'e2',
      agentId: 'watch',
      text: 'No, there are enough.',
    });
  });

  it('gives an allowed call without an effect', () => {
    const index = createLogIndex([
      decides('e1', 'ann', { hook: 'h', on: 'delivery', decision: 'allow', subject: 'gone' }),
    ]);
    expect(interventionsOf(index)).toMatchObject([{ effect: 'none', subject: null, outcome: null }]);
  });
});

describe('renderInterventions', () => {
  it('prints decision, subject, reason and outcome', () => {
    const index = createLogIndex(marketLog());
    expect(renderInterventions(index, interventionsOf(index))).toBe(
      [
        'e16  secrets altered a delivery to Ann',
        '    on       Rye with caraway, baked at 240 degrees (e15)',
        '    because  a recipe',
        '    became   [Ben]: Rye with caraway, baked at [hidden] (e17)',
        'e18  secrets denied a delivery to Carl: withheld',
        '    on       Rye with caraway, baked at 240 degrees (e15)',
        '    because  a rival',
      ].join('\n'),
    );
    expect(renderInterventions(createLogIndex([]), [])).toBe('(no interventions)');
  });
});

import { inspect } from 'node:util';
import { type AgentInfo, type HookQuestion, pluginErrors } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { createRedactHook } from '../src/index.ts';

const agents: AgentInfo[] = ['Jack', 'Jill'].map((name, index) => ({
  agentId: `agent_00${index + 2}`,
  name,
  languageModel: null,
  parentAgentId: 'agent_001',
  state: 'active',
}));

function delivery(text: string, to = 'agent_003'): HookQuestion {
  return { on: 'delivery', dispatchId: 'd1', from: 'agent_002', to, text, agents };
}

const allow = { decision: 'allow' };
const patterns = [{ pattern: '\\d{4}' }];

describe('what an agent hears', () => {
  it('has every match replaced, and the reason counts them and does not show them', () => {
    const hook = createRedactHook({
      patterns: [{ pattern: '\\d{4}' }, { pattern: 'acme', flags: 'i', replacement: 'a firm' }],
    });
    expect(hook.decide(delivery('[Jack]: The code of Acme is 1234, not 4321.'))).toEqual({
      decision: 'alter',
      text: '[Jack]: The code of a firm is [REDACTED], not [REDACTED].',
      reason: '3 replacements',
    });
    expect(hook.decide(delivery('1234'))).toMatchObject({ text: '[REDACTED]', reason: '1 replacement' });
  });

  it('is left as it is where no pattern occurs', () => {
    expect(createRedactHook({ patterns }).decide(delivery('Hello.'))).toEqual(allow);
  });

  it('is the same at each delivery, whatever was looked at before', () => {
    const hook = createRedactHook({ patterns: [{ pattern: 'secret', flags: 'g' }] });
    const heard = { decision: 'alter', text: 'a [REDACTED]', reason: '1 replacement' };
    expect([1, 2, 3].map(() => hook.decide(delivery('a secret')))).toEqual([heard, heard, heard]);
  });

  it('gets the replacement word for word', () => {
    const hook = createRedactHook({ patterns: [{ pattern: '(\\w+)@\\w+', replacement: '$1 $& $$' }] });
    expect(hook.decide(delivery('ann@home'))).toMatchObject({ text: '$1 $& $$' });
  });

  it('is not torn apart by a pattern that fits nothing as well', () => {
    const hook = createRedactHook({ patterns: [{ pattern: '\\d*' }] });
    expect(hook.decide(delivery('Hello.'))).toEqual(allow);
    expect(hook.decide(delivery('Room 12.'))).toMatchObject({
      text: 'Room [REDACTED].',
      reason: '1 replacement',
    });
  });
});

describe('the result of a tool', () => {
  const result: HookQuestion = {
    on: 'tool_result',
    dispatchId: 'd1',
    agentId: 'agent_003',
    toolCallId: 'c1',
    tool: 'read',
    input: { path: 'till.txt' },
    status: 'completed',
    text: 'The till opens with 4711.',
    agents,
  };

  it('has every match replaced, as a delivery has', () => {
    expect(createRedactHook({ patterns }).decide(result)).toEqual({
      decision: 'alter',
      text: 'The till opens with [REDACTED].',
      reason: '1 replacement',
    });
  });

  it('is left as it is for an agent that is not named', () => {
    expect(createRedactHook({ patterns, agents: ['Jill'] }).decide(result)).toMatchObject({
      decision: 'alter',
    });
    expect(createRedactHook({ patterns, agents: ['Jack'] }).decide(result)).toEqual(allow);
  });
});

describe('agents', () => {
  it.each(['Jill', 'agent_003'])('limits it to those that are named, here by %s', (named) => {
    const hook = createRedactHook({ patterns, agents: [named] });
    expect(hook.decide(delivery('1234', 'agent_003'))).toMatchObject({ decision: 'alter' });
    expect(hook.decide(delivery('1234', 'agent_002'))).toEqual(allow);
  });
});

it('lets every tool be called', () => {
  const question: HookQuestion = {
    on: 'tool_call',
    dispatchId: 'd1',
    toolCallId: 'c1',
    tool: 'look',
    input: '1234',
    agents,
    running: [],
  };
  expect(createRedactHook({ patterns }).decide(question)).toEqual(allow);
});

it.each([
  ['pattern', { pattern: '(' }],
  ['flags', { pattern: 'a', flags: 'x' }],
])('refuses a wrong %s when it is created, and says which', (_what, wrong) => {
  const create = () => createRedactHook({ patterns: [{ pattern: 'a' }, wrong] });
  expect(create).toThrow('patterns[1] is not a regular expression');
  let error: unknown;
  try {
    create();
  } catch (thrown) {
    error = thrown;
  }
  expect(pluginErrors.is(error, 'PLUGIN_CONFIG_INVALID')).toBe(true);
});

it('does not quote a wrong pattern in its error: a pattern can be a secret', () => {
  const create = () => createRedactHook({ patterns: [{ pattern: 'hunter2: (sesame' }] });
  expect(create).toThrow(/not a regular expression: Unterminated group\.$/);
  try {
    create();
  } catch (error) {
    expect(inspect(error)).not.toMatch(/hunter2|sesame/);
  }
});

it('denies a text for which a pattern takes too long, and decides on the next one as ever', () => {
  const hook = createRedactHook({ patterns: [{ pattern: '(a+)+$' }, { pattern: '1234' }] });
  expect(hook.decide(delivery(`${'a'.repeat(60)}! 1234`))).toEqual({
    decision: 'deny',
    reason: 'the patterns took longer than 1000 ms for this text',
  });
  expect(hook.decide(delivery('1234'))).toMatchObject({ decision: 'alter', text: '[REDACTED]' });
});

describe('what agents and people say to each other', () => {
  const question = (on: 'utterance' | 'input', agentId = 'agent_002'): HookQuestion => ({
    ...{ on, dispatchId: 'd1', agentId, text: 'It is 1234.', rejected: 0, agents },
  });

  it('is redacted if the configuration says so, for the agents that it names', () => {
    expect(createRedactHook({ patterns }).decidesOn).toEqual(['delivery', 'tool_result']);
    expect(createRedactHook({ patterns }).decide(question('utterance'))).toEqual(allow);
    const hook = createRedactHook({ patterns, on: ['utterance', 'input'], agents: ['Jack'] });
    expect(hook.decidesOn).toEqual(['utterance', 'input']);
    for (const on of ['utterance', 'input'] as const) {
      expect(hook.decide(question(on))).toMatchObject({ decision: 'alter', text: 'It is [REDACTED].' });
      expect(hook.decide(question(on, 'agent_003'))).toEqual(allow);
    }
    expect(hook.decide(delivery('1234', 'agent_002'))).toEqual(allow);
  });
});

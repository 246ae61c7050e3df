import type { AgentInfo, HookQuestion } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { createLimitsHook } from '../src/index.ts';

function agent(agentId: string, rest: Partial<AgentInfo> = {}): AgentInfo {
  return { agentId, name: null, languageModel: null, parentAgentId: 'root', state: 'active', ...rest };
}

function call(tool: string, rest: Partial<HookQuestion & { on: 'tool_call' }> = {}): HookQuestion {
  return {
    on: 'tool_call',
    dispatchId: 'd1',
    agentId: 'root',
    toolCallId: 'c1',
    tool,
    input: {},
    agents: [],
    running: [],
    ...rest,
  };
}

const allow = { decision: 'allow' };
const root = agent('root', { parentAgentId: null });

describe('maxAgents', () => {
  const hook = createLimitsHook({ maxAgents: 3 });
  const agents = [root, agent('a1'), agent('a2'), agent('a3')];

  it('denies the call that would create one agent too many, and says why', () => {
    expect(hook.decide(call('task', { agents }))).toEqual({
      decision: 'deny',
      reason: 'Maximum subagents (3) already reached.',
    });
  });

  it('counts neither the root nor agents that were terminated', () => {
    expect(hook.decide(call('task', { agents: agents.slice(0, 3) }))).toEqual(allow);
    const ended = [...agents.slice(0, 3), agent('a3', { state: 'terminated' })];
    expect(hook.decide(call('task', { agents: ended }))).toEqual(allow);
  });

  it('counts the calls that began before and create an agent, until their agent exists', () => {
    const running = (tool: string, created: number) => [{ agentId: 'root', toolCallId: 'c0', tool, created }];
    const two = agents.slice(0, 3);
    const denied = expect.objectContaining({ decision: 'deny' });
    expect(hook.decide(call('task', { agents: two, running: running('task', 0) }))).toEqual(denied);
    expect(hook.decide(call('task', { agents: two, running: running('task', 1) }))).toEqual(allow);
    expect(hook.decide(call('task', { agents: two, running: running('look', 0) }))).toEqual(allow);
  });

  it('lets other tools be called', () => {
    expect(hook.decide(call('discuss', { agents }))).toEqual(allow);
  });

  it('holds for whichever tools create agents', () => {
    const spawning = createLimitsHook({ maxAgents: 0, createTools: ['spawn'] });
    expect(spawning.decide(call('spawn'))).toMatchObject({ decision: 'deny' });
    expect(spawning.decide(call('task'))).toEqual(allow);
  });
});

describe('maxToolCalls', () => {
  it('lets each agent of each dispatch make that number of calls', () => {
    const hook = createLimitsHook({ maxToolCalls: 2 });
    const denied = { decision: 'deny', reason: 'Maximum tool calls (2) already reached.' };
    expect([1, 2, 3].map(() => hook.decide(call('look')))).toEqual([allow, allow, denied]);
    expect(hook.decide(call('look', { agentId: 'a1' }))).toEqual(allow);
    expect(hook.decide(call('look', { dispatchId: 'd2' }))).toEqual(allow);
  });

  it('counts no call that was denied', () => {
    const hook = createLimitsHook({ maxToolCalls: 1, tools: { deny: ['rm'] } });
    expect(hook.decide(call('rm'))).toMatchObject({ decision: 'deny' });
    expect(hook.decide(call('look'))).toEqual(allow);
  });
});

describe('tools', () => {
  it('denies other tools, and names the allowed ones', () => {
    const hook = createLimitsHook({ tools: { allow: ['look', 'listen'] } });
    expect(hook.decide(call('look'))).toEqual(allow);
    expect(hook.decide(call('rm'))).toEqual({
      decision: 'deny',
      reason: 'The tool rm is not among those that are allowed: look, listen.',
    });
  });

  it('denies a tool that is both allowed and denied', () => {
    const hook = createLimitsHook({ tools: { allow: ['rm'], deny: ['rm'] } });
    expect(hook.decide(call('rm'))).toEqual({ decision: 'deny', reason: 'The tool rm is denied.' });
  });

  it('denies all where none is allowed', () => {
    expect(createLimitsHook({ tools: { allow: [] } }).decide(call('look'))).toMatchObject({
      decision: 'deny',
    });
  });
});

it('allows the result of a call that it allowed', () => {
  const hook = createLimitsHook({ maxToolCalls: 1 });
  expect(hook.decide(call('look'))).toEqual(allow);
  const result = { on: 'tool_result', status: 'completed', text: 'a cup', input: {}, agents: [] } as const;
  const whose = { dispatchId: 'd1', agentId: 'root', toolCallId: 'c1', tool: 'look' };
  expect(hook.decide({ ...result, ...whose })).toEqual(allow);
});

it('lets everything be said, whatever its limits', () => {
  const hook = createLimitsHook({ maxAgents: 0, maxToolCalls: 0, tools: { allow: [] } });
  expect(hook.decide({ on: 'delivery', dispatchId: 'd1', to: 'a1', text: 'Hello.', agents: [root] })).toEqual(
    allow,
  );
});

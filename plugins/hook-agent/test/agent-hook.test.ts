import {
  type AgentInfo,
  type HookHost,
  type HookObservation,
  type HookQuestion,
  LoggedString,
} from '@hansard/provider';
import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createAgentHook } from '../src/index.ts';

const own: AgentInfo = {
  agentId: 'agent_009',
  name: 'Watch',
  languageModel: null,
  parentAgentId: null,
  hook: 'Watch',
  state: 'active',
};
const root: AgentInfo = { ...agent('agent_001', null), parentAgentId: null };
const jack = agent('agent_002', 'Jack');

function agent(agentId: string, name: string | null): AgentInfo {
  return { agentId, name, languageModel: null, parentAgentId: 'agent_001', state: 'active' };
}

/** A host whose agent gives these answers, and what was asked of it and sent. */
function hostWith(...answers: string[]) {
  const asked: string[] = [];
  const sent: unknown[] = [];
  const host: HookHost = {
    inform: async (agentId, text, from) => {
      sent.push([agentId, String(text), from, typeof text === 'string' ? null : text.messageId]);
      return 'sent';
    },
    agents: {
      listAgents: () => [root, jack, own],
      createAgent: async () => own,
      harken: async () => 'heard',
      response: async (_agentId, input) => {
        asked.push(String(input));
        return new LoggedString(answers.shift() ?? 'NOTHING', `answer-${asked.length}`);
      },
    },
  };
  return { host, asked, sent };
}

const systemPrompt = 'You watch.';
const watching = (config: Partial<Parameters<typeof createAgentHook>[0]>) =>
  createAgentHook({ systemPrompt, name: 'Watch', ...config });
const at = { agentId: 'agent_001' };
const utterance = (text: string, agentId = 'agent_001'): HookObservation => ({
  what: 'utterance',
  dispatchId: 'D1',
  event: event('agent:text', { text }, { agentId }),
});
const call: HookQuestion = {
  on: 'tool_call',
  dispatchId: 'D1',
  agentId: 'agent_001',
  toolCallId: 'c1',
  tool: 'task',
  input: { name: 'Jill' },
  agents: [],
  running: [],
};

describe('what its agent hears', () => {
  it('comes with who did it, and its answer is sent from its agent', async () => {
    const { host, asked, sent } = hostWith('Hear the other side.');
    await watching({ observe: ['utterance'] }).observe?.(utterance('I disagree.'), host);
    expect(asked).toEqual(['root said: I disagree.']);
    expect(sent).toEqual([['agent_001', 'Hear the other side.', 'agent_009', 'answer-1']]);
  });

  it('is sent to nobody if it says nothing', async () => {
    for (const silence of ['NOTHING', ' NOTHING\n', '']) {
      const { host, sent } = hostWith(silence);
      await watching({ observe: ['utterance'] }).observe?.(utterance('Yes.'), host);
      expect(sent).toEqual([]);
    }
  });

  const ofHook = event('user:message', { text: 'Hm.', source: { kind: 'system', hook: 'Other' } }, at);
  const look = event('agent:tool_call', { toolCallId: 'c', tool: 'look', metadata: {} }, at);
  it.each<[string, Partial<Parameters<typeof createAgentHook>[0]>, HookObservation]>([
    ['another kind', { observe: ['message'] }, utterance('Yes.')],
    [
      'an agent that it does not watch',
      { observe: ['utterance'], watched: ['root'] },
      utterance('Yes.', 'agent_002'),
    ],
    ['an agent of a hook', { observe: ['utterance'] }, utterance('Yes.', 'agent_009')],
    ['a message of a hook', { observe: ['message'] }, { what: 'message', dispatchId: 'D1', event: ofHook }],
    [
      'a tool that does not matter',
      { observe: ['call'], tools: ['task'] },
      { what: 'call', dispatchId: 'D1', event: look },
    ],
  ])('is not %s', async (_what, config, observation) => {
    const { host, asked } = hostWith();
    await watching(config).observe?.(observation, host);
    expect(asked).toEqual([]);
  });

  it('includes deliveries, calls, results and notifications, each in words', async () => {
    const { host, asked } = hostWith();
    const hook = watching({ observe: ['delivery', 'call', 'result', 'notification'] });
    const observe = (what: HookObservation['what'], recorded: HookObservation['event']) =>
      hook.observe?.({ what, dispatchId: 'D1', event: recorded }, host);
    const tool = { toolCallId: 'c', tool: 'look', metadata: {} };
    const fromJack = { kind: 'agent', agentId: 'agent_002' } as const;
    await observe('delivery', event('user:message', { text: 'Hi.', source: fromJack }, at));
    await observe('call', event('agent:tool_call', { ...tool, input: { at: 'sea' } }, at));
    await observe(
      'result',
      event('agent:tool_result', { ...tool, status: 'completed', output: 'Blue.' }, at),
    );
    await observe('notification', event('harness:abort', { reason: 'enough' }, at));
    expect(asked).toEqual([
      'Jack to root: Hi.',
      'root calls look with {"at":"sea"}',
      'look answered root: Blue.',
      'notification of root: {"reason":"enough"}',
    ]);
  });
});

describe('what its agent decides', () => {
  it('is allowed by ALLOW, and denied by DENY with the rest as the reason and the answer as the cause', async () => {
    const { host, asked } = hostWith('ALLOW', 'DENY. Maximum subagents (1) already reached.');
    const hook = watching({ decide: ['tool_call'] });
    expect(await hook.decide?.(call, host)).toEqual({ decision: 'allow' });
    expect(await hook.decide?.(call, host)).toEqual({
      decision: 'deny',
      reason: 'Maximum subagents (1) already reached.',
      cause: 'answer-2',
    });
    expect(asked[0]).toBe(
      `Agent 'root' is attempting to call task with {"name":"Jill"}. Current subagent count: 1. Answer ALLOW, or DENY and the reason.`,
    );
  });

  it('fails where its agent does not decide', async () => {
    const { host } = hostWith('Perhaps.');
    await expect(watching({ decide: ['tool_call'] }).decide?.(call, host)).rejects.toThrow(
      'its agent answered none of ALLOW, DENY and RETRY.',
    );
  });

  it('is not asked about other questions, other tools, and in a run without a session', async () => {
    const { host, asked } = hostWith();
    const allow = { decision: 'allow' };
    const delivery: HookQuestion = {
      on: 'delivery',
      dispatchId: 'D1',
      to: 'agent_001',
      text: 'Hi.',
      agents: [],
    };
    expect(await watching({ decide: ['tool_call'] }).decide?.(delivery, host)).toEqual(allow);
    expect(await watching({ decide: ['tool_call'], tools: ['look'] }).decide?.(call, host)).toEqual(allow);
    const withoutAgents = { inform: host.inform };
    expect(await watching({ decide: ['tool_call'] }).decide?.(call, withoutAgents)).toEqual(allow);
    expect(asked).toEqual([]);
  });
});

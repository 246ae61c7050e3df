import { describe, expect, it } from 'vitest';
import { assistant, mapMessages, ofType, toolUse, user } from './mapped.ts';

const call = assistant([toolUse('t1', 'Agent', { subagent_type: 'tester', description: 'test it' })], {
  uuid: 'u1',
});
const inside = (text: string, fields = {}) =>
  assistant(
    [{ type: 'text', text }],
    { parent_tool_use_id: 't1', ...fields },
    { id: `msg_${text}`, model: 'claude-small' },
  );
const started = {
  type: 'system',
  subtype: 'task_started',
  task_id: 'a1',
  tool_use_id: 't1',
  task_type: 'local_agent',
};

function agents(messages: readonly unknown[]) {
  const { events } = mapMessages(messages);
  return {
    created: ofType(events, 'agent:created'),
    speakers: ofType(events, 'agent:text').map(({ agentId }) => agentId),
    events,
  };
}

describe('sub-agents', () => {
  it('one without a name in the stream is named by its call', () => {
    const { created, speakers } = agents([call, inside('a'), inside('b')]);
    expect(created).toMatchObject([
      {
        id: 'agent-t1:created',
        agentId: 'agent-t1',
        cause: 'u1',
        data: { name: 'tester', languageModel: 'claude-small' },
      },
    ]);
    expect(speakers).toEqual(['agent-t1', 'agent-t1']);
  });

  it('one that is named by task_started is later identified by its call', () => {
    expect(agents([call, started, inside('a')]).speakers).toEqual(['a1']);
    expect(agents([call, started, inside('a')]).created).toHaveLength(1);
  });

  it('one that is named later stays the same agent', () => {
    const { created, speakers } = agents([call, inside('a'), started, inside('b', { agent_id: 'a1' })]);
    expect(created).toHaveLength(1);
    expect(speakers).toEqual(['agent-t1', 'agent-t1']);
  });

  it('several names of one call are several agents', () => {
    const { created, speakers } = agents([
      call,
      inside('a', { agent_id: 'a1' }),
      inside('b', { agent_id: 'a2' }),
      inside('c', { agent_id: 'a1' }),
    ]);
    expect(created.map(({ agentId }) => agentId)).toEqual(['a1', 'a2']);
    expect(speakers).toEqual(['a1', 'a2', 'a1']);
  });

  it('one that another call resumes stays the same agent', () => {
    const { created, speakers } = agents([
      call,
      inside('a', { agent_id: 'a1' }),
      inside('b', { agent_id: 'a1', parent_tool_use_id: 't2' }),
    ]);
    expect(created).toHaveLength(1);
    expect(speakers).toEqual(['a1', 'a1']);
  });

  it('one that a sub-agent starts gets its prompt from that sub-agent', () => {
    const nested = assistant(
      [toolUse('t2', 'Agent', {})],
      { uuid: 'u2', parent_tool_use_id: 't1' },
      { id: 'msg_n' },
    );
    const { events, created } = agents([call, nested, user('look', { parent_tool_use_id: 't2' })]);
    expect(created.map(({ agentId, cause }) => [agentId, cause])).toEqual([
      ['agent-t1', 'u1'],
      ['agent-t2', 'u2'],
    ]);
    expect(ofType(events, 'user:message')[0]).toMatchObject({
      agentId: 'agent-t2',
      data: { source: { kind: 'agent', agentId: 'agent-t1' } },
    });
  });

  it('a name that is not an id becomes one', () => {
    expect(agents([inside('a', { agent_id: 'tester@home/1' })]).speakers).toEqual(['tester-home-1']);
  });

  it('a command in the background is a task, not an agent', () => {
    const { created, events } = agents([{ ...started, task_type: 'local_bash' }]);
    expect(created).toEqual([]);
    expect(events[0]).toMatchObject({ type: 'system:task_started', data: { task_type: 'local_bash' } });
  });

  it('the cause is the message of the call if the call has no id', () => {
    const { uuid: _, ...nameless } = call;
    expect(agents([nameless, inside('a')]).created[0]?.cause).toBe('msg_1');
  });

  it('progress of a tool belongs to the agent that called it', () => {
    const nested = assistant(
      [toolUse('t9', 'Bash', { command: 'x' })],
      { parent_tool_use_id: 't1' },
      { id: 'msg_n' },
    );
    const heartbeat = {
      type: 'tool_progress',
      tool_use_id: 't9-heartbeat-0',
      parent_tool_use_id: 't9',
      heartbeat: true,
    };
    const { events } = agents([call, nested, heartbeat]);
    expect(ofType(events, 'system:tool_progress')[0]?.agentId).toBe('agent-t1');
  });
});

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createReplayAgent } from '../src/index.ts';
import { dataOf, fixtures, ofType, runAgent } from './run-agent.ts';

const replay = (name: string) => runAgent(createReplayAgent({ path: join(fixtures, `${name}.jsonl`) }));

describe('tools and thinking', () => {
  it('blocks that arrive on several lines share a messageId, in order', async () => {
    const { events } = await replay('tools-and-thinking');
    const first = events.filter(({ messageId }) => messageId === 'msg_1').map(({ type }) => type);
    expect(first).toEqual(['agent:thinking', 'agent:text', 'agent:tool_call', 'agent:inference']);
  });

  it('the usage of a message counts once, with its final stop reason', async () => {
    const { events } = await replay('tools-and-thinking');
    const inferences = ofType(events, 'agent:inference');
    expect(inferences.map(({ messageId }) => messageId)).toEqual(['msg_1', 'msg_2', 'msg_3']);
    expect(inferences.map(({ data }) => data.stopReason)).toEqual(['tool_use', 'tool_use', 'end_turn']);
    const tokens = inferences.map(({ data }) => (data.usage as { inputTokens: number }).inputTokens);
    expect(tokens).toEqual([100, 100, 100]);
    expect(dataOf(events, 'session:complete').usage).toMatchObject({ inputTokens: 300, outputTokens: 60 });
  });

  it('tool pairs have target, status, duration, metadata and error, and no output', async () => {
    const { events } = await replay('tools-and-thinking');
    const results = ofType(events, 'agent:tool_result').map(({ data }) => data);
    expect(results).toMatchObject([
      {
        toolCallId: 'toolu_a1',
        tool: 'Bash',
        status: 'completed',
        durationMs: 188,
        metadata: { exitCode: 0 },
      },
      { toolCallId: 'toolu_a3', tool: 'Grep', status: 'error', durationMs: 2, target: 'hello' },
      {
        toolCallId: 'toolu_a2',
        tool: 'Read',
        status: 'error',
        durationMs: 46,
        target: '/workspace/nope.txt',
      },
    ]);
    expect(results[2]?.error).toContain('File does not exist');
    expect(results.some((data) => 'output' in data)).toBe(false);
  });

  it('what streams becomes deltas that name their message and tool call', async () => {
    const { deltas } = await replay('tools-and-thinking');
    expect(deltas[0]).toEqual({
      type: 'delta:thinking',
      text: 'First write the file, then read it back.',
      messageId: 'msg_1',
    });
    expect(deltas.find(({ type }) => type === 'delta:tool_input')).toMatchObject({ toolCallId: 'toolu_a1' });
  });

  it('at full fidelity the events hold the whole input and output', async () => {
    const agent = createReplayAgent({ path: join(fixtures, 'tools-and-thinking.jsonl') });
    const { events } = await runAgent(agent, { fidelity: 'full' });
    expect(ofType(events, 'agent:tool_call')[0]?.data.input).toEqual({
      command: 'echo hello > a.txt; cat a.txt',
      description: 'write a file',
    });
    expect(ofType(events, 'agent:tool_result')[0]?.data).toMatchObject({
      output: 'hello',
      details: { tool_use_result: { stdout: 'hello' } },
    });
  });
});

describe('a sub-agent', () => {
  it('is created once, before its first event, by the tool call', async () => {
    const { events } = await replay('subagent');
    const created = ofType(events, 'agent:created');
    const call = ofType(events, 'agent:tool_call')[0];
    expect(created).toMatchObject([
      { agentId: 'a9edea29f5d808ef8', cause: call?.id, data: { name: 'tester' } },
    ]);
    const own = events.filter(({ agentId }) => agentId === 'a9edea29f5d808ef8');
    expect(own[0]?.type).toBe('agent:created');
    expect(ofType(own, 'agent:text').map(({ data }) => data.text)).toEqual([
      'Checking.',
      'a.txt has 6 bytes.',
    ]);
    expect(ofType(own, 'agent:inference').map(({ messageId }) => messageId)).toEqual(['msg_6', 'msg_7']);
  });

  it('a second turn adds to the totals; its repeated init is not an event', async () => {
    const { events } = await replay('subagent');
    expect(ofType(events, 'session:init')).toHaveLength(1);
    const ends = ofType(events, 'session:complete').map(({ data }) => data);
    expect(ends).toMatchObject([
      { status: 'completed', costUsd: 0.0018000000000000002, turns: 2, durationMs: 257 },
      { status: 'completed', costUsd: 0.003, turns: 3, durationMs: 306 },
    ]);
    expect(ends[1]?.usage).toMatchObject({ inputTokens: 500, outputTokens: 100 });
  });

  it('the result of the call that made it names the agent', async () => {
    const { events } = await replay('subagent');
    const made = ofType(events, 'agent:tool_result').find(({ data }) => data.toolCallId === 'toolu_m1');
    expect(made?.agentId).toBeUndefined();
    expect(made?.data.metadata).toMatchObject({ agentId: 'a9edea29f5d808ef8', outcome: 'async_launched' });
  });
});

describe('a denial by a hook', () => {
  it('is one decision with its reason, caused by the call, and an error of the tool', async () => {
    const { events } = await replay('hook-deny');
    const call = ofType(events, 'agent:tool_call')[0];
    expect(ofType(events, 'harness:hook_decision')).toMatchObject([
      {
        cause: call?.id,
        data: {
          hook: 'PreToolUse:Bash',
          on: 'tool_call',
          decision: 'deny',
          reason: 'deleting is not allowed here',
          toolCallId: 'toolu_h1',
        },
      },
    ]);
    expect(ofType(events, 'agent:tool_result').map(({ data }) => data.status)).toEqual([
      'error',
      'completed',
    ]);
    expect(dataOf(events, 'session:complete').status).toBe('completed');
  });
});

describe('the end of a run', () => {
  it('has the structured result', async () => {
    const { events } = await replay('structured-output');
    expect(dataOf(events, 'session:complete')).toMatchObject({
      status: 'completed',
      structuredResult: { verdict: 'pass' },
      costUsd: 0.0006000000000000001,
    });
  });

  it('has failed where an API error ended it, although its subtype is success', async () => {
    const { events } = await replay('api-error');
    expect(dataOf(events, 'session:complete')).toMatchObject({
      status: 'failed',
      reason: 'api_error',
      costUsd: 0,
      errors: [expect.stringContaining('529 Overloaded')],
    });
    expect(ofType(events, 'system:api_retry').map(({ data }) => data.attempt)).toEqual([1, 2]);
    expect(dataOf(events, 'agent:text').details).toMatchObject({
      error: 'server_error',
      api_error_status: 529,
    });
  });
});

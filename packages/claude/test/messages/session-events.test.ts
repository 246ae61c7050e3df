import type { JsonObject } from '@hansard/events';
import { renderCalls } from '@hansard/prompt';
import { describe, expect, it } from 'vitest';
import { assistant, dataOf, mapMessages, ofType, result, toolResult, toolUse, user } from './mapped.ts';

const init = (fields: JsonObject = {}): JsonObject => ({
  type: 'system',
  subtype: 'init',
  session_id: 's1',
  model: 'claude-test',
  cwd: '/w',
  tools: ['Bash'],
  ...fields,
});

describe('session:init', () => {
  it('is recorded once per session; an equal one is dropped, a different one becomes a status with the changed fields', () => {
    const { events } = mapMessages([
      init({ uuid: 'u1' }),
      init({ uuid: 'u2' }),
      init({ uuid: 'u3', model: 'claude-other' }),
      init({ uuid: 'u4', session_id: 's2' }),
    ]);
    expect(events.map(({ id, type }) => [id, type])).toEqual([
      ['u1', 'session:init'],
      ['u3', 'session:status'],
      ['u4', 'session:init'],
    ]);
    expect(events[1]?.data).toEqual({ changed: { model: 'claude-other' } });
  });
});

describe('session:complete', () => {
  const outcomes: readonly [JsonObject, JsonObject][] = [
    [{}, { status: 'completed' }],
    [
      { subtype: 'error_max_turns', is_error: true },
      { status: 'aborted', reason: 'error_max_turns' },
    ],
    [{ subtype: 'error_max_budget_usd' }, { status: 'aborted', reason: 'error_max_budget_usd' }],
    [
      { subtype: 'error_during_execution', errors: ['a'] },
      { status: 'failed', reason: 'error_during_execution', errors: ['a'] },
    ],
    [
      { subtype: 'error_during_execution', terminal_reason: 'aborted_tools' },
      { status: 'aborted', reason: 'aborted_tools' },
    ],
    [
      { is_error: true, terminal_reason: 'api_error' },
      { status: 'failed', reason: 'api_error', errors: ['done'] },
    ],
    [{ is_error: true }, { status: 'failed', reason: 'error', errors: ['done'] }],
  ];
  it.each(outcomes)('%j ends as %j', (fields, expected) => {
    expect(dataOf(mapMessages([result(fields)]).events, 'session:complete')).toMatchObject(expected);
  });

  it('cost and model usage are cumulative in the source, duration and turns are added up', () => {
    const usage = (inputTokens: number) => ({
      modelUsage: { a: { inputTokens, outputTokens: 1 }, b: { inputTokens: 1, outputTokens: 0 } },
    });
    const { events } = mapMessages([
      result({ total_cost_usd: 0.0103129, ...usage(10) }),
      result({ total_cost_usd: 0.0103129, ...usage(10), num_turns: 0 }),
      result({ total_cost_usd: 0.0123081, ...usage(15) }),
    ]);
    expect(ofType(events, 'session:complete').at(-1)?.data).toMatchObject({
      costUsd: 0.0123081,
      usage: { inputTokens: 16, outputTokens: 1 },
      durationMs: 300,
      turns: 2,
    });
  });

  it('another process that resumes the session counts from zero, and the totals continue', () => {
    const { events } = mapMessages([
      result({ total_cost_usd: 0.5, modelUsage: { a: { inputTokens: 100, outputTokens: 10 } } }),
      result({ total_cost_usd: 0.25, modelUsage: { a: { inputTokens: 30, outputTokens: 20 } } }),
    ]);
    expect(ofType(events, 'session:complete').at(-1)?.data).toMatchObject({
      costUsd: 0.75,
      usage: { inputTokens: 130, outputTokens: 30 },
    });
  });

  it('without model usage, the usage of the results is added up', () => {
    const { events } = mapMessages([result(), result({ modelUsage: undefined as never })]);
    expect(ofType(events, 'session:complete').at(-1)?.data.usage).toMatchObject({
      inputTokens: 20,
      outputTokens: 4,
    });
  });

  it('the parts of a usage are counted that results give, and no others', () => {
    const parts = (webSearchRequests: number, thinkingTokens: number) => ({
      inputTokens: 100,
      outputTokens: 10,
      cacheCreationInputTokens: 9,
      cacheCreationEphemeral5mInputTokens: 2,
      cacheCreationEphemeral1hInputTokens: 7,
      webSearchRequests,
      thinkingTokens,
      costUSD: 1,
    });
    const { events } = mapMessages([
      result({ modelUsage: { a: parts(1, 3) } }),
      // Another process continues: its figures begin at zero.
      result({
        modelUsage: { a: { ...parts(4, 2), inputTokens: 5 }, b: { inputTokens: 1, outputTokens: 1 } },
      }),
    ]);
    expect(ofType(events, 'session:complete').at(-1)?.data.models).toEqual([
      {
        model: 'a',
        inputTokens: 105,
        outputTokens: 20,
        cacheReadTokens: 0,
        cacheWriteTokens: 18,
        cacheWrite5mTokens: 4,
        cacheWrite1hTokens: 14,
        reasoningTokens: 5,
        webSearchRequests: 5,
        costUsd: 2,
      },
      expect.objectContaining({ model: 'b', inputTokens: 1, webSearchRequests: 0 }),
    ]);
    const turn = {
      input_tokens: 3,
      output_tokens: 2,
      cache_creation_input_tokens: 8,
      cache_creation: { ephemeral_1h_input_tokens: 8 },
    };
    const added = mapMessages([result({ usage: turn }), result({ usage: turn })]).events;
    expect(ofType(added, 'session:complete').at(-1)?.data.usage).toEqual({
      inputTokens: 6,
      outputTokens: 4,
      cacheReadTokens: 0,
      cacheWriteTokens: 16,
      cacheWrite1hTokens: 16,
    });
  });

  it('a sum above the largest number of an event stays there', () => {
    const inputTokens = Number.MAX_SAFE_INTEGER - 1;
    const most = { total_cost_usd: Number.MAX_VALUE, duration_ms: Number.MAX_VALUE, num_turns: inputTokens };
    const modelUsage = { a: { inputTokens }, b: { inputTokens, costUSD: 1 } };
    const { events } = mapMessages([
      result({ ...most, modelUsage }),
      result({ ...most, modelUsage: { a: { inputTokens: 7 } } }),
    ]);
    expect(ofType(events, 'session:complete').at(-1)?.data).toMatchObject({
      costUsd: Number.MAX_VALUE,
      durationMs: Number.MAX_VALUE,
      turns: Number.MAX_SAFE_INTEGER,
      usage: { inputTokens: Number.MAX_SAFE_INTEGER },
      models: [{ inputTokens: Number.MAX_SAFE_INTEGER }, { inputTokens, costUsd: 1 }],
    });
  });

  it('invalid figures are kept but not counted', () => {
    const { events } = mapMessages([result({ total_cost_usd: -1, num_turns: 'many', usage: null })]);
    const data = dataOf(events, 'session:complete');
    expect(data).not.toHaveProperty('costUsd');
    expect(data).not.toHaveProperty('usage');
    expect(data.details).toMatchObject({ total_cost_usd: -1, num_turns: 'many' });
  });
});

describe('denials', () => {
  const denials = {
    permission_denials: [{ tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'CANARY' } }],
  };
  const call = assistant([toolUse('t1', 'Bash', { command: 'x' })], { uuid: 'u1' });

  it('one that only the result reports is a decision, caused by the call', () => {
    const { events } = mapMessages([call, user([toolResult('t1', 'not allowed', true)]), result(denials)]);
    expect(ofType(events, 'harness:hook_decision')).toMatchObject([
      {
        id: 't1:denied',
        cause: 'u1',
        data: {
          hook: 'permission',
          decision: 'deny',
          toolCallId: 't1',
          subject: 'u1',
          details: { tool: 'Bash' },
        },
      },
    ]);
    expect(JSON.stringify(events)).not.toContain('CANARY');
  });

  it('one that three messages report is one decision', () => {
    const told = {
      type: 'system',
      subtype: 'permission_denied',
      uuid: 'u2',
      tool_name: 'Bash',
      tool_use_id: 't1',
      decision_reason: 'a rule',
      message: 'no',
    };
    const meta = {
      tool_result_meta: [{ id: 't1', permission_decision: { decision: 'reject', source: 'config' } }],
    };
    const { events } = mapMessages([call, told, user([toolResult('t1', 'no', true)], meta), result(denials)]);
    expect(ofType(events, 'harness:hook_decision')).toMatchObject([
      {
        id: 'u2',
        cause: 'u1',
        data: { reason: 'a rule', subject: 'u1', details: { tool_name: 'Bash', message: 'no' } },
      },
    ]);
  });

  it('a refused permission is distinguished from a hook', () => {
    const meta = {
      tool_result_meta: [{ id: 't1', permission_decision: { decision: 'reject', source: 'user' } }],
    };
    const { events } = mapMessages([call, user([toolResult('t1', 'the user said no', true)], meta)]);
    expect(dataOf(events, 'harness:hook_decision')).toMatchObject({
      hook: 'permission',
      reason: 'the user said no',
    });
  });

  it('an allowed call has no decision', () => {
    const meta = {
      tool_result_meta: [{ id: 't1', permission_decision: { decision: 'accept', source: 'hook' } }],
    };
    const { events } = mapMessages([call, user([toolResult('t1', 'x')], meta)]);
    expect(ofType(events, 'harness:hook_decision')).toEqual([]);
    expect(dataOf(events, 'agent:tool_result').details).toEqual({
      permission_decision: { decision: 'accept', source: 'hook' },
    });
  });
});

describe('session:compaction', () => {
  it('names the first kept event, if that is in the stream', () => {
    const compact_metadata = {
      trigger: 'manual',
      pre_tokens: 900,
      post_tokens: 50,
      duration_ms: 3,
      preserved_segment: { head_uuid: 'u1' },
    };
    const { events } = mapMessages([
      user('hi', { uuid: 'u1' }),
      {
        type: 'system',
        subtype: 'compact_boundary',

        compact_metadata,
        logical_parent_uuid: 'u0',
      },
    ]);
    expect(dataOf(events, 'session:compaction')).toEqual({
      trigger: 'manual',
      preTokens: 900,
      postTokens: 50,
      keptFrom: 'u1',
      details: { logical_parent_uuid: 'u0', duration_ms: 3, preserved_segment: { head_uuid: 'u1' } },
    });
  });
});

describe('the summary of a compaction', () => {
  const boundary = (anchor_uuid: string): JsonObject => ({
    type: 'system',
    subtype: 'compact_boundary',
    uuid: 'boundary',
    compact_metadata: {
      trigger: 'auto',
      pre_tokens: 900,
      preserved_messages: { anchor_uuid, uuids: ['u2'] },
    },
  });
  const around = (anchor: string, more: JsonObject[] = []) =>
    mapMessages([
      user('one', { uuid: 'u1' }),
      user('two', { uuid: 'u2' }),
      boundary(anchor),
      ...more,
      user('Before: one.', { uuid: 'summary', isSynthetic: true }),
      user('three', { uuid: 'u3' }),
    ]).events.slice(2);

  it('is the message that the boundary names, wherever it comes', () => {
    for (const more of [[], [user('meanwhile', { uuid: 'other' })]]) {
      const events = around('summary', more);
      expect(events.map(({ id, type }) => [id, type])).toEqual([
        ['boundary', 'session:compaction'],
        ...more.map(({ uuid }) => [uuid, 'user:message']),
        ['summary', 'session:compaction'],
        ['u3', 'user:message'],
      ]);
      const summary = events.find(({ id }) => id === 'summary');
      expect(summary?.cause).toBe('boundary');
      expect(summary?.data).toMatchObject({ trigger: 'auto', keptFrom: 'u2', summary: 'Before: one.' });
      expect(summary?.data).not.toHaveProperty('preTokens');
    }
  });

  it('replaces in the prompt what came before the kept messages', () => {
    const events = mapMessages([
      user('one', { uuid: 'u1' }),
      user('two', { uuid: 'u2' }),
      boundary('summary'),
      user('Before: one.', { uuid: 'summary', isSynthetic: true }),
      assistant([{ type: 'text', text: 'Three.' }]),
    ]).events;
    const [call] = [...renderCalls(events)];
    expect(call?.messages.map(({ text }) => text)).toEqual(['Before: one.', 'two']);
  });

  it('is not guessed where the boundary names itself or no message', () => {
    for (const anchor of ['boundary', 'elsewhere']) {
      const types = around(anchor).map(({ type }) => type);
      expect(types).toEqual(['session:compaction', 'user:message', 'user:message']);
    }
  });
});

describe('times', () => {
  it('a message has its own time, in UTC with milliseconds, or else the time of its arrival', () => {
    const { events } = mapMessages([
      user('a', { timestamp: '2026-03-01T10:00:00+02:00' }),
      user('b'),
      user('c', { timestamp: 'yesterday' }),
    ]);
    expect(events.map(({ timestamp }) => timestamp)).toEqual([
      '2026-03-01T08:00:00.000Z',
      '2026-03-01T09:30:01.000Z',
      '2026-03-01T09:30:02.000Z',
    ]);
    expect(events[2]?.data.details).toEqual({ timestamp: 'yesterday' });
  });

  it('a result that seems older than its call has a duration of 0', () => {
    const { events } = mapMessages([
      assistant([toolUse('t1', 'Bash')], { timestamp: '2026-03-01T10:00:00.500Z' }),
      user([toolResult('t1', 'x')], { timestamp: '2026-03-01T10:00:00.000Z' }),
    ]);
    expect(dataOf(events, 'agent:tool_result').durationMs).toBe(0);
  });
});

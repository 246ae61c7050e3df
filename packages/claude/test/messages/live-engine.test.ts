import type { CapturedEvent, JsonObject } from '@hansard/events';
import { createLogIndex, dialogOf, knownBy } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { createClaudeMapping } from '../../src/index.ts';
import { assistant, mapMessages, ofType, recorded, result, toolResult, toolUse, user } from './mapped.ts';

const call = assistant([toolUse('t1', 'Agent', { subagent_type: 'tester' })], { uuid: 'u1' });

function inside(content: unknown, uuid: string): JsonObject {
  return assistant(content, { uuid, parent_tool_use_id: 't1', agent_id: 'a1' }, { id: `msg_${uuid}` });
}

function answered(text: string, output: JsonObject = {}, isError = false): JsonObject {
  const fields = { uuid: 'r1', tool_use_result: { status: 'completed', agentId: 'a1', ...output } };
  return user([toolResult('t1', text, isError)], fields);
}

function resultOf(messages: readonly JsonObject[]): CapturedEvent | undefined {
  return ofType(mapMessages(messages).events, 'agent:tool_result').at(-1);
}

const said = inside([{ type: 'text', text: 'All\nis well.' }], 's1');

describe('the answer of a sub-agent', () => {
  it('is the substance of the result of its call, even with text around it', () => {
    expect(resultOf([call, said, answered('Report: All\nis well.')])?.substance).toBe('s1');
    const output = { content: [{ type: 'text', text: 'All\nis well.' }] };
    const indented = answered('Report:\n  All\n  is well.', output);
    expect(resultOf([call, said, indented])?.substance).toBe('s1');
  });

  it('is the cause of a result with other words', () => {
    const other = resultOf([call, said, answered('It is fine.')]);
    expect(other?.cause).toEqual(['s1']);
    expect(other).not.toHaveProperty('substance');
  });

  it('is not linked if the sub-agent then used a tool, failed or only started', () => {
    const wentOn = inside([toolUse('t2', 'Bash', { command: 'x' })], 's2');
    const unlinked = [
      resultOf([call, said, wentOn, answered('All\nis well.')]),
      resultOf([call, said, answered('All\nis well.', {}, true)]),
      resultOf([call, said, answered('All\nis well.', { status: 'async_launched' })]),
      resultOf([call, answered('All\nis well.')]),
    ];
    for (const event of unlinked) {
      expect(event?.type).toBe('agent:tool_result');
      expect(event).not.toHaveProperty('substance');
      expect(event).not.toHaveProperty('cause');
    }
  });

  it('reaches its caller by a notification if it worked in the background', () => {
    const launched = answered('launched', { status: 'async_launched' });
    const ended = {
      type: 'system',
      subtype: 'task_notification',
      uuid: 'n1',
      task_id: 'a1',
      tool_use_id: 't1',
      status: 'completed',
      summary: 'All\nis well.',
      summary_is_report: true,
    };
    const { events } = mapMessages([call, launched, said, ended]);
    const [heard, ...others] = ofType(events, 'user:message');
    expect(others).toEqual([]);
    expect(heard).toMatchObject({
      id: 'n1.1',
      type: 'user:message',
      substance: 's1',
      data: { text: 'All\nis well.', source: { kind: 'agent', agentId: 'a1' } },
    });
    expect(heard).not.toHaveProperty('agentId');
    expect(ofType(events, 'system:task_notification')).toHaveLength(1);
    const row = dialogOf(createLogIndex(events)).find(({ id }) => id === 's1');
    expect(row?.audience).toMatchObject([{ agentId: '', how: 'same' }]);
    for (const other of [{ summary_is_report: false }, { summary: 'It ended.' }]) {
      const quiet = mapMessages([call, launched, said, { ...ended, ...other }]).events;
      expect(ofType(quiet, 'user:message')).toEqual([]);
    }
  });

  it('was heard by its caller, according to the views', () => {
    const { events } = mapMessages([call, said, answered('Report: All\nis well.')], 'full');
    const index = createLogIndex(events);
    const row = dialogOf(index).find(({ id }) => id === 's1');
    expect(row?.audience).toMatchObject([{ agentId: '', how: 'wrapped' }]);
    expect(knownBy(index, '').map(({ id }) => id)).toContain('r1');
  });
});

describe('facts about a call from outside the stream', () => {
  const made = assistant([toolUse('t1', 'mcp__hansard__ask', {})], { uuid: 'u1' });

  function afterNote(
    note: (mapping: ReturnType<typeof createClaudeMapping>) => void,
    messages: readonly JsonObject[],
  ): CapturedEvent[] {
    const mapping = createClaudeMapping({ fidelity: 'narrative', now: () => 0 });
    const before = mapping.map(made);
    note(mapping);
    return recorded([...before, ...messages.flatMap((message) => mapping.map(message))]).events;
  }

  it('an outcome adds its metadata and links to the result', () => {
    const one = afterNote(
      (m) => m.noteOutcome('t1', { metadata: { hits: 2 }, madeFrom: ['x'] }),
      [user([toolResult('t1', 'ok')])],
    ).at(-1);
    expect(one).toMatchObject({ substance: 'x', data: { metadata: { server: 'hansard', hits: 2 } } });
    const several = afterNote(
      (m) => m.noteOutcome('t1', { madeFrom: ['x', 'y'] }),
      [user([toolResult('t1', 'ok')])],
    ).at(-1);
    expect(several?.cause).toEqual(['x', 'y']);
    expect(several).not.toHaveProperty('substance');
  });

  it('a denial that is already recorded is not recorded again from any message', () => {
    const denied = user([toolResult('t1', 'PreToolUse:mcp__hansard__ask hook error: no', true)]);
    const end = result({ permission_denials: [{ tool_name: 'x', tool_use_id: 't1', tool_input: {} }] });
    expect(
      ofType(
        afterNote(() => {}, [denied, end]),
        'harness:hook_decision',
      ),
    ).toHaveLength(1);
    expect(
      ofType(
        afterNote((m) => m.noteDenied('t1'), [denied, end]),
        'harness:hook_decision',
      ),
    ).toEqual([]);
  });
});

describe('a live engine', () => {
  it('an interruption comes from the system, although it is written in the name of the user', () => {
    const { events } = mapMessages([user('[Request interrupted by user for tool use]'), user('Stop.')]);
    expect(ofType(events, 'user:message').map(({ data }) => data.source)).toEqual([
      { kind: 'system' },
      { kind: 'user' },
    ]);
  });

  it('the earlier spending of a resumed session is not in the totals of this stream', () => {
    const model = (inputTokens: number, costUSD: number) => ({
      m: { inputTokens, outputTokens: 1, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD },
    });
    const { events } = mapMessages([
      result({
        total_cost_usd: 5,
        modelUsage: { m: { ...model(1_000, 5).m, outputTokens: 11 } },
        model_usage_since_last_result: model(100, 1),
      }),
      result({
        total_cost_usd: 7,
        modelUsage: { m: { ...model(1_300, 7).m, outputTokens: 12 } },
        model_usage_since_last_result: model(300, 2),
      }),
    ]);
    const used = (inputTokens: number, outputTokens: number) => ({
      inputTokens,
      outputTokens,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
    const totals = ofType(events, 'session:complete').map(({ data }) => [
      data.costUsd,
      data.usage,
      data.models,
    ]);
    expect(totals).toEqual([
      [1, used(100, 1), [{ model: 'm', ...used(100, 1), costUsd: 1 }]],
      [3, used(400, 2), [{ model: 'm', ...used(400, 2), costUsd: 3 }]],
    ]);
  });

  it('a resumed session that ends before its first model call has spent nothing', () => {
    const modelUsage = { m: { inputTokens: 1_000, outputTokens: 10, costUSD: 5 } };
    const { events } = mapMessages([
      result({ total_cost_usd: 5, modelUsage, model_usage_since_last_result: {} }),
    ]);
    const [complete] = ofType(events, 'session:complete');
    expect(complete?.data).toMatchObject({ costUsd: 0, usage: { inputTokens: 0, outputTokens: 0 } });
    expect(complete?.data).not.toHaveProperty('models');
  });
});

describe('what each model of an engine cost', () => {
  const used = (inputTokens: number, costUSD?: number) => ({
    inputTokens,
    outputTokens: 1,
    cacheReadInputTokens: 7,
    ...(costUSD === undefined ? {} : { costUSD }),
  });
  const modelsOf = (...results: readonly JsonObject[]) =>
    ofType(mapMessages(results.map((one) => result(one))).events, 'session:complete').at(-1)?.data.models;
  const stated = (model: string, inputTokens: number, outputTokens: number, costUsd?: number) => ({
    model,
    inputTokens,
    outputTokens,
    cacheReadTokens: outputTokens * 7,
    cacheWriteTokens: 0,
    ...(costUsd === undefined ? {} : { costUsd }),
  });

  it('is stated for every model, over all processes of the stream', () => {
    const both = { total_cost_usd: 3, modelUsage: { large: used(100, 2), small: used(10, 1) } };
    const restarted = { total_cost_usd: 0.5, modelUsage: { small: used(20, 0.5) } };
    expect(modelsOf(both)).toEqual([stated('large', 100, 1, 2), stated('small', 10, 1, 1)]);
    expect(modelsOf(both, restarted)).toEqual([stated('large', 100, 1, 2), stated('small', 30, 2, 1.5)]);
  });

  it('has the name that the messages of the model have, whatever its context window', () => {
    const modelUsage = { 'm[1m]': used(100, 2), m: used(10, 1) };
    expect(modelsOf({ total_cost_usd: 3, modelUsage })).toEqual([stated('m', 110, 2, 3)]);
  });

  it('is left out where the source states none, and for all if a result has usage without a model', () => {
    expect(modelsOf({ modelUsage: { a: used(100), b: used(10, 1) } })).toEqual([
      stated('a', 100, 1),
      stated('b', 10, 1, 1),
    ]);
    expect(modelsOf({ modelUsage: { a: used(100, 1) } }, { modelUsage: {} })).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { createClaudeMapping } from '../../src/index.ts';
import {
  assistant,
  mapMessages,
  ofType,
  recorded,
  result,
  start,
  toolResult,
  toolUse,
  user,
} from './mapped.ts';

const text = (value: string) => [{ type: 'text', text: value }];
const stream = (event: object, fields = {}) => ({
  type: 'stream_event',
  event,
  parent_tool_use_id: null,
  session_id: 's1',
  ...fields,
});
const begin = (id: string) =>
  stream({
    type: 'message_start',
    message: { id, model: 'claude-test', usage: { input_tokens: 10, output_tokens: 1 } },
  });
const finalUsage = stream({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 99 },
});

function inferences(messages: readonly unknown[]) {
  return ofType(mapMessages(messages).events, 'agent:inference');
}

describe('agent:inference', () => {
  it('is recorded once per message, with the usage of its last line', () => {
    const lines = [3, 5, 8].map((output_tokens) =>
      assistant(text('x'), {}, { usage: { input_tokens: 1, output_tokens } }),
    );
    expect(inferences([...lines, result()]).map(({ data }) => data.usage)).toEqual([
      { inputTokens: 1, outputTokens: 8 },
    ]);
  });

  it('a tool that answers between two lines of a message does not count it twice', () => {
    const found = inferences([
      assistant([toolUse('t1', 'Bash')]),
      user([toolResult('t1', 'x')]),
      assistant([toolUse('t2', 'Bash')]),
      user([toolResult('t2', 'x')]),
      assistant(text('y'), {}, { id: 'msg_2' }),
    ]);
    expect(found.map(({ id }) => id)).toEqual(['msg_1:inference', 'msg_2:inference']);
  });

  it('a message that continues after others does not count twice', () => {
    const found = inferences([
      assistant(text('a')),
      assistant(text('b'), {}, { id: 'msg_2' }),
      assistant(text('c')),
    ]);
    expect(found.map(({ messageId }) => messageId)).toEqual(['msg_1', 'msg_2']);
  });

  it('the final figures of the stream replace those of the lines', () => {
    const [found] = inferences([
      begin('msg_1'),
      finalUsage,
      assistant(text('a')),
      stream({ type: 'message_stop' }),
    ]);
    expect(found?.data).toMatchObject({
      usage: { inputTokens: 10, outputTokens: 99 },
      stopReason: 'end_turn',
    });
  });

  it('the usage of a truncated stream is recorded', () => {
    const mapping = createClaudeMapping({ fidelity: 'narrative', now: () => start });
    mapping.map(begin('msg_1'));
    expect(recorded(mapping.finish()).events).toMatchObject([
      { type: 'agent:inference', data: { usage: { inputTokens: 10, outputTokens: 1 } } },
    ]);
    expect(mapping.finish()).toEqual([]);
  });

  it('pieces of a stream are never events; when the message is over, its usage is recorded at once', () => {
    const mapping = createClaudeMapping({ fidelity: 'narrative', now: () => start });
    const typesOf = (piece: unknown) =>
      mapping.map(piece).map((activity) => (activity.kind === 'event' ? activity.event.type : activity.kind));
    expect([begin('msg_1'), finalUsage].flatMap(typesOf)).toEqual([]);
    expect(typesOf(stream({ type: 'message_stop' }))).toEqual(['agent:inference']);
    expect([begin('msg_2'), stream({ type: 'error' })].flatMap(typesOf)).toEqual([]);
  });

  it('sub-agents and the dispatched agent have separate inferences at the same time', () => {
    const inner = { parent_tool_use_id: 't1' };
    const found = inferences([
      assistant(text('a')),
      assistant(text('b'), inner, { id: 'msg_2' }),
      assistant(text('c')),
      assistant(text('d'), inner, { id: 'msg_2' }),
      result(),
    ]);
    expect(found.map(({ agentId, messageId }) => [agentId, messageId])).toEqual([
      [undefined, 'msg_1'],
      ['agent-t1', 'msg_2'],
    ]);
  });

  it('a message without usage has no inference', () => {
    const { events } = mapMessages([assistant(text('a'), {}, { usage: null, stop_reason: 'end_turn' })]);
    expect(events.map(({ type }) => type)).toEqual(['agent:text']);
    expect(events[0]?.data.details).toEqual({ model: 'claude-test', stop_reason: 'end_turn' });
  });

  it('deltas name the sub-agent, the message and the tool call that they belong to', () => {
    const { deltas } = mapMessages([
      stream({ type: 'message_start', message: { id: 'msg_1' } }, { parent_tool_use_id: 't1' }),
      stream(
        { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't9' } },
        { parent_tool_use_id: 't1' },
      ),
      stream(
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{' } },
        { parent_tool_use_id: 't1' },
      ),
      stream({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'hi' } }),
    ]);
    expect(deltas).toEqual([
      { type: 'delta:tool_input', text: '{', agentId: 'agent-t1', messageId: 'msg_1', toolCallId: 't9' },
      { type: 'delta:text', text: 'hi' },
    ]);
  });
});

import type { CapturedEvent } from '@hansard/events';
import { text } from './sample-events.ts';

const begin = Date.parse('2026-03-01T09:30:00.000Z');

/** The five events of a turn: a message, the agent's text and tool call, the usage, and the tool result. */
export function sampleTurn(turn: number): CapturedEvent[] {
  const id = (place: number) => `01JM${String(turn * 5 + place).padStart(22, '0')}`;
  const timestamp = (place: number) => new Date(begin + turn * 1_000 + place * 100).toISOString();
  const messageId = id(1);
  const toolCallId = `call_${turn}`;
  const tool = { toolCallId, tool: 'Read', target: '/src/route.ts', metadata: {} };
  const usage = { inputTokens: 1_200, outputTokens: 80, cacheReadTokens: 900 };
  const data: [CapturedEvent['type'], CapturedEvent['data'], object][] = [
    ['user:message', { text, source: { kind: 'user' } }, {}],
    ['agent:text', { text }, { messageId }],
    ['agent:tool_call', { ...tool, input: { path: '/src/route.ts' } }, { messageId }],
    ['agent:inference', { model: 'model-a', durationMs: 250, usage }, { messageId }],
    ['agent:tool_result', { ...tool, status: 'completed', output: text }, { cause: id(2) }],
  ];
  return data.map(([type, fields, links], place) => ({
    id: id(place),
    type,
    timestamp: timestamp(place),
    ...links,
    data: fields,
  }));
}

import type { JsonValue } from '@hansard/events';
import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { renderContext } from '../../src/index.ts';
import { heard } from './make-agent-log.ts';

const whose = { messageId: 'm1' };

function answered(toolCallId: string, output: JsonValue, links: object) {
  const call = { toolCallId, tool: 'search', metadata: {} };
  return [
    event('agent:tool_call', { ...call, input: {} }, whose),
    event('agent:tool_result', { ...call, status: 'completed', output }, links),
  ];
}

const shownAs = (output: JsonValue) =>
  renderContext([heard('Go'), ...answered('c1', output, {})]).messages.at(-1)?.text;

describe('a result within a message of the model', () => {
  it('comes before the rest of the message, which the model wrote after it', () => {
    const events = [
      heard('Go'),
      event('agent:text', { text: 'Let me see.' }, whose),
      ...answered('c1', 'one', whose),
      ...answered('c2', 'two', whose),
      event('agent:text', { text: 'Done.' }, whose),
    ];
    const { messages } = renderContext(events);
    expect(messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: Go',
      'assistant: Let me see.',
      'tool: one',
      'assistant: ',
      'tool: two',
      'assistant: Done.',
    ]);
  });

  it('does not divide the message if it is a result of another program', () => {
    const events = [heard('Go'), ...answered('c1', 'one', {}), ...answered('c2', 'two', { messageId: 'm2' })];
    const { messages } = renderContext(events);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
  });
});

describe('a result with encoded bytes', () => {
  const eight = 'iVBORw0KGgo=';

  it.each<[string, JsonValue, string]>([
    [
      'a block of an image',
      [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: eight } }],
      '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"[8 bytes]"}}]',
    ],
    [
      'a block of MCP',
      { content: [{ type: 'audio', data: eight, mimeType: 'audio/wav' }] },
      '{"content":[{"type":"audio","data":"[8 bytes]","mimeType":"audio/wav"}]}',
    ],
    ['a resource of MCP', { uri: 'a:b', blob: eight }, '{"uri":"a:b","blob":"[8 bytes]"}'],
    ['an encrypted result', [{ encrypted_content: eight }], '[{"encrypted_content":"[8 bytes]"}]'],
  ])('shows %s with the number of its bytes', (_, output, text) => {
    expect(shownAs(output)).toBe(text);
  });

  it.each<[string, JsonValue]>([
    ['data that are no file', { type: 'point', data: eight }],
    ['an image by its address', [{ type: 'image', source: { type: 'url', url: 'https://example.org/' } }]],
    ['a list', [1, 'two', null, { three: [true] }]],
  ])('shows %s as it is', (_, output) => {
    expect(shownAs(output)).toBe(JSON.stringify(output));
  });
});

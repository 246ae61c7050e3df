import type { JsonObject } from '@hansard/events';
import { createContextRenderer, type TranscriptMessage, takeApart } from '@hansard/prompt';
import { anyEvent } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { renderContextText } from '../../src/index.ts';

const messages: readonly TranscriptMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'long ago' },
  { role: 'user', content: 'Look \u001b[31mthere' },
  {
    role: 'assistant',
    content: null,
    toolCalls: [{ toolCallId: 'c1', tool: 'look', input: { at: 'table' } }],
  },
  { role: 'tool', toolCallId: 'c1', content: 'A cup.', isError: true },
];

describe('a context as text', () => {
  it('shows its manifest, then each message, without control characters', () => {
    const renderer = createContextRenderer({
      policy: { name: 'lastMessages', count: 3 },
      tokens: { id: 'words', count: (text) => text.split(' ').length },
    });
    const events = messages.flatMap((message, place) =>
      takeApart(message, { id: `m${place}`, agentId: 'a' }),
    );
    for (const { type, data, ...links } of events)
      renderer.observe(anyEvent(type, data as JsonObject, links));
    const text = renderContextText(renderer.render());
    expect(text).toMatch(/^policy {3}lastMessages, count 3\nprompt {3}5 messages, \d+ tokens \(words\)\n/);
    expect(text).toContain('omitted  1 earlier messages');
    expect(text).toContain('── user\nLook ␛[31mthere');
    expect(text).toContain('── assistant\ncalls look (c1) {"at":"table"}');
    expect(text).toContain('── result of look (c1), error\nA cup.');
  });
});

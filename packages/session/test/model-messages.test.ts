import { describe, expect, it } from 'vitest';
import { modelMessages } from '../src/model-messages.ts';

const call = (toolCallId: string) => ({ toolCallId, tool: 'look', input: {} });
const asks = (...ids: string[]) => ({ role: 'assistant', content: null, toolCalls: ids.map(call) }) as const;
const result = (toolCallId: string, content: string) =>
  ({ role: 'tool', toolCallId, content, tool: 'look' }) as const;
const read = (toolCallId: string, text: string, isError = false) => ({
  role: 'tool',
  toolCallId,
  tool: 'look',
  text,
  isError,
});

describe('what a model is given', () => {
  it('has each result right behind its call, whatever arrived meanwhile', () => {
    const messages = modelMessages([
      asks('c1', 'c2'),
      { role: 'user', content: 'Meanwhile' },
      result('c2', 'two'),
      result('c1', 'one'),
    ]);
    expect(messages.slice(1)).toEqual([
      read('c1', 'one'),
      read('c2', 'two'),
      { role: 'user', text: 'Meanwhile' },
    ]);
  });

  it('has one result for each call: several are joined, a missing one says that it was interrupted', () => {
    const messages = modelMessages([asks('c1', 'c2'), result('c1', 'one'), result('c1', 'more')]);
    expect(messages.slice(1)).toEqual([
      read('c1', 'one\nmore'),
      read('c2', expect.stringContaining('interrupted') as never, true),
    ]);
  });

  it('has no result without a call, and takes one for the latest call of that id', () => {
    const messages = modelMessages([
      result('c1', 'of nothing'),
      asks('c1'),
      result('c1', 'first'),
      asks('c1'),
      result('c1', 'second'),
    ]);
    expect(messages.filter(({ role }) => role === 'tool')).toEqual([
      read('c1', 'first'),
      read('c1', 'second'),
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { ann, annAlone, type Row, type Talk, write } from './talk.ts';

const whose = { agentId: ann, messageId: 'm1' };

function search(talk: Talk, toolCallId: string, result: string | object): void {
  talk.add(
    'agent:tool_call',
    { toolCallId, tool: 'web_search', input: { query: toolCallId }, metadata: {} },
    whose,
  );
  talk.add(
    'agent:tool_result',
    { toolCallId, tool: 'web_search', status: 'completed', output: result as never, metadata: {} },
    whose,
  );
}

/** One message of the model with two searches that its provider made. */
function searched(result: string | object = 'found'): Talk {
  const talk = annAlone();
  talk.tell(ann, 'Look it up.');
  talk.add('agent:text', { text: 'Let me see.' }, whose);
  search(talk, 's1', result);
  talk.add('agent:thinking', { text: 'Not enough.' }, whose);
  search(talk, 's2', result);
  talk.add('agent:text', { text: 'It is rye.' }, whose);
  talk.add('agent:inference', { model: 'small-1', usage: { inputTokens: 1, outputTokens: 1 } }, whose);
  talk.tell(ann, 'Thanks.');
  talk.say(ann, 'Bye.', { isRecorded: false });
  return talk;
}

const shortly = ({ role, content = '', tool_calls = [] }: Row) =>
  `${role}: ${[content, ...tool_calls.map(({ id, function: { name } }: Row) => id ?? name)].filter((part: string) => part !== '').join(' ')}`;

describe('the result of a tool that the provider called', () => {
  it('follows its call, before the text that the model wrote after it', async () => {
    const { rows, manifest } = await write(searched(), { format: 'openai' });
    expect(rows.map(({ messages }) => messages.map(shortly))).toEqual([
      [
        'system: You are Ann.',
        'user: Look it up.',
        'assistant: Let me see. s1',
        'tool: found',
        'assistant: s2',
        'tool: found',
        'assistant: It is rye.',
        'user: Thanks.',
        'assistant: Bye.',
      ],
    ]);
    expect(manifest.calls.inRows).toBe(4);
    expect(manifest.dropped).toEqual({});
  });

  it('is in the prompt of the rest of the answer, not in its completion', async () => {
    const { rows } = await write(searched(), { format: 'trl' });
    expect(
      rows.map(({ prompt, completion }) => [shortly(prompt.at(-1)), ...completion.map(shortly)]),
    ).toEqual([
      ['user: Look it up.', 'assistant: Let me see. web_search'],
      ['tool: found', 'assistant: web_search'],
      ['tool: found', 'assistant: It is rye.'],
      ['user: Thanks.', 'assistant: Bye.'],
    ]);
  });

  it('is shown without the content that only the provider can read', async () => {
    const encrypted = 'RXFnZkNpb0lBUmdCSWlRM1lUQXdNalkxTWk='.repeat(3);
    const found = {
      type: 'web_search_result',
      title: 'Rye',
      url: 'https://example.org/',
      encrypted_content: encrypted,
    };
    const { rows, manifest } = await write(searched([found]), { format: 'openai' });
    expect(manifest.dropped).toEqual({});
    expect(JSON.parse(rows[0]?.messages[3].content)).toEqual([
      { ...found, encrypted_content: expect.stringMatching(/^\[\d+ bytes\]$/) },
    ]);
  });

  it('belongs to the answer if another program made the call: its calls are one answer', async () => {
    const talk = annAlone();
    talk.tell(ann, 'Look.');
    for (const toolCallId of ['c1', 'c2']) {
      talk.add('agent:tool_call', { toolCallId, tool: 'look', input: {}, metadata: {} }, whose);
      talk.result(ann, toolCallId, 'look', 'seen');
    }
    const { rows } = await write(talk, { format: 'trl' });
    expect(rows.map(({ completion }) => completion.map(shortly))).toEqual([['assistant: look look']]);
  });
});

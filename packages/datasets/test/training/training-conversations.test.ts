import type { ContextPolicy } from '@hansard/prompt';
import { describe, expect, it } from 'vitest';
import { ann, annAlone, type Row, Talk, write } from './talk.ts';

const _prompts = (rows: readonly Row[]) =>
  rows.map(({ prompt }) => prompt.map(({ content }: Row) => content).join(' | '));

describe('a conversation', () => {
  it('ends if another policy rendered the call between, even with equal texts', async () => {
    const talk = annAlone();
    talk.tell(ann, 'Hello?');
    for (const policy of [{ name: 'full' }, { name: 'lastMessages', count: 1 }, { name: 'full' }] as const) {
      talk.tell(ann, 'Well?');
      talk.answer(talk.ask(ann, policy), { text: 'ok' });
    }
    const { rows } = await write(talk, { format: 'openai' });
    expect(rows.map(({ messages }) => messages.map(({ weight }: Row) => weight ?? 1))).toEqual([
      [1, 1, 1, 1],
      [1, 1, 1, 1],
      [1, 1, 1, 0, 1, 0, 1, 1],
    ]);
  });

  it('ends if a discarded call saw a different start of the prompt', async () => {
    const talk = annAlone();
    const faded: ContextPolicy = { name: 'faded', budget: 700, step: 0 };
    talk.tell(ann, 'on and on '.repeat(200));
    talk.answer(talk.ask(ann, faded), { text: 'First' });
    talk.tell(ann, 'further '.repeat(200));
    talk.discard(talk.ask(ann, faded));
    talk.tell(ann, 'Well?');
    talk.answer(talk.ask(ann, faded), { text: 'Second' });
    expect(talk.given[1]?.messages.map(({ text }) => text.slice(0, 5))).toEqual([
      'You a',
      'on an',
      'First',
      'furth',
      'Well?',
    ]);
    expect(talk.given[1]?.messages[1]?.text).toContain('left out');
    const { rows } = await write(talk, { format: 'openai' });
    expect(rows.map(({ messages }) => messages.length)).toEqual([3, 6]);
  });

  it('ends if the previous answer is shortened in the prompt', async () => {
    const faded: ContextPolicy = { name: 'faded', budget: 300, step: 0 };
    const call = { toolCallId: 'c1', tool: 'look', input: { at: 'far away '.repeat(200) } };
    for (const answer of [{ text: 'on and on '.repeat(200) }, { calls: [call] }]) {
      const talk = annAlone();
      talk.tell(ann, 'One');
      talk.answer(talk.ask(ann, faded), answer);
      if (answer.calls !== undefined) talk.result(ann, 'c1', 'look', 'seen');
      talk.tell(ann, 'Two');
      talk.answer(talk.ask(ann, faded), { text: 'Second' });
      expect(JSON.stringify(talk.given[1]?.messages[2])).toContain('left out');
      const { rows } = await write(talk, { format: 'openai' });
      expect(rows).toHaveLength(2);
    }
  });

  it('has its mask if another answer with the same text came between, and loses only itself', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'ok');
    talk.tell(ann, 'Are you there?');
    const between = talk.say(ann, 'ok', { manifest: { rendererVersion: 99 as never } });
    talk.tell(ann, 'Two');
    const second = talk.say(ann, 'Second');
    const chat = await write(talk, { format: 'trl-chat' });
    expect(chat.rows.map(({ messages }) => messages.map(({ train }: Row) => train))).toEqual([
      [false, false, true],
      [false, false, false, false, false, false, true],
    ]);
    expect(chat.rows.at(-1)?.metadata.calls).toEqual([second]);
    expect(chat.manifest.dropped).toEqual({ not_reproducible: { count: 1, first: [between] } });
    expect(chat.manifest.calls).toMatchObject({ of: 3, inRows: 2 });
    const { rows } = await write(talk, { format: 'openai' });
    expect(rows.map(({ messages }) => messages.map(({ weight }: Row) => weight ?? 1))).toEqual([
      [1, 1, 1],
      [1, 1, 0, 1, 0, 1, 1],
    ]);
  });

  it.each(['trl', 'trl-chat', 'openai', 'sft'] as const)(
    'is in %s once if two dispatches have it',
    async (format) => {
      const talks = ['D1', 'D2'].map((id) => new Talk(id));
      for (const talk of talks) {
        talk.enter(ann, 'Ann');
        talk.tell(ann, 'One');
        talk.say(ann, 'First');
      }
      const { rows, manifest } = await write(talks, { format });
      expect(rows).toHaveLength(1);
      expect(manifest.dropped).toMatchObject({ duplicate: { count: 1 } });
      expect(manifest.calls).toMatchObject({ of: 2, inRows: 1 });
    },
  );

  it('starts again after a compaction that left no answer in the prompt', async () => {
    const talk = annAlone();
    for (const text of ['First', 'Second', 'Third', 'Fourth']) {
      if (text === 'Third')
        talk.add('session:compaction', { trigger: 'auto', summary: 'So far.' }, { agentId: ann });
      talk.tell(ann, 'More');
      talk.say(ann, text);
    }
    const { rows, manifest } = await write(talk, { format: 'trl-chat' });
    expect(rows.map(({ messages }) => messages.map(({ role }: Row) => role))).toEqual([
      ['system', 'user', 'assistant', 'user', 'assistant'],
      ['system', 'user', 'user', 'assistant', 'user', 'assistant'],
    ]);
    expect(manifest.dropped).toEqual({});
  });

  it('ends if an observation before the answer is missing after it', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.add('agent:output', { parts: [{ kind: 'text', text: 'seen' }] }, { agentId: ann });
    talk.say(ann, 'First');
    talk.tell(ann, 'Two');
    talk.say(ann, 'Second');
    const { rows } = await write(talk, { format: 'openai' });
    expect(rows.map(({ messages }) => messages.map(({ content }: Row) => content))).toEqual([
      ['You are Ann.', 'One', 'seen', 'First'],
      ['You are Ann.', 'One', 'First', 'Two', 'Second'],
    ]);
  });

  it('ends if a result came between the prompt and its answer, and a discarded call saw it', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.answer(talk.ask(ann), { calls: [{ toolCallId: 'c1', tool: 'look', input: {} }] });
    const early = talk.ask(ann);
    talk.result(ann, 'c1', 'look', 'seen');
    talk.discard(talk.ask(ann));
    talk.answer(early, { text: 'First' });
    talk.tell(ann, 'Two');
    talk.say(ann, 'Second');
    const { rows } = await write(talk, { format: 'openai' });
    expect(rows.map(({ messages }) => messages[3].content)).toEqual([
      expect.stringContaining('interrupted'),
      'seen',
    ]);
  });
});

import { formatErrors } from '@hansard/events';
import type { ContextPolicy } from '@hansard/prompt';
import { describe, expect, it } from 'vitest';
import { trainingFormatIds } from '../../src/index.ts';
import type { DropReason } from '../../src/training/training-call.ts';
import { ann, annAlone, envelopeOf, type Row, Talk, words, write } from './talk.ts';

const prompts = (rows: readonly Row[]) =>
  rows.map(({ prompt }) => prompt.map(({ content }: Row) => content).join(' | '));

describe('the prompt of a row', () => {
  it('is the prompt of the model, without messages that arrived while it answered', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    const request = talk.ask(ann);
    talk.tell(ann, 'Too late');
    talk.answer(request, { text: 'First' });
    talk.say(ann, 'Second');
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(prompts(rows)).toEqual(['You are Ann. | One', 'You are Ann. | One | First | Too late']);
    expect(manifest.calls.recorded).toBe(2);
    const chats = await write(talk, { format: 'openai' });
    expect(chats.rows.map(({ messages }) => messages.length)).toEqual([5]);
  });

  it('is rendered by the recorded policy, and tagged if it shows less', async () => {
    const talk = annAlone();
    const faded: ContextPolicy = { name: 'faded', budget: 120, step: 0 };
    for (const turn of [1, 2, 3]) {
      talk.tell(ann, `Turn ${turn} ${'and more '.repeat(30)}`);
      talk.answer(talk.ask(ann, faded), { text: `Answer ${turn}` });
    }
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(prompts(rows)).toEqual(
      talk.given.map(({ messages }) => messages.map(({ text }) => text).join(' | ')),
    );
    expect(rows.map(({ metadata }) => metadata.faded)).toEqual([false, true, true]);
    expect(prompts(rows)[2]).toContain('earlier messages are not shown');
    expect(manifest.calls).toEqual({ of: 3, inRows: 3, recorded: 3, rendered: 0, shortened: 2 });
  });

  it('has the summary of a compaction in place of the compacted messages, and begins a new row', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First');
    talk.add('session:compaction', { trigger: 'auto', summary: 'They met.' }, { agentId: ann });
    talk.tell(ann, 'Two');
    talk.say(ann, 'Second');
    const { rows } = await write(talk, { format: 'trl-chat' });
    expect(rows.map(({ messages }) => messages.map(({ content }: Row) => content))).toEqual([
      ['You are Ann.', 'One', 'First'],
      ['You are Ann.', 'They met.', 'Two', 'Second'],
    ]);
    expect(rows.map(({ metadata }) => metadata.faded)).toEqual([false, true]);
  });

  it('needs a token counter only if it was fitted by one', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First');
    const { manifest } = await write(talk, { format: 'trl', tokens: async () => undefined });
    expect(manifest.calls.recorded).toBe(1);
  });

  it('is rendered in full without a record, and counted as such', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First', { isRecorded: false });
    talk.tell(ann, 'Two');
    talk.say(ann, 'Second', { isRecorded: false });
    const { rows, manifest } = await write(talk, { format: 'trl-chat' });
    expect(rows.map(({ messages }) => messages.length)).toEqual([5]);
    expect(manifest.calls).toEqual({ of: 2, inRows: 2, recorded: 0, rendered: 2, shortened: 0 });
  });

  it('shows an earlier call without a result as the model saw it', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.answer(talk.ask(ann), { calls: [{ toolCallId: 'c1', tool: 'look', input: {} }] });
    talk.tell(ann, 'Two');
    talk.say(ann, 'Second');
    const { rows } = await write(talk, { format: 'trl' });
    expect(prompts(rows)).toEqual([
      'You are Ann. | One',
      expect.stringContaining('interrupted: the session stopped'),
    ]);
  });
});

describe('an answer', () => {
  it('gives one row each for two calls at the same time', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    for (const [at, request] of [talk.ask(ann), talk.ask(ann)].entries())
      talk.answer(request, { text: `Answer ${at}` });
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(prompts(rows)).toEqual(['You are Ann. | One', 'You are Ann. | One']);
    expect(manifest.dropped).toEqual({});
  });

  it('with a denied or interrupted call is a row, because the model gave it', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    const call = (toolCallId: string) => ({ toolCallId, tool: 'look', input: {} });
    talk.answer(talk.ask(ann), { calls: [call('c1')] });
    talk.result(ann, 'c1', 'look', "Error: Action blocked by hook 'Guard': no");
    talk.answer(talk.ask(ann), { calls: [call('c2')] });
    talk.result(ann, 'c2', 'look', 'interrupted: the session stopped before this call was done.');
    talk.say(ann, 'Well.');
    const { rows } = await write(talk, { format: 'trl' });
    expect(rows.map(({ completion }) => completion[0].content)).toEqual(['', '', 'Well.']);
  });

  it('with results between its calls, or after a message, is one row', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    const links = { agentId: ann, messageId: 'm1' };
    for (const toolCallId of ['c1', 'c2']) {
      talk.add('agent:tool_call', { toolCallId, tool: 'look', input: {}, metadata: {} }, links);
      talk.tell(ann, 'Still there?');
      talk.result(ann, toolCallId, 'look', 'seen');
    }
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(rows.map(({ completion }) => completion[0].tool_calls.length)).toEqual([2]);
    expect(prompts(rows)).toEqual(['You are Ann. | One']);
    expect(manifest.dropped).toEqual({});
  });
});

describe('an unusable call is left out, and the manifest says why', () => {
  const spoiled: Readonly<Record<string, [DropReason, (talk: Talk) => void]>> = {
    'an empty answer': ['empty_answer', (talk) => talk.answer(talk.ask(ann), {})],
    'an answer with thoughts only': [
      'empty_answer',
      (talk) => talk.answer(talk.ask(ann), { thinking: 'Hm.' }),
    ],
    'a text from elsewhere': [
      'not_own_text',
      (talk) => talk.say(ann, 'As Ben said.', { links: { substance: 'elsewhere' } }),
    ],
    'a prompt with a different hash': [
      'not_reproducible',
      (talk) => talk.say(ann, 'Hm.', { manifest: { hash: 'sha256:0' } }),
    ],
    'a prompt through an unknown event': [
      'not_reproducible',
      (talk) => talk.say(ann, 'Hm.', { manifest: { through: 'nowhere' } }),
    ],
    'a prompt of another version': [
      'not_reproducible',
      (talk) => talk.say(ann, 'Hm.', { manifest: { rendererVersion: 99 as never } }),
    ],
    'a prompt with an unknown policy': [
      'not_reproducible',
      (talk) => talk.say(ann, 'Hm.', { manifest: { policy: { name: 'dreams' } as never } }),
    ],
    'a prompt with an unknown token counter': [
      'not_reproducible',
      (talk) =>
        talk.answer(
          talk.ask(ann, { name: 'faded', budget: 900 }),
          { text: 'Hm.' },
          { manifest: { tokens: { counter: 'fingers', prompt: 1 } } },
        ),
    ],
    'a prompt that does not fit its budget': [
      'not_reproducible',
      (talk) =>
        talk.say(ann, 'Hm.', {
          manifest: { policy: { name: 'faded', budget: 1 }, tokens: { counter: words.id, prompt: 1 } },
        }),
    ],
    'an answer that contains another one': [
      'split_answer',
      (talk) => {
        const say = (text: string, messageId: string) =>
          talk.add('agent:text', { text }, { agentId: ann, messageId });
        say('One ', 'a');
        talk.say(ann, 'In between');
        say('two', 'a');
      },
    ],
  };

  it.each(Object.entries(spoiled))('%s', async (_, [reason, spoil]) => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'Before');
    talk.tell(ann, 'Two');
    const place = talk.events.length;
    spoil(talk);
    talk.tell(ann, 'Three');
    const after = talk.say(ann, 'After');
    const first = talk.events[place]?.id;
    const rows = await write(talk, { format: 'trl' });
    expect(rows.manifest.dropped).toEqual({ [reason]: { count: 1, first: [first] } });
    expect(rows.rows.map(({ completion }) => completion[0].content)).toEqual(
      reason === 'split_answer' ? ['Before', 'In between', 'After'] : ['Before', 'After'],
    );
    const chats = await write(talk, { format: 'trl-chat' });
    expect(chats.rows.at(-1)?.metadata.calls).toContain(after);
    expect(chats.rows[0]?.messages.map(({ content }: Row) => content)).toEqual([
      'You are Ann.',
      'One',
      'Before',
    ]);
  });

  it('an answer without a message before it', async () => {
    const talk = new Talk();
    talk.add('agent:created', {}, { agentId: ann });
    const first = talk.say(ann, 'Hello?');
    const { rows, manifest } = await write(talk, { format: 'sft' });
    expect(rows).toEqual([]);
    expect(manifest.dropped).toEqual({ empty_prompt: { count: 1, first: [first] } });
  });

  it('an answer before any other event', async () => {
    const talk = new Talk();
    const first = talk.say(ann, 'Hello?');
    const { manifest } = await write(talk, { format: 'sft' });
    expect(manifest.dropped).toEqual({ empty_prompt: { count: 1, first: [first] } });
  });

  it('counts all of them, and names the first twenty', async () => {
    const talk = annAlone();
    for (let turn = 0; turn < 30; turn += 1) talk.answer(talk.ask(ann), {});
    const { manifest } = await write(talk, { format: 'sft' });
    expect(manifest.dropped.empty_answer?.count).toBe(30);
    expect(manifest.dropped.empty_answer?.first).toHaveLength(20);
  });
});

describe('a log', () => {
  it.each(trainingFormatIds)('of fidelity narrative is refused, for %s', async (format) => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First');
    const narrative = envelopeOf(talk, { fidelity: 'narrative' });
    const error: unknown = await write(talk, { format }, [narrative]).catch((reason) => reason);
    expect(formatErrors.is(error) && error.code).toBe('FORMAT_NOT_FULL');
    expect(String(error)).toContain('D1');
    const other = new Talk('D2');
    other.enter(ann, 'Ann');
    other.tell(ann, 'One');
    other.say(ann, 'Second');
    const { rows, manifest } = await write([talk, other], { format }, [narrative, envelopeOf(other)]);
    expect(rows).toHaveLength(1);
    expect(manifest.refused).toEqual([{ dispatchId: 'D1', reason: 'narrative' }]);
    expect(manifest.sources.map(({ dispatchId }) => dispatchId)).toEqual(['D2']);
  });

  it('with a part of a transcript that cannot be read is an error that names it', async () => {
    const talk = annAlone();
    const id = talk.tell(ann, 'One');
    talk.say(ann, 'First', { isRecorded: false });
    const at = talk.events.findIndex((event) => event.id === id);
    talk.events[at] = { ...(talk.events[at] as (typeof talk.events)[0]), data: { words: 'One' } as never };
    await expect(write(talk, { format: 'sft' })).rejects.toThrow(id);
  });

  it('that grows while it is read gives the rows of its earlier state', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First');
    const before = talk.events.length;
    const { rows } = await write(talk, { format: 'trl-chat', tokens: async () => words });
    const growing = {
      ...talk,
      dispatchId: talk.dispatchId,
      get events() {
        const seen = talk.events.slice();
        if (talk.events.length === before) talk.say(ann, 'Later');
        return seen;
      },
    } as Talk;
    expect((await write([growing], { format: 'trl-chat' })).rows).toEqual(rows);
  });
});

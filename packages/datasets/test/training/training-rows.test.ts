import { createHash } from 'node:crypto';
import { encodeEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { trainingFormatIds } from '../../src/index.ts';
import { documentedSchemas } from './documented-schemas.ts';
import { type Row, Talk, write } from './talk.ts';

const [ann, ben, cy] = ['agent_001', 'agent_002', 'agent_003'] as const;

/** Ann looks up a word and says it to Ben and Cy, who answer; everybody receives the same text. */
function table(): Talk {
  const talk = new Talk();
  talk.enter(ann, 'Ann');
  talk.enter(ben, 'Ben');
  talk.enter(cy, 'Cy');
  talk.add('game:day', { turn: 'Day 1' });
  talk.add('game:role', { player: 'Ann', role: 'Seer' });
  talk.tell(ann, 'Begin.');
  const call = { toolCallId: 'c1', tool: 'look_up', input: { word: 'rye', deep: true } };
  talk.answer(talk.ask(ann), { thinking: 'Which word?', calls: [call] });
  talk.result(ann, 'c1', 'look_up', 'a grain');
  const said = talk.answer(talk.ask(ann), { thinking: 'Say it.', text: 'Rye is a grain.' });
  for (const other of [ben, cy]) talk.tell(other, 'Rye is a grain.', { substance: said });
  for (const [other, text] of [
    [ben, 'So it is.'],
    [cy, 'I knew.'],
  ] as const) {
    const reply = talk.say(other, text);
    talk.tell(ann, text, { substance: reply });
  }
  talk.say(ann, 'Good night.');
  return talk;
}

const mapping = {
  turn: { events: ['game:day'] },
  gameEvents: { events: ['game:*'] },
  roles: { events: ['game:role'] },
};
const lookUp = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };

describe('every format', () => {
  it.each(trainingFormatIds)('%s has the form that its tool documents, row by row', async (format) => {
    const { rows } = await write(table(), { format, tools: [lookUp], mapping });
    expect(rows.length).toBeGreaterThan(2);
    for (const row of rows) documentedSchemas[format].parse(row);
  });

  it.each(trainingFormatIds)(
    '%s has a public text as an answer once, in a row of its speaker',
    async (format) => {
      const { rows } = await write(table(), { format });
      const trained = rows.flatMap((row) => trainedTexts(row));
      expect(trained.filter((text) => text.includes('Rye is a grain.'))).toHaveLength(1);
      for (const text of ['So it is.', 'I knew.', 'Good night.'])
        expect(
          trained.filter((one) => one.includes(text)),
          text,
        ).toHaveLength(1);
    },
  );

  it.each(trainingFormatIds)('%s never has a received text as an own turn', async (format) => {
    const { rows } = await write(table(), { format, agents: ['Ben'] });
    expect(rows).toHaveLength(1);
    expect(rows.flatMap(ownTexts)).toEqual([expect.stringContaining('So it is.')]);
    expect(JSON.stringify(rows)).toContain('Rye is a grain.');
  });
});

describe('sft_dataset.jsonl', () => {
  it('is prompt, completion and metadata as specified, with thoughts and the raw answer', async () => {
    const { rows } = await write(table(), { format: 'sft', mapping });
    expect(rows).toHaveLength(5);
    expect(rows.slice(0, 2)).toEqual([
      {
        prompt: '<system>\nYou are Ann.\n</system>\n<user>\nBegin.\n</user>\n',
        completion:
          '<assistant>\n<thinking>\nWhich word?\n</thinking>\n<tool_call name="look_up">{"word":"rye","deep":true}</tool_call>\n</assistant>\n',
        metadata: { game_id: 'D1', agent_name: 'Ann', agent_role: 'Seer', turn: 'Day 1' },
      },
      {
        prompt:
          '<system>\nYou are Ann.\n</system>\n<user>\nBegin.\n</user>\n<assistant>\n<tool_call name="look_up">{"word":"rye","deep":true}</tool_call>\n</assistant>\n<tool_result name="look_up">\na grain\n</tool_result>\n',
        completion: '<assistant>\n<thinking>\nSay it.\n</thinking>\nRye is a grain.\n</assistant>\n',
        metadata: { game_id: 'D1', agent_name: 'Ann', agent_role: 'Seer', turn: 'Day 1' },
      },
    ]);
    expect(rows[3]?.metadata).toEqual({
      game_id: 'D1',
      agent_name: 'Ben',
      agent_role: '',
      turn: 'Day 1',
    });
  });

  it('has the first turn, and no role that is not recorded', async () => {
    const talk = new Talk();
    talk.enter(ann, 'Ann');
    talk.tell(ann, 'Hello');
    talk.say(ann, 'Hi');
    const turnOf = async (options: object) =>
      (await write(talk, { format: 'sft', ...options })).rows[0]?.metadata;
    expect(await turnOf({ mapping })).toMatchObject({ turn: 'Game Start', agent_role: '' });
    expect(await turnOf({})).toMatchObject({ turn: '', agent_role: '' });
  });

  it('has the role of the dispatch for its dispatched agent, and not for those that it created', async () => {
    const talk = new Talk();
    talk.enter(ann, 'Ann');
    talk.enter(ben, 'Ben');
    for (const agent of [ann, ben]) {
      talk.tell(agent, 'Hello');
      talk.say(agent, 'Hi');
    }
    // Events of the dispatched agent name no agent.
    const named = talk.events.splice(0);
    for (const { agentId, ...event } of named)
      talk.events.push(agentId === ben ? { ...event, agentId } : event);
    const { rows } = await write(talk, { format: 'sft' });
    expect(rows.map(({ metadata }) => metadata)).toMatchObject([
      { agent_name: 'Ann', agent_role: 'table' },
      { agent_name: 'Ben', agent_role: '' },
    ]);
  });
});

describe('TRL', () => {
  it('has a prompt and a completion for each call, with arguments as JSON text and results by their tool', async () => {
    const { rows } = await write(table(), { format: 'trl', tools: [lookUp], mapping });
    expect(rows).toHaveLength(5);
    expect(rows[1]).toEqual({
      prompt: [
        { role: 'system', content: 'You are Ann.' },
        { role: 'user', content: 'Begin.' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { type: 'function', function: { name: 'look_up', arguments: '{"word":"rye","deep":true}' } },
          ],
        },
        { role: 'tool', name: 'look_up', content: 'a grain' },
      ],
      completion: [{ role: 'assistant', content: 'Rye is a grain.' }],
      tools: JSON.stringify([lookUp]),
      metadata: {
        dispatch_id: 'D1',
        agent_name: 'Ann',
        agent_role: 'Seer',
        turn: 'Day 1',
        model: 'small-1',
        event_id: expect.stringMatching(/^D1-e\d+$/),
        outcome: 'completed',
        faded: false,
      },
    });
  });

  it('has conversations, merged if a prompt begins with the previous prompt and answer', async () => {
    const { rows, manifest } = await write(table(), { format: 'trl-chat' });
    expect(rows.map(({ messages }) => messages.length)).toEqual([8, 3, 3]);
    expect(manifest).toMatchObject({ rows: 3, calls: { inRows: 5, recorded: 5, rendered: 0, shortened: 0 } });
    expect(rows[0]?.messages.map(({ role }: Row) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'user',
      'assistant',
    ]);
  });

  it('writes thoughts in the requested place, only in trained answers', async () => {
    const completion = async (reasoning: 'drop' | 'think-tags' | 'reasoning_content' | 'thinking') =>
      (await write(table(), { format: 'trl', reasoning })).rows[1]?.completion[0];
    const text = { role: 'assistant', content: 'Rye is a grain.' };
    expect(await completion('drop')).toEqual(text);
    expect(await completion('think-tags')).toEqual({
      ...text,
      content: '<think>\nSay it.\n</think>\nRye is a grain.',
    });
    expect(await completion('reasoning_content')).toEqual({ ...text, reasoning_content: 'Say it.' });
    expect(await completion('thinking')).toEqual({ ...text, thinking: 'Say it.' });
    const { rows } = await write(table(), { format: 'trl', reasoning: 'thinking' });
    expect(JSON.stringify(rows.map(({ prompt }) => prompt))).not.toContain('Say it.');
  });
});

describe('OpenAI', () => {
  it('has arguments as a JSON string, results by the id of their call, and no additional keys', async () => {
    const { rows } = await write(table(), { format: 'openai' });
    const ofAnn = rows.find(({ messages }) => messages[0].content === 'You are Ann.');
    expect(Object.keys(ofAnn ?? {})).toEqual(['messages']);
    expect(ofAnn?.messages.slice(2, 5)).toEqual([
      {
        role: 'assistant',
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'look_up', arguments: '{"word":"rye","deep":true}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a grain' },
      { role: 'assistant', content: 'Rye is a grain.' },
    ]);
  });

  it('gives answers that another row trains the weight 0', async () => {
    const talk = new Talk();
    talk.enter(ann, 'Ann');
    for (const turn of [1, 2, 3]) {
      talk.tell(ann, `Turn ${turn}`);
      talk.answer(talk.ask(ann, { name: 'lastMessages', count: 3 }), { text: `Answer ${turn}` });
    }
    const { rows } = await write(talk, { format: 'openai' });
    const weights = rows.map(({ messages }) =>
      messages.flatMap(({ role, content, weight }: Row) => (role === 'assistant' ? [[content, weight]] : [])),
    );
    expect(weights).toEqual([
      [
        ['Answer 1', undefined],
        ['Answer 2', undefined],
      ],
      [
        ['Answer 2', 0],
        ['Answer 3', undefined],
      ],
    ]);
  });

  it('keeps thoughts out of the later prompts, which did not have them', async () => {
    const { rows } = await write(table(), { format: 'openai', reasoning: 'think-tags', agents: [ann] });
    const answers = rows.map(({ messages }) => messages.filter(({ role }: Row) => role === 'assistant'));
    expect(answers.map((row) => row.map(({ weight }: Row) => weight ?? 1))).toEqual([[1], [0, 1], [0, 0, 1]]);
    expect(answers.map((row) => row.at(-1).content)).toEqual([
      '<think>\nWhich word?\n</think>\n',
      '<think>\nSay it.\n</think>\nRye is a grain.',
      'Good night.',
    ]);
    for (const row of answers) expect(JSON.stringify(row.slice(0, -1))).not.toContain('think>');
  });
});

describe('thoughts', () => {
  it.each([
    ['sft', 'drop'],
    ['openai', 'thinking'],
    ['openai', 'reasoning_content'],
  ] as const)('%s refuses them as %s, which it does not have', async (format, reasoning) => {
    await expect(write(table(), { format, reasoning })).rejects.toThrow(TypeError);
  });
});

describe('the manifest', () => {
  it('has the counts, the filter, and the hashes of the file and its sources', async () => {
    const talks = [table(), new Talk('D2')];
    const { text, manifest } = await write(talks, {
      format: 'openai',
      agents: ['Ann', 'agent_002', 'Zoe'],
      tools: [lookUp],
      mapping,
    });
    const linesOf = (talk: Talk) => talk.events.map((event) => `${encodeEvent(event)}\n`).join('');
    expect(manifest).toEqual({
      format: 'openai',
      file: 'openai.jsonl',
      rows: 2,
      bytes: Buffer.byteLength(text),
      sha256: sha256(text),
      calls: { of: 4, inRows: 4, recorded: 4, rendered: 0, shortened: 0 },
      images: 0,
      named: {},
      faults: {},
      filter: { agents: ['Ann', 'agent_002', 'Zoe'], reasoning: 'drop', tools: 1, mapping: true },
      missingAgents: ['Zoe'],
      rendererVersion: 1,
      sources: talks.map((talk, at) => ({
        dispatchId: talk.dispatchId,
        events: talk.events.length,
        sha256: sha256(linesOf(talk)),
        rows: at === 0 ? 2 : 0,
      })),
      refused: [],
      dropped: {},
    });
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The texts of the answers that a row trains, in any format. */
function trainedTexts(row: Row): string[] {
  if (typeof row.completion === 'string') return [row.completion];
  if (Array.isArray(row.completion)) return row.completion.map(({ content }: Row) => content);
  if (row.conversations !== undefined) return ownTexts(row);
  return row.messages.flatMap(({ role, content, weight, train = true }: Row) =>
    role === 'assistant' && train && weight !== 0 ? [content ?? ''] : [],
  );
}

/** All texts of a row that are the agent's own turns. */
function ownTexts(row: Row): string[] {
  if (row.conversations !== undefined)
    return row.conversations.flatMap(({ from, value }: Row) => (from === 'gpt' ? [value] : []));
  if (typeof row.prompt === 'string')
    return `${row.prompt}${row.completion}`.match(/<assistant>[\s\S]*?<\/assistant>/g) ?? [];
  const messages = row.messages ?? [...row.prompt, ...row.completion];
  return messages.flatMap(({ role, content }: Row) => (role === 'assistant' ? [content ?? ''] : []));
}

describe('the tools of a row', () => {
  const named = (name: string) => ({
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object' },
  });
  const inForm = ({ inputSchema, ...rest }: ReturnType<typeof named>) => ({
    ...rest,
    parameters: inputSchema,
  });
  const [look, take] = [named('look'), named('take')];

  /** Three calls: two with one tool, and one with two tools. Without `isLogged` the log does not say. */
  function changing(isLogged = true): Talk {
    const talk = new Talk();
    talk.enter(ann, 'Ann');
    for (const [turn, tools] of [[look], [look], [look, take]].entries()) {
      const id = `tools-${tools.length}`;
      if (isLogged && !talk.events.some((event) => event.id === id))
        talk.events.push({ id, type: 'request:stored', timestamp: null, data: { tools } });
      talk.tell(ann, `Turn ${turn}.`);
      talk.say(ann, `Answer ${turn}.`);
      const last = talk.events.at(-1);
      if (isLogged && last !== undefined) last.data.request = { tools: id };
    }
    return talk;
  }

  it('are those that its calls were given; other tools begin another row', async () => {
    const openai = (await write(changing(), { format: 'openai' })).rows;
    const functions = [[look], [look, take]].map((list) =>
      list.map((tool) => ({ type: 'function', function: inForm(tool) })),
    );
    expect(openai.map(({ tools }) => tools)).toEqual(functions);
    expect(openai.flatMap(trainedTexts)).toEqual(['Answer 0.', 'Answer 1.', 'Answer 2.']);
    const trl = (await write(changing(), { format: 'trl' })).rows;
    expect(trl.map(({ tools }) => JSON.parse(String(tools)))).toEqual([
      functions[0],
      functions[0],
      functions[1],
    ]);
  });

  it('are those that the caller gives, and none where the log does not say', async () => {
    const given = (await write(changing(), { format: 'trl', tools: [lookUp] })).rows;
    expect(given.map(({ tools }) => JSON.parse(String(tools)))).toEqual([[lookUp], [lookUp], [lookUp]]);
    for (const row of (await write(changing(false), { format: 'openai' })).rows)
      expect(row).not.toHaveProperty('tools');
  });
});

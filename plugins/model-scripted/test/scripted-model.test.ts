import { describe, expect, it } from 'vitest';
import { openScriptedModel, type ScenarioInput, scenarioErrors } from '../src/index.ts';
import { collectDeltas, converse, request, toMessage, user } from './make.ts';

type Turns = ScenarioInput['agents'][string];

const play = (...turns: Turns) =>
  openScriptedModel({ scenario: { agents: { jill: turns } }, name: 'cafe.yaml' });

describe('what a turn says', () => {
  it('is an utterance, with the thought before it', async () => {
    const model = await play({ say: 'Hello.', think: 'Be nice.' });
    expect(await model.generate(request([user('Hi.')]))).toEqual({
      text: 'Hello.',
      thinking: { text: 'Be nice.' },
      toolCalls: [],
      model: 'scripted',
      usage: { inputTokens: 0, outputTokens: 0 },
      stopReason: 'stop',
    });
  });

  it('comes with what it wants back', async () => {
    const model = await play({ say: 'Hello.', replay: { signed: 1 } });
    expect(await model.generate(request([user('Hi.')]))).toMatchObject({ replay: { signed: 1 } });
    const scenario = { agents: { jill: [{ error: 'down', replay: 1 }] } };
    await expect(openScriptedModel({ scenario })).rejects.toThrow(/replay.*goes only beside say and call/);
  });

  it('is tool calls, with the text beside them and ids that are the same in every run', async () => {
    const model = await play(
      { say: 'Hello.' },
      { call: [{ tool: 'look', input: { at: 'door' } }, { tool: 'listen' }], text: 'Who is there?' },
    );
    const asked = request([user('Hi.'), { role: 'assistant', text: 'Hello.', toolCalls: [] }, user('Psst.')]);
    const response = await model.generate(asked);
    expect(response).toMatchObject({
      text: 'Who is there?',
      toolCalls: [
        { toolCallId: 'agent_002-2-1', tool: 'look', input: { at: 'door' } },
        { toolCallId: 'agent_002-2-2', tool: 'listen', input: {} },
      ],
      stopReason: 'tool-calls',
    });
    expect(await model.generate(asked)).toEqual(response);
  });

  it('comes with the usage that it names, under the name of the model that was asked for', async () => {
    const usage = { inputTokens: 12, outputTokens: 3, cacheReadTokens: 5 };
    const model = await play({ say: 'Hello.', usage });
    expect(await model.generate(request([user('Hi.')], { model: 'm-2' }))).toMatchObject({
      usage,
      model: 'm-2',
    });
  });

  it('is streamed word by word where it asks for that, thoughts first, and joined it is the text', async () => {
    const { deltas, onDelta } = collectDeltas();
    const text = 'Hello,  you\n  two. ';
    const model = await play({ say: text, think: 'Be nice.', stream: true }, { say: 'At once.' });
    const messages = [user('Hi.')];
    messages.push(toMessage(await model.generate(request(messages, { onDelta }))));
    expect(deltas.filter(({ type }) => type === 'delta:text').map((delta) => delta.text)).toEqual([
      'Hello,  ',
      'you\n  ',
      'two. ',
    ]);
    expect(deltas.map((delta) => delta.text).join('')).toBe(`Be nice.${text}`);
    expect(deltas.every(({ agentId }) => agentId === 'agent_002')).toBe(true);
    const streamed = deltas.length;
    await model.generate(request(messages, { onDelta }));
    expect(deltas.length).toBe(streamed);
  });

  it('is a failure of the model where the scenario wants one, again at each retry', async () => {
    const model = await play({ error: 'The model is overloaded.' }, { say: 'Hello.' });
    for (const _attempt of ['first', 'retry'])
      await expect(model.generate(request([user('Hi.')]))).rejects.toMatchObject({
        code: 'SCENARIO_MODEL_FAILED',
        message: 'The model is overloaded.',
        details: { scenario: 'cafe.yaml', agent: 'jill', turn: 1 },
      });
  });

  it('is late where it has a delay, and an abort ends the waiting', async () => {
    const model = await play({ say: 'Hello.', delayMs: 3_600_000 });
    const cancel = new AbortController();
    const answer = model.generate(request([user('Hi.')], { signal: cancel.signal }));
    cancel.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    const soon = await play({ say: 'Hello.', delayMs: 1 });
    expect(await soon.generate(request([user('Hi.')]))).toMatchObject({ text: 'Hello.' });
  });

  it('is not asked for once the call was aborted', async () => {
    const model = await play({ say: 'Hello.' });
    const signal = AbortSignal.abort(new Error('cancelled'));
    await expect(model.generate(request([user('Hi.')], { signal }))).rejects.toThrow('cancelled');
  });
});

describe('which turn is played', () => {
  it('is the next in the list', async () => {
    const model = await play({ say: 'one' }, { say: 'two' }, { say: 'three' });
    expect(await converse(model, ['a', 'b', 'c'])).toEqual(['one', 'two', 'three']);
  });

  it('is one whose matcher fits what was heard last, each once unless it is repeated', async () => {
    const model = await play(
      { when: { contains: 'coffee' }, say: 'Yes, please.' },
      { when: { regex: '^(bye|good night)' }, say: 'Bye.', repeat: true },
      { say: 'Hm.', repeat: true },
    );
    expect(
      await converse(model, ['Nice day.', 'A coffee?', 'A coffee?', 'bye', 'good night', 'a bye']),
    ).toEqual(['Hm.', 'Yes, please.', 'Hm.', 'Bye.', 'Bye.', 'Hm.']);
  });

  it('also fits the result of a tool', async () => {
    const model = await play(
      { call: [{ tool: 'look' }] },
      { when: { contains: 'dark' }, say: 'I see nothing.' },
      { say: 'I see Jack.' },
    );
    const look = toMessage(await model.generate(request([user('Look.')])));
    const result = { role: 'tool', toolCallId: 'agent_002-1-1', tool: 'look', isError: false } as const;
    expect(
      await model.generate(request([user('Look.'), look, { ...result, text: 'It is dark.' }])),
    ).toMatchObject({ text: 'I see nothing.' });
    expect(await model.generate(request([user('Look.'), look, { ...result, text: 'A man.' }]))).toMatchObject(
      {
        text: 'I see Jack.',
      },
    );
  });

  it('depends only on the transcript: a newly opened model continues at the same turn', async () => {
    const turns: Turns = [
      { when: { contains: 'odd' }, say: 'strange' },
      { say: 'one' },
      { when: { contains: 'odd' }, say: 'very strange' },
      { say: 'two' },
    ];
    const told = ['odd', 'even', 'odd', 'even'];
    const never = await converse(await play(...turns), told);
    expect(never).toEqual(['strange', 'one', 'very strange', 'two']);
    for (let played = 0; played < told.length; played++) {
      const before = told
        .slice(0, played)
        .flatMap((text, turn) => [
          user(text),
          { role: 'assistant' as const, text: never[turn] ?? '', toolCalls: [] },
        ]);
      const anew = await play(...turns);
      const response = await anew.generate(request([...before, user(told[played] ?? '')]));
      expect(response.text).toBe(never[played]);
    }
  });

  it('counts answers that the transcript holds no more', async () => {
    const model = await play({ say: 'one' }, { say: 'two' }, { say: 'three' });
    expect(await model.generate(request([user('A summary.')], { turn: 2 }))).toMatchObject({ text: 'three' });
  });

  it('is that of root where the agent has no name', async () => {
    const model = await openScriptedModel({ scenario: { agents: { root: [{ say: 'I am root.' }] } } });
    expect(await model.generate(request([user('Hi.')], { agentName: null }))).toMatchObject({
      text: 'I am root.',
    });
  });
});

describe('a missing answer', () => {
  it('is an error that names agent, turn and scenario', async () => {
    const model = await play({ say: 'one' }, { when: { contains: 'never' }, say: 'two' });
    const messages = [user('a'), { role: 'assistant' as const, text: 'one', toolCalls: [] }, user('b')];
    const error: unknown = await Promise.resolve(model.generate(request(messages))).catch((caught) => caught);
    expect(scenarioErrors.is(error, 'SCENARIO_NO_ANSWER')).toBe(true);
    expect(error).toMatchObject({
      message:
        'No answer for jill, turn 2, in cafe.yaml: none of its turns (2) is left that fits what it heard last. Add a turn under agents.jill.',
    });
  });

  it.each(['jack', 'constructor'])('names the agents that there are where %s is none', async (agentName) => {
    const model = await play({ say: 'one' });
    await expect(Promise.resolve(model.generate(request([user('a')], { agentName })))).rejects.toThrow(
      `No answer for ${agentName}, turn 1, in cafe.yaml: the scenario has only the agents jill.`,
    );
  });
});

import { createCommunicationHub } from '@hansard/dispatch';
import type { Delta } from '@hansard/events';
import type { ModelRequest } from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { answers, calls, done, model, says, tools } from './scripted.ts';

/** Reports that it was called, and never answers. */
function hang(called: () => void): Promise<never> {
  called();
  return new Promise(() => {});
}

describe('a response', () => {
  it('is the utterance, with the id of its text in the log', async () => {
    const { create, events } = prepare();
    const { root } = await create({
      model: answers(says('Hello.', { thinking: { text: 'Greet.', signature: 's' }, stopReason: 'end' })),
    });
    await root.harken('Hi');
    const answer = await root.response();
    const log = await events();
    expect(typesOf(log).slice(2)).toEqual(['agent:thinking', 'agent:text', 'agent:inference']);
    expect(String(answer)).toBe('Hello.');
    expect(answer.messageId).toBe(find(log, 'agent:text').id);
    expect(find(log, 'agent:inference')).toMatchObject({
      agentId: 'agent_001',
      messageId: find(log, 'agent:text').messageId,
      data: { model: 'scripted-1', usage: { inputTokens: 10, outputTokens: 2 }, stopReason: 'end' },
    });
  });

  it('asks the model with the transcript, the name, the turn, the model and the tools', async () => {
    const asked: ModelRequest[] = [];
    const { create } = prepare();
    const { root } = await create({
      languageModel: 'm-1',
      systemPrompt: 'Be brief.',
      tools: [tools({ look: () => done('a cup') })],
      model: model((request) => {
        asked.push(request);
        return request.turn === 0 ? calls('look', { at: 'table' }, 'c1', 'Let me see.') : says('A cup.');
      }),
    });
    await root.harken('What is there?');
    await root.response();
    expect(asked.map(({ agentId, agentName, turn, model }) => ({ agentId, agentName, turn, model }))).toEqual(
      [
        { agentId: 'agent_001', agentName: null, turn: 0, model: 'm-1' },
        { agentId: 'agent_001', agentName: null, turn: 1, model: 'm-1' },
      ],
    );
    expect(asked[1]?.tools.map(({ name }) => name)).toEqual(['look']);
    expect(asked[1]?.messages).toEqual([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'What is there?' },
      {
        role: 'assistant',
        text: 'Let me see.',
        toolCalls: [{ toolCallId: 'c1', tool: 'look', input: { at: 'table' } }],
      },
      { role: 'tool', toolCallId: 'c1', tool: 'look', text: 'a cup', isError: false },
    ]);
  });

  it('calls the tools of one message in order, each when the one before has its durable result', async () => {
    const { create, events } = prepare();
    const seen: string[][] = [];
    const { root } = await create({
      tools: [
        tools({
          look: async ({ toolCallId }) => {
            seen.push([toolCallId, ...typesOf(await events()).slice(3)]);
            return done('ok', { metadata: { files: 1 } });
          },
        }),
      ],
      model: answers(
        {
          text: '',
          toolCalls: [
            { toolCallId: 'c1', tool: 'look', input: {} },
            { toolCallId: 'c2', tool: 'look', input: {} },
          ],
        },
        says('Done.'),
      ),
    });
    await root.harken('Go');
    await root.response();
    expect(seen).toEqual([
      ['c1', 'agent:tool_call', 'agent:tool_call', 'agent:inference'],
      ['c2', 'agent:tool_call', 'agent:tool_call', 'agent:inference', 'agent:tool_result'],
    ]);
    expect(find(await events(), 'agent:tool_result').data).toMatchObject({
      toolCallId: 'c1',
      status: 'completed',
      output: 'ok',
      metadata: { files: 1 },
      durationMs: expect.any(Number),
    });
  });

  it('links a result to what it was made from: one as substance, several as cause', async () => {
    const { create, events } = prepare();
    const { root } = await create({
      tools: [
        tools({
          one: () => done('said', { madeFrom: ['u1', 'u1'] }),
          two: () => done('said', { madeFrom: ['u1', 'u2'] }),
        }),
      ],
      model: answers(calls('one'), calls('two'), says('Done.')),
    });
    await root.harken('Go');
    await root.response();
    const [one, two] = (await events()).filter(({ type }) => type === 'agent:tool_result');
    expect(one).toMatchObject({ substance: 'u1' });
    expect(one).not.toHaveProperty('cause');
    expect(two).toMatchObject({ cause: ['u1', 'u2'] });
  });

  it('takes an empty answer for an utterance without words', async () => {
    const { create, events } = prepare();
    const { root } = await create({ model: answers(says('')) });
    await root.harken('Say nothing.');
    expect(String(await root.response())).toBe('');
    expect(find(await events(), 'agent:text').data).toEqual({ text: '' });
    expect(root.awaitsResponse).toBe(false);
  });

  it('sends deltas with the id that their message will have, and records none', async () => {
    const deltas: Delta[] = [];
    const shown: string[] = [];
    const communication = createCommunicationHub([
      {
        contract: 1,
        eventRecorded: ({ event }) => void shown.push(event.type),
        deltaReceived: ({ delta }) => void deltas.push(delta),
      },
    ]);
    await communication.start();
    const { create, events } = prepare();
    let late = () => {};
    const { root, session } = await create({
      communication,
      model: model(({ onDelta }) => {
        onDelta?.({ type: 'delta:text', text: 'Hel' });
        late = () => onDelta?.({ type: 'delta:text', text: 'too late' });
        return says('Hello.');
      }),
    });
    await root.harken('Hi');
    const { messageId } = await root.response();
    late();
    await session.close();
    await communication.close();
    expect(deltas).toEqual([{ type: 'delta:text', text: 'Hel', agentId: 'agent_001', messageId }]);
    expect(shown).toEqual(typesOf(await events()));
  });
});

describe('a faulty tool', () => {
  const wrongs = {
    throws: [() => Promise.reject(new Error('no such cup')), 'Error: no such cup'],
    givesNothing: [() => undefined as never, 'Error: givesNothing gave no outcome.'],
    givesNoJson: [() => done('x', { metadata: { at: Number.NaN } }), 'NaN'],
    linksToNoId: [() => done('x', { madeFrom: ['not an id'] }), 'not an id'],
    linksToText: [() => done('x', { madeFrom: 'u1' as never }), 'madeFrom'],
  } as const;
  it.each(Object.entries(wrongs))(
    '%s: the model reads an error and the session continues',
    async (name, wrong) => {
      const { create, events } = prepare();
      const { root } = await create({
        tools: [tools({ [name]: wrong[0] })],
        model: answers(calls(name), says('I see.')),
      });
      await root.harken('Go');
      expect(String(await root.response())).toBe('I see.');
      expect(find(await events(), 'agent:tool_result').data).toMatchObject({
        status: 'error',
        error: expect.stringContaining(wrong[1]),
        output: expect.stringContaining(wrong[1]),
      });
    },
  );

  it('does not exist: the model reads which do', async () => {
    const { create, events } = prepare();
    const { root } = await create({
      tools: [tools({ look: () => done('x') })],
      model: answers(calls('fly'), says('Ah.')),
    });
    await root.harken('Go');
    await root.response();
    expect(find(await events(), 'agent:tool_result').data).toMatchObject({
      status: 'error',
      output: 'Error: There is no tool fly; there are: look.',
    });
  });
});

describe('a faulty model', () => {
  const nonsense = {
    nothing: undefined,
    'no list of calls': { text: 'x' },
    'no text': { toolCalls: [], text: 5 },
    'a call without input': { text: '', toolCalls: [{ toolCallId: 'c', tool: 't' }] },
    'two calls with one id': {
      text: '',
      toolCalls: [
        { toolCallId: 'c', tool: 't', input: 1 },
        { toolCallId: 'c', tool: 't', input: 2 },
      ],
    },
    'usage that is no number': { text: 'x', toolCalls: [], model: 'm', usage: { inputTokens: Number.NaN } },
  };
  it.each(Object.entries(nonsense))(
    'answers %s: that is said and recorded, and no half message',
    async (_name, reply) => {
      const { create, events } = prepare();
      const replies: unknown[] = [
        reply,
        { ...says('Sorry.'), model: 'm', usage: { inputTokens: 1, outputTokens: 1 } },
      ];
      const { root } = await create({ model: { contract: 1, generate: () => replies.shift() as never } });
      await root.harken('Hi');
      await expect(root.response()).rejects.toMatchObject({
        code: 'SESSION_MODEL_FAILED',
        cause: expect.any(Error),
      });
      expect(typesOf(await events()).slice(2)).toEqual(['harness:error']);
      expect(find(await events(), 'harness:error')).toMatchObject({
        agentId: 'agent_001',
        data: { code: 'SESSION_MODEL_FAILED' },
      });
      expect(root.awaitsResponse).toBe(true);
      expect(String(await root.response())).toBe('Sorry.');
    },
  );

  it('never answers: the call ends after the time limit, and its signal aborts', async () => {
    const clock = new ManualClock();
    const asked = Promise.withResolvers<AbortSignal>();
    const { create, events } = prepare();
    const { root } = await create({
      clock,
      modelTimeoutMs: 60_000,
      model: { contract: 1, generate: ({ signal }) => hang(() => asked.resolve(signal)) },
    });
    await root.harken('Hi');
    const response = root.response();
    const signal = await asked.promise;
    clock.advance(59_999);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    await expect(response).rejects.toMatchObject({ code: 'SESSION_MODEL_FAILED' });
    expect(signal.aborted).toBe(true);
    expect(find(await events(), 'harness:error').data.message).toContain('no answer within 60000 ms');
    expect(clock.timers).toBe(0);
  });

  it('calls tools for ever: it is stopped at the limit, and each call has a result', async () => {
    let count = 0;
    const { create, events } = prepare();
    const { root } = await create({
      maxToolRounds: 2,
      tools: [tools({ look: () => done(`${++count}`) })],
      model: model(({ turn }) => calls('look', {}, `c${turn}`)),
    });
    await root.harken('Go');
    await expect(root.response()).rejects.toMatchObject({ code: 'SESSION_TURN_LIMIT' });
    expect(count).toBe(2);
    const log = await events();
    expect(log.filter(({ type }) => type === 'agent:tool_result')).toHaveLength(3);
    expect(find(log, 'agent:tool_result', { toolCallId: 'c2' }).data).toMatchObject({ status: 'error' });
    expect(find(log, 'harness:error').data).toMatchObject({ code: 'SESSION_TURN_LIMIT' });
  });
});

describe('a response under way', () => {
  it('is the only one of its agent', async () => {
    const reply = Promise.withResolvers<void>();
    const { create } = prepare();
    const { root } = await create({
      model: model(async () => {
        await reply.promise;
        return says('Yes.');
      }),
    });
    await root.harken('Hi');
    const first = root.response();
    await expect(root.response()).rejects.toMatchObject({ code: 'SESSION_AGENT_BUSY' });
    reply.resolve();
    expect(String(await first)).toBe('Yes.');
  });

  it('ends when the owner stops the session, with every call answered and the stop in the log', async () => {
    const controller = new AbortController();
    const called = Promise.withResolvers<void>();
    const { create, events } = prepare();
    const { root, session } = await create({
      signal: controller.signal,
      tools: [tools({ wait: () => hang(called.resolve) })],
      model: answers({
        text: '',
        toolCalls: [
          { toolCallId: 'c1', tool: 'wait', input: {} },
          { toolCallId: 'c2', tool: 'wait', input: {} },
        ],
      }),
    });
    await root.harken('Go');
    const response = root.response();
    await called.promise;
    controller.abort(new Error('enough'));
    await expect(response).rejects.toThrow('enough');
    const log = (await events()).slice(3);
    expect(typesOf(log)).toEqual([
      'agent:tool_call',
      'agent:tool_call',
      'agent:inference',
      'harness:abort',
      'agent:tool_result',
      'agent:tool_result',
    ]);
    expect(log.at(-1)?.data).toMatchObject({
      status: 'error',
      output: expect.stringContaining('interrupted'),
    });
    await session.complete('aborted');
  });

  it('cannot be stopped once the session is closed', async () => {
    const controller = new AbortController();
    const { create, events } = prepare();
    const { session } = await create({ signal: controller.signal });
    await session.close();
    controller.abort();
    expect(typesOf(await events())).toEqual(['agent:created', 'session:complete']);
  });

  it('ends when the session is closed, and the close waits for it', async () => {
    const called = Promise.withResolvers<void>();
    const { create, events } = prepare();
    const { root, session } = await create({
      tools: [tools({ wait: () => hang(called.resolve) })],
      model: answers(calls('wait')),
    });
    await root.harken('Go');
    const response = root.response();
    const rejected = expect(response).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    await called.promise;
    await session.close();
    await rejected;
    expect(typesOf(await events()).slice(-2)).toEqual(['agent:tool_result', 'session:complete']);
  });
});

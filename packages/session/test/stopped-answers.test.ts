import type { LanguageModelProvider, ModelRequest } from '@hansard/provider';
import { readSessionState } from '@hansard/session';
import { describe, expect, it } from 'vitest';
import { dispatchId, find, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, model, says, tools } from './scripted.ts';

/** A model that says this much, and then waits until it is stopped. */
function hanging(said: string, then: LanguageModelProvider = answers()) {
  const requests: ModelRequest[] = [];
  let isHanging = () => {};
  const hangs = new Promise<void>((resolve) => {
    isHanging = resolve;
  });
  const provider = model((request) => {
    requests.push(request);
    if (requests.length > 1) return then.generate(request);
    if (said !== '') request.onDelta?.({ type: 'delta:text', text: said });
    isHanging();
    return new Promise(() => {});
  });
  return { provider, requests, hangs };
}

describe('an answer that is stopped', () => {
  it.each(['stop', 'signal'] as const)(
    'by %s ends with an error; the log has what was said and who stopped it, and the next message continues',
    async (how) => {
      const { create, events, load } = prepare();
      const { provider, requests, hangs } = hanging('The moon is', answers(says('Made of stone.')));
      const { session, root } = await create({ model: provider });
      const asked = await root.harken('Tell me about the moon.');
      const stop = new AbortController();
      const said = root.response({ signal: stop.signal });
      await hangs;
      if (how === 'stop') expect(root.stop('too long', 'user')).toBe(true);
      else stop.abort(new Error('too long'));
      await expect(said).rejects.toMatchObject({ code: 'SESSION_AGENT_STOPPED' });
      const text = find(await events(), 'agent:text');
      expect(text.data.text).toBe('The moon is');
      const by = how === 'stop' ? 'user' : 'program';
      expect(find(await events(), 'harness:answer_stopped').data).toEqual({
        ...{ by, reason: 'too long', messageId: text.messageId, through: asked },
      });
      expect(typesOf(await events())).not.toContain('harness:error');
      expect(root.awaitsResponse).toBe(false);
      await root.harken('Shorter.');
      expect(String(await root.response())).toBe('Made of stone.');
      expect(requests[1]?.messages.map(({ text }) => text)).toEqual([
        'Tell me about the moon.',
        'The moon is',
        'Shorter.',
      ]);
      await session.close();
      const again = await load();
      expect((await again.root.transcript()).map(({ content }) => content).at(-1)).toBe('Made of stone.');
      await again.session.close();
    },
  );

  it('before anything was said leaves the question open, also one that came meanwhile', async () => {
    const { create, store } = prepare();
    const { provider, hangs } = hanging('', answers(says('Here.')));
    const { session, root } = await create({ model: provider });
    await root.harken('Where?');
    const said = root.response();
    await hangs;
    root.stop();
    await expect(said).rejects.toMatchObject({ code: 'SESSION_AGENT_STOPPED' });
    expect(root.awaitsResponse).toBe(true);
    expect(await readSessionState({ store, taskDir, dispatchId })).toMatchObject({ awaitsResponse: true });
    expect(String(await root.response())).toBe('Here.');
    expect(root.stop()).toBe(false);
    await session.close();

    const other = prepare();
    const talking = hanging('Well', answers());
    const created = await other.create({ model: talking.provider });
    await created.root.harken('Where?');
    const answered = created.root.response();
    await talking.hangs;
    await created.root.harken('And when?');
    created.root.stop();
    await expect(answered).rejects.toMatchObject({ code: 'SESSION_AGENT_STOPPED' });
    expect(created.root.awaitsResponse).toBe(true);
    await created.session.close();
  });

  it('while a tool lets another agent speak stops that one too, and the call is interrupted', async () => {
    const { create, events } = prepare();
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const ask = tools({
      ask: async (call) => {
        const { agentId } = await hostOf(call).createAgent({ name: 'Jill' });
        await hostOf(call).deliver(agentId, { text: 'Think.' });
        return done(String(await hostOf(call).respond(agentId)));
      },
    });
    const { session, root } = await create({
      model: model(({ agentName, messages }) => {
        if (agentName === null) return messages.length === 1 ? calls('ask') : says('Fine.');
        isAsked();
        return new Promise(() => {});
      }),
      tools: [ask],
    });
    await root.harken('Ask Jill.');
    const said = root.response();
    await asked;
    root.stop('never mind');
    await expect(said).rejects.toMatchObject({ code: 'SESSION_AGENT_STOPPED' });
    expect(find(await events(), 'agent:tool_result').data).toMatchObject({ status: 'error' });
    expect(root.awaitsResponse).toBe(true);
    expect(String(await root.response())).toBe('Fine.');
    await session.close();
  });

  it('while its call waits for a person takes the call back, and refuses the answer to it', async () => {
    const { create, envelope } = prepare();
    const list = tools({ delete: () => done('deleted') });
    const waiting = {
      ...list,
      listTools: () => [
        { name: 'delete', description: 'd', inputSchema: { type: 'object' }, waitsFor: 'approval' as const },
      ],
    };
    const { session, root } = await create({
      model: answers(calls('delete'), says('Then not.')),
      tools: [waiting],
    });
    await root.harken('Delete.');
    const said = root.response().catch((error: unknown) => error);
    while (session.pending().length === 0) await new Promise((resolve) => setImmediate(resolve));
    root.stop();
    expect(await said).toMatchObject({ code: 'SESSION_AGENT_STOPPED' });
    expect(session.pending()).toEqual([]);
    expect((await envelope())?.pending).toEqual([]);
    await expect(session.answer('call_1', { decision: 'approve' })).rejects.toMatchObject({
      code: 'SESSION_ANSWER_REFUSED',
    });
    expect(String(await root.response())).toBe('Then not.');
    await session.close();
  });
});

describe('limits of time', () => {
  it('give a tool that takes too long an error as its result, and stop an answer that takes too long', async () => {
    const { create, events } = prepare();
    const slow = tools({ wait: () => new Promise(() => {}) });
    const { session, root } = await create({
      model: answers(calls('wait'), says('It was slow.')),
      tools: [slow],
      toolTimeoutMs: 5,
    });
    await root.harken('Wait.');
    expect(String(await root.response())).toBe('It was slow.');
    expect(find(await events(), 'agent:tool_result').data.error).toBe(
      'Error: wait gave no result within 5 ms.',
    );
    await session.close();

    const other = prepare();
    const { provider } = hanging('I thi');
    const limited = await other.create({ model: provider, answerTimeoutMs: 5 });
    await limited.root.harken('Think.');
    await expect(limited.root.response()).rejects.toMatchObject({ code: 'SESSION_AGENT_STOPPED' });
    expect(find(await other.events(), 'harness:answer_stopped').data).toMatchObject({ by: 'time limit' });
    await limited.session.close();
  });
});

it('a message that interrupts leaves out the calls that have not begun, and is in the next call of the model', async () => {
  const { create } = prepare();
  const made: unknown[] = [];
  const prompts: ModelRequest['messages'][] = [];
  const { session, root } = await create({
    model: model(({ messages }) => {
      prompts.push(messages);
      const toolCalls = [1, 2].map((number) => ({ toolCallId: `c${number}`, tool: 'step', input: number }));
      return prompts.length === 1 ? { text: '', toolCalls } : says('I stop.');
    }),
    tools: [
      tools({
        step: async ({ input }) => {
          made.push(input);
          await root.harken('Stop there.', { during: 'interrupt' });
          return done('stepped');
        },
      }),
    ],
  });
  await root.harken('Two steps.');
  expect(String(await root.response())).toBe('I stop.');
  expect(made).toEqual([1]);
  expect(prompts[1]?.map(({ text }) => text)).toEqual([
    ...['Two steps.', '', 'stepped'],
    ...['Error: not called: you received a message meanwhile that comes first.', 'Stop there.'],
  ]);
  await session.close();
});

import { takenBackText } from '@hansard/prompt';
import type { ModelMessage } from '@hansard/provider';
import { forkSession, loadSession } from '@hansard/session';
import { createLogIndex, dialogOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { dispatchId, find, prepare, taskDir, typesOf } from './prepare.ts';
import { calls, done, hostOf, model, type Reply, says, tools } from './scripted.ts';

/** A model with these answers, which keeps what it was given. */
function listening(...replies: readonly Reply[]) {
  const left = [...replies];
  const prompts: ModelMessage[][] = [];
  const listener = model(({ messages }) => {
    prompts.push([...messages]);
    return left.shift() ?? says('Nothing more.');
  });
  return { listener, prompts, last: () => (prompts.at(-1) ?? []).map(({ text }) => text) };
}

describe('what a rewind means for what came after the place', () => {
  it('what the agent received, thought and said is in no later prompt and not in its transcript; it stays in the log, and its cost counts', async () => {
    const { create, events, envelope } = prepare();
    const { listener, last } = listening(says('Two.', { costUsd: 0.5 }), says('Five.', { costUsd: 0.25 }));
    const { session, root } = await create({ model: listener });
    const asked = await root.harken('One and one?');
    await root.response();
    await root.rewind({ before: asked });
    await root.harken('Two and three?');
    await root.response();
    expect(last()).toEqual(['Two and three?']);
    expect((await root.transcript()).map(({ content }) => content)).toEqual(['Two and three?', 'Five.']);
    await session.close();
    expect(await envelope()).toMatchObject({ cost: 0.75, branched: true });
    expect(find(await events(), 'agent:text', { text: 'Two.' })).toBeDefined();
  });

  it('a message that waited for an answer no longer waits, and one whose answer was cut waits again', async () => {
    const { create, load } = prepare();
    const { session, root } = await create({ model: listening(says('Here.'), says('Still here.')).listener });
    const first = await root.harken('Where?');
    await root.response();
    await root.harken('And now?');
    await root.rewind({ keptThrough: first });
    expect(root.awaitsResponse).toBe(true);
    expect(String(await root.response())).toBe('Still here.');
    await root.harken('Really?');
    await root.rewind({ keptThrough: null });
    expect(root.awaitsResponse).toBe(false);
    await session.close();
    expect((await load()).root.awaitsResponse).toBe(false);
  });

  it('a message that arrives during the first answer after it still needs an answer', async () => {
    const { create } = prepare();
    const heard: Promise<unknown>[] = [];
    const { root } = await create({
      model: model(() => {
        if (heard.length === 0) heard.push(root.harken('One more thing.'));
        return says('Well.');
      }),
    });
    const first = await root.harken('Go.');
    await root.harken('No, wait.');
    await root.rewind({ keptThrough: first });
    await root.response();
    await Promise.all(heard);
    expect(root.awaitsResponse).toBe(true);
  });

  it('an agent that was created after it stays, with its transcript, and can be used', async () => {
    const { create } = prepare();
    const task = tools({
      task: async (call) => {
        const { agentId } = await hostOf(call).createAgent({ name: 'Jill', systemPrompt: 'You paint.' });
        await hostOf(call).deliver(agentId, { text: 'Paint.' });
        return done(`created ${agentId}`);
      },
    });
    const { listener, last } = listening(calls('task'), says('Jill paints.'), says('Blue.'));
    const { session, root } = await create({ model: listener, tools: [task] });
    const asked = await root.harken('Get a painter.');
    await root.response();
    await root.rewind({ before: asked });
    expect(await root.transcript()).toEqual([]);
    const jill = await session.getAgent(
      session.listAgents().find(({ name }) => name === 'Jill')?.agentId ?? '',
    );
    expect(jill.info).toMatchObject({ state: 'active', parentAgentId: root.agentId });
    expect(String(await jill.response())).toBe('Blue.');
    expect(last()).toEqual(['You paint.', 'Paint.']);
  });

  it('what others received from the agent they keep, and dialogs mark it as taken back by its author', async () => {
    const { create, events } = prepare();
    const { listener, last } = listening(says('The key is under the mat.'), says('Thank you.'));
    const { session, root } = await create({ model: listener });
    const jill = await session.createAgent({ name: 'Jill' });
    const asked = await root.harken('Where is the key?');
    await root.inform(jill, await root.response());
    await root.rewind({ before: asked });
    await jill.response();
    expect(last()).toEqual(['The key is under the mat.']);
    await session.close();
    const said = dialogOf(createLogIndex(await events())).find(({ text }) => text.startsWith('The key'));
    expect(said).toMatchObject({ fate: 'abandoned', audience: [{ agentId: jill.agentId }] });
  });

  it('what a tool has done is not undone, and the call is not repeated', async () => {
    const { create, events } = prepare();
    let written = 0;
    const write = tools({
      write: () => {
        written += 1;
        return done('written');
      },
    });
    const { listener, last } = listening(calls('write'), says('Done.'), says('I see nothing.'));
    const { session, root } = await create({ model: listener, tools: [write] });
    const asked = await root.harken('Write it.');
    await root.response();
    await root.rewind({ before: asked });
    await root.harken('What is written?');
    await root.response();
    expect(last()).toEqual(['What is written?']);
    expect(written).toBe(1);
    await session.close();
    expect(typesOf(await events()).filter((type) => type === 'agent:tool_result')).toHaveLength(1);
  });

  it('a compaction after it is over: the model has the messages again', async () => {
    const { create } = prepare();
    const { listener, last } = listening(says('One.'), says('Two.'));
    const { root } = await create({ model: listener });
    await root.harken('Count.');
    const { messageId = '' } = await root.response();
    await root.compact('They counted.');
    await root.rewind({ keptThrough: messageId });
    await root.harken('Next?');
    await root.response();
    expect(last()).toEqual(['Count.', 'One.', 'Next?']);
  });
});

describe('going back', () => {
  it('returns to a branch that was left', async () => {
    const { create } = prepare();
    const { listener, last } = listening(says('Blue.'), says('Red.'), says('Blue again.'));
    const { root } = await create({ model: listener });
    await root.harken('A colour?');
    const blue = await root.response();
    await root.rewind({ before: blue.messageId ?? '' });
    await root.response();
    await root.rewind({ keptThrough: blue.messageId ?? '' });
    await root.harken('Sure?');
    await root.response();
    expect(last()).toEqual(['A colour?', 'Blue.', 'Sure?']);
  });

  it('is refused while the agent answers, to what it does not have, and after its end', async () => {
    const { create, events } = prepare();
    const during: unknown[] = [];
    const { session, root } = await create({
      model: model(async () => {
        during.push(await root.rewind({ keptThrough: null }).catch((error: unknown) => error));
        return says('Yes.');
      }),
    });
    const jill = await session.createAgent({ name: 'Jill' });
    const toJill = await jill.harken('Hello.');
    await root.harken('Hello?');
    await root.response();
    expect(during).toMatchObject([{ code: 'SESSION_AGENT_BUSY' }]);
    for (const keptThrough of [toJill, 'nothing', 7 as unknown as string])
      await expect(root.rewind({ keptThrough })).rejects.toMatchObject({ code: 'SESSION_REWIND_INVALID' });
    await session.terminateAgent(jill.agentId);
    await expect(jill.rewind({ keptThrough: null })).rejects.toMatchObject({
      code: 'SESSION_AGENT_TERMINATED',
    });
    await session.close();
    await expect(root.rewind({ keptThrough: null })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    expect(typesOf(await events())).not.toContain('session:rewind');
  });
});

describe('a fork', () => {
  it('begins with a link to its origin, repeats its events with their ids, and continues apart from it', async () => {
    const { store, create, events, envelope } = prepare();
    const { session, root } = await create({
      model: listening(says('One.'), says('Two.'), says('Deux.')).listener,
    });
    await root.harken('Count.');
    const one = await root.response();
    await root.harken('On.');
    const fork = await session.fork({ at: one.messageId ?? '' });
    await root.response();
    await fork.root.harken('En français.');
    expect(String(await fork.root.response())).toBe('Deux.');
    await fork.close();
    await session.close();
    const own = await store.getDispatchEvents(taskDir, fork.dispatchId);
    const origin = await events();
    const from = { product: 'hansard', sessionId: dispatchId, dispatchId };
    expect(own[0]).toMatchObject({ type: 'session:fork', data: { kind: 'fork', from } });
    const repeated = origin.slice(0, origin.findIndex(({ type }) => type === 'agent:inference') + 1);
    expect(own.slice(1, repeated.length + 1)).toEqual(repeated);
    const forked = await store.getDispatchEnvelope(taskDir, fork.dispatchId);
    expect(forked).toMatchObject({ forkedFrom: { kind: 'fork', from }, parentDispatchId: null });
    const [copied = 0, all = 0] = [forked?.forkedFrom?.usage, forked?.usage].map(
      (usage) => usage?.inputTokens,
    );
    expect(copied).toBeGreaterThan(0);
    expect(copied).toBeLessThan(all);
    expect(await envelope()).not.toHaveProperty('forkedFrom');
  });

  it('gives the agent another text in place of a message', async () => {
    const { create } = prepare();
    const { listener, last } = listening(says('Lyon.'), says('Rome.'));
    const { session, root } = await create({ model: listener, systemPrompt: 'You know cities.' });
    const asked = await root.harken('A city in France?');
    await root.response();
    const fork = await session.fork({ at: asked, edit: 'A city in Italy?' });
    expect(fork.root.awaitsResponse).toBe(true);
    await fork.root.response();
    expect(last()).toEqual(['You know cities.', 'A city in Italy?']);
    await fork.close();
  });

  it('of a running call says that the call was taken back, and never makes it', async () => {
    const { store, create, events } = prepare();
    let made = 0;
    const { listener, prompts } = listening(calls('dig'), says('No hole.'), says('A hole.'));
    const { session, root } = await create({
      model: listener,
      tools: [
        tools({
          dig: async () => {
            made += 1;
            const fork = await session.fork();
            expect(fork.root.awaitsResponse).toBe(true);
            expect(String(await fork.root.response())).toBe('No hole.');
            await fork.close();
            return done(`dug in ${fork.dispatchId}`);
          },
        }),
      ],
    });
    await root.harken('Dig.');
    expect(String(await root.response())).toBe('A hole.');
    expect(made).toBe(1);
    expect(prompts[1]?.at(-1)).toMatchObject({ role: 'tool', text: takenBackText, isError: true });
    await session.close();
    const result = find(await events(), 'agent:tool_result');
    const [, forked = ''] = String(result.data.output).split('dug in ');
    const own = await store.getDispatchEvents(taskDir, forked);
    expect(find(own, 'agent:tool_result').data).toMatchObject({ status: 'error', error: takenBackText });
  });

  it('is refused where there is nothing to fork or to edit, and writes nothing then', async () => {
    const { store, create } = prepare();
    const { session, root } = await create({ model: listening(says('Yes.')).listener });
    await root.harken('Well?');
    const said = await root.response();
    await expect(session.fork({ at: 'nowhere' })).rejects.toMatchObject({ code: 'SESSION_EVENT_NOT_FOUND' });
    await expect(session.fork({ at: 999 })).rejects.toMatchObject({ code: 'SESSION_EVENT_NOT_FOUND' });
    for (const at of [said.messageId, undefined])
      await expect(session.fork({ at, edit: 'No.' })).rejects.toMatchObject({ code: 'SESSION_FORK_INVALID' });
    await session.close();
    const ref = { store, taskDir, dispatchId };
    await expect(forkSession(ref, { dispatchId })).rejects.toMatchObject({ code: 'STORE_DISPATCH_EXISTS' });
    const { dispatches } = await store.listDispatches({ taskDir });
    expect(dispatches.map((one) => one.dispatchId)).toEqual([dispatchId]);
  });
});

it('a past state says what each agent had and what was open, and writes nothing', async () => {
  const { store, create, events } = prepare();
  const { session, root } = await create({
    model: listening(calls('look'), says('Seen.')).listener,
    tools: [tools({ look: () => done('a door') })],
  });
  await root.harken('Look.');
  await root.response();
  const before = await events();
  const call = find(before, 'agent:tool_call');
  const past = await loadSession({ store, taskDir, dispatchId, at: call.id });
  expect(past.agents).toMatchObject([
    { agentId: root.agentId, awaitsResponse: false, openCalls: [{ tool: 'look' }] },
  ]);
  expect(past.agents[0]?.transcript()).toMatchObject([
    { content: 'Look.' },
    { toolCalls: [{ tool: 'look' }] },
  ]);
  const now = await loadSession({ store, taskDir, dispatchId });
  expect(now.position).toBe(before.length - 1);
  expect(now.agents[0]?.transcript()).toEqual(await root.transcript());
  expect(await events()).toEqual(before);
  await session.close();
});

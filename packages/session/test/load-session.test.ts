import { closeAbandonedDispatches, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { takeApart } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { dispatchId, find, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, model, says, tools } from './scripted.ts';

/** A log that some other program wrote. */
async function imported(events: readonly NewEvent[], fidelity: 'full' | 'narrative' = 'full') {
  const prepared = prepare();
  await prepared.store.createDispatch(taskDir, { role: 'import', dispatchId, fidelity });
  await prepared.store.appendEvents(taskDir, dispatchId, events);
  return prepared;
}

const created = (agentId: string, id: string, cause?: string, name?: string) =>
  newEvent('agent:created', name === undefined ? {} : { name }, {
    id,
    agentId,
    ...(cause === undefined ? {} : { cause }),
  });
const heard = (agentId: string, id: string, content: string) =>
  takeApart({ role: 'user', content }, { id, agentId });
const called = (agentId: string, id: string, toolCallId: string) =>
  takeApart(
    { role: 'assistant', content: null, toolCalls: [{ toolCallId, tool: 'task', input: {} }] },
    { id, agentId },
  );

describe('a session that is loaded', () => {
  it('goes on where it was: transcripts, turns, names, ids, and what it cost so far', async () => {
    const { create, load, events, envelope } = prepare();
    const first = await create({
      systemPrompt: 'You chair.',
      languageModel: 'm-1',
      tools: [
        tools({
          task: async (call) => done((await hostOf(call).createAgent({ name: 'Jack' })).agentId),
        }),
      ],
      model: answers(calls('task'), says('Here is Jack.', { costUsd: 0.5 })),
    });
    await first.root.harken('Bring Jack.');
    await first.root.response();
    const transcript = await first.root.transcript();
    await first.session.terminateAgent('agent_002', 'has left');
    const agents = first.session.listAgents();
    await first.session.close();
    expect(await envelope()).toMatchObject({ status: 'completed' });

    const turns: unknown[] = [];
    const { root, session } = await load({
      model: model(({ turn, model }) => {
        turns.push([turn, model]);
        return says('He has left.', { costUsd: 0.25 });
      }),
    });
    expect(await envelope()).toMatchObject({ status: 'running', completedAt: null });
    expect(session.oddities).toEqual([]);
    expect(session.listAgents()).toEqual(agents);
    expect(agents[1]).toMatchObject({ name: 'Jack', parentAgentId: 'agent_001', state: 'terminated' });
    expect(session.allocateAgentId()).toBe('agent_003');
    expect(root.awaitsResponse).toBe(false);
    expect(await root.transcript()).toEqual(transcript);
    await root.harken('Where is he?');
    await root.response();
    expect(turns).toEqual([[2, 'm-1']]);
    await session.close();
    expect((await events()).at(-1)?.data).toMatchObject({ costUsd: 0.75, turns: 3 });
    expect(await envelope()).toMatchObject({ status: 'completed', cost: 0.75 });
  });

  it('closes the calls that were open, in the log and before anything else, and asks the model with none open', async () => {
    const provider = createMemoryStore();
    // Killed while the root's tool waits for Jack, whose own tool is at work.
    const failing = failingStore(Number.POSITIVE_INFINITY, provider);
    const killed = prepare(failing.provider);
    const stuck = Promise.withResolvers<void>();
    const { root: before } = await killed.create({
      tools: [
        tools({
          talk: async (call) => {
            const host = hostOf(call);
            const { agentId } = await host.createAgent({ name: 'Jack' });
            await host.deliver(agentId, { text: 'Hello' });
            return done((await host.respond(agentId)).text);
          },
          wait: () => {
            stuck.resolve();
            return new Promise(() => {});
          },
        }),
      ],
      model: model(({ agentId }) =>
        agentId === 'agent_001' ? calls('talk', {}, 'c1') : calls('wait', {}, 'c1'),
      ),
    });
    await before.harken('Go');
    before.response().catch(() => {});
    await stuck.promise;

    const { load, events } = prepare(provider);
    const asked: unknown[] = [];
    const length = (await events()).length;
    const { root } = await load({
      model: model(({ messages }) => {
        asked.push(messages.at(-1));
        return says('It was interrupted.');
      }),
    });
    const closing = (await events()).slice(length);
    expect(closing).toMatchObject([
      {
        agentId: 'agent_001',
        type: 'agent:tool_result',
        data: { toolCallId: 'c1', tool: 'talk', status: 'error' },
      },
      {
        agentId: 'agent_002',
        type: 'agent:tool_result',
        data: { toolCallId: 'c1', tool: 'wait', status: 'error' },
      },
    ]);
    expect(closing[0]?.data.error).toMatch(/^interrupted/);
    expect(root.awaitsResponse).toBe(true);
    expect(String(await root.response())).toBe('It was interrupted.');
    expect(asked).toEqual([
      { role: 'tool', toolCallId: 'c1', tool: 'talk', text: closing[0]?.data.output, isError: true },
    ]);
    // Nothing is left to close the next time.
    await prepare(provider).load();
    expect((await events()).length).toBe(length + 4);
  });

  it('is running again after its process died and a start-up called it crashed', async () => {
    const provider = createMemoryStore();
    await (await prepare(provider).create()).root.harken('Hello?');
    const { store, load, envelope } = prepare(provider);
    await closeAbandonedDispatches(store, taskDir);
    expect(await envelope()).toMatchObject({ status: 'crashed' });
    const { root, session } = await load({ model: answers(says('Yes?')) });
    expect(await envelope()).toMatchObject({ status: 'running' });
    expect(root.awaitsResponse).toBe(true);
    expect(String(await root.response())).toBe('Yes?');
    expect(session.oddities).toEqual([]);
  });

  it('was read once, page by page; a transcript is read when it is asked for, and then kept', async () => {
    const events = [created('agent_root', 'm1'), created('agent_jack', 'm2', 'm1', 'Jack')];
    for (let index = 0; index < 2_500; index += 1)
      events.push(...(heard('agent_jack', `h${index}`, 'x') as never[]));
    const { store, load } = await imported(events);
    const read: number[] = [];
    const counting = new Proxy(store, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        if (key !== 'readEvents') return member.bind(target);
        return async (...args: Parameters<typeof store.readEvents>) => {
          const page = await target.readEvents(...args);
          read.push(page.events.length);
          return page;
        };
      },
    });
    const { session } = await load({ store: counting });
    // And a look at what its last writer added before it let go.
    expect(read).toEqual([1_000, 1_000, 502, 0, 0]);
    const jack = await session.getAgent('agent_jack');
    expect(read.slice(5).reduce((sum, count) => sum + count, 0)).toBe(2_501);
    expect(await jack.transcript()).toHaveLength(2_500);
    expect(read).toHaveLength(9);
  });

  it('knows what its last writer added while it was read, and gives no id twice', async () => {
    const provider = createMemoryStore();
    const before = await prepare(provider).create({ systemPrompt: 'You chair.' });
    const handingOver = new Proxy(provider, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          if (key === 'updateDispatch' && before.session.listAgents().length === 1) {
            before.session.logAgentCreated(before.session.allocateAgentId(), { name: 'Jack' });
            await before.session.close();
          }
          return member.apply(target, args);
        };
      },
    });
    const { session } = await prepare(handingOver).load();
    expect(session.listAgents().map(({ name }) => name)).toEqual([null, 'Jack']);
    expect(session.allocateAgentId()).toBe('agent_003');
  });
});

describe('a log from elsewhere', () => {
  it('keeps its ids, and new agents get ids that it does not use', async () => {
    const { load } = await imported([
      created('agent_root', 'm1'),
      ...heard('agent_root', 'm2', 'Create Jack'),
      ...called('agent_root', 'm3', 'c1'),
      created('agent_jack', 'm4', 'm3', 'Jack'),
      created('agent_007', 'm5', 'm3', 'Bond'),
      created('agent_99999999999999999999', 'm6', 'm3'),
    ]);
    const { root, session } = await load();
    expect(root.agentId).toBe('agent_root');
    expect(session.listAgents().map(({ agentId, parentAgentId }) => [agentId, parentAgentId])).toEqual([
      ['agent_root', null],
      ['agent_jack', 'agent_root'],
      ['agent_007', 'agent_root'],
      ['agent_99999999999999999999', 'agent_root'],
    ]);
    expect(session.allocateAgentId()).toBe('agent_008');
  });

  it('gives its root what names no agent, also where that stands before the root', async () => {
    const { load, events } = await imported([
      ...heard('', 'm1', 'Create Jack'),
      ...called('', 'm2', 'c1'),
      created('agent_root', 'm3'),
    ]);
    const { root } = await load();
    expect((await events()).at(-1)).toMatchObject({
      type: 'agent:tool_result',
      agentId: 'agent_root',
      data: { toolCallId: 'c1' },
    });
    expect((await root.transcript()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(root.awaitsResponse).toBe(true);
  });

  it('is kept and usable with all that is odd about it, which is reported with its place', async () => {
    const { load, events } = await imported([
      ...heard('agent_ghost', 'm0', 'Nobody created me'),
      created('agent_root', 'm1'),
      created('agent_two', 'm2'),
      created('agent_jack', 'm3', 'm9'),
      created('agent_jack', 'm4', 'm1', 'Jack again'),
      ...takeApart({ role: 'user', content: 'a' }, { id: 'm5', agentId: 'agent_root', substance: 'nowhere' }),
      ...takeApart(
        { role: 'user', content: 'b' },
        { id: 'm6', agentId: 'agent_jack', cause: ['m1', 'm6'], via: 'm9' },
      ),
      ...called('agent_root', 'm9', 'c1'),
      { id: 'm10', type: 'game:vote', agentId: 'agent_jack', data: { for: 'Jill' } },
    ]);
    const { root, session } = await load({ model: answers(says('Fine.')) });
    expect(session.oddities.map(({ kind, eventId, position }) => [kind, eventId, position])).toEqual([
      ['unknown_agent', 'm0', 0],
      ['second_root', 'm2', 2],
      ['reference_ahead', 'm3', 3],
      ['agent_created_twice', 'm4', 4],
      ['reference_to_nowhere', 'm5', 5],
      ['reference_ahead', 'm6', 6],
      ['reference_ahead', 'm6', 6],
    ]);
    expect(session.oddities[4]?.message).toContain('its substance is nowhere, which is not in this log');
    expect(root.agentId).toBe('agent_root');
    expect(session.listAgents().map(({ agentId }) => agentId)).toEqual([
      'agent_ghost',
      'agent_root',
      'agent_two',
      'agent_jack',
    ]);
    expect(await (await session.getAgent('agent_ghost')).transcript()).toHaveLength(1);
    expect(String(await root.response())).toBe('Fine.');
    expect(find(await events(), 'game:vote').data).toEqual({ for: 'Jill' });
  });

  it('with an event whose data no reader knows is loaded without it, and says so', async () => {
    const provider = createMemoryStore();
    const { store, load } = prepare(provider);
    await store.createDispatch(taskDir, { role: 'import', dispatchId, fidelity: 'full' });
    const timestamp = '2026-03-01T09:00:00.000Z';
    await provider.appendEvents(taskDir, dispatchId, [
      { ...created('agent_001', 'm1'), id: 'm1', timestamp },
      {
        id: 'm2',
        type: 'agent:text',
        timestamp,
        agentId: 'agent_001',
        messageId: 'm2',
        data: { words: ['?'] },
      },
    ]);
    const { root, session } = await load();
    expect(session.oddities).toMatchObject([{ kind: 'unreadable_event', eventId: 'm2', position: 1 }]);
    expect(await root.transcript()).toEqual([]);
  });

  it('gives the id of an agent whose creation no reader knows to nobody else', async () => {
    const provider = createMemoryStore();
    const { store, load } = prepare(provider);
    await store.createDispatch(taskDir, { role: 'import', dispatchId, fidelity: 'full' });
    const timestamp = '2026-03-01T09:00:00.000Z';
    await provider.appendEvents(taskDir, dispatchId, [
      { id: 'm1', type: 'agent:created', timestamp, agentId: 'agent_001', data: {} },
      { id: 'm2', type: 'agent:created', timestamp, agentId: 'agent_002', data: { name: ['Jack'] } },
    ]);
    const { session } = await load();
    expect(session.oddities).toMatchObject([{ kind: 'unreadable_event', eventId: 'm2' }]);
    expect(session.allocateAgentId()).toBe('agent_003');
  });

  it('that was answered after a call was left open is not asked to answer again', async () => {
    const { load, events } = await imported([
      created('agent_root', 'm1'),
      ...called('agent_root', 'm2', 'c1'),
      ...heard('agent_root', 'm3', 'Never mind.'),
      ...takeApart({ role: 'assistant', content: 'Fine.' }, { id: 'm4', agentId: 'agent_root' }),
    ]);
    const { root } = await load();
    expect(typesOf(await events()).at(-1)).toBe('agent:tool_result');
    expect(root.awaitsResponse).toBe(false);
  });

  it('is refused where it is narrative, holds no agent, or is not there', async () => {
    const narrative = await imported([created('agent_root', 'm1')], 'narrative');
    await expect(narrative.load()).rejects.toMatchObject({ code: 'SESSION_NOT_FULL' });
    const empty = await imported(heard('agent_root', 'm1', 'Hello'));
    await expect(empty.load()).rejects.toMatchObject({ code: 'SESSION_LOG_INVALID' });
    expect(typesOf(await empty.events())).toEqual(['user:message']);
    await expect(empty.load({ dispatchId: 'D2' })).rejects.toMatchObject({
      code: 'STORE_DISPATCH_NOT_FOUND',
    });
  });

  it('that a store can not write to any more is not half changed', async () => {
    const provider = createMemoryStore();
    await (await prepare(provider).create()).session.close();
    const store = openDispatchStore(provider);
    await store.close();
    await expect(prepare(provider).load()).rejects.toMatchObject({ code: 'STORE_CLOSED' });
  });
});

import { closeAbandonedDispatches, createCommunicationHub } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { created, heard, imported } from './foreign-log.ts';
import { prepare, taskDir } from './prepare.ts';
import { answers, calls, done, hostOf, model, type Reply, says, tools } from './scripted.ts';

describe('a session that is loaded', () => {
  it('continues where it was: transcripts, turns, names, ids, and its cost so far', async () => {
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
    expect(session.diagnostics).toEqual([]);
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

  it('publishes the names of its agents, whose creation was not published', async () => {
    const { create, load } = prepare();
    const first = await create();
    const jack = first.session.allocateAgentId();
    first.session.logAgentCreated(jack, { name: 'Jack' });
    await first.session.close();
    const started: unknown[] = [];
    const communication = createCommunicationHub([
      {
        contract: 1,
        dispatchStarted: ({ agents }) =>
          void started.push(agents?.map(({ agentId, name }) => [agentId, name])),
        eventRecorded() {},
      },
    ]);
    await communication.start();
    await load({ communication });
    await prepare().create({ communication });
    await communication.close();
    expect(started).toEqual([
      [
        ['agent_001', null],
        [jack, 'Jack'],
      ],
      [],
    ]);
  });

  it('continues with another model if it is given one, except for agents with a model of their own', async () => {
    const { create, load, events } = prepare();
    const task = tools({
      task: async (call) => {
        const host = hostOf(call);
        await host.createAgent(call.input as { name: string; languageModel?: string });
        return done('There.');
      },
    });
    const ann = calls('task', { name: 'Ann' });
    const bo = calls('task', { name: 'Bo', languageModel: 'small' });
    const first = await create({
      languageModel: 'm-1',
      tools: [task],
      model: answers(ann, bo, says('Two.')),
    });
    await first.root.response();
    await first.session.close();

    const asked: unknown[] = [];
    const script: Readonly<Record<string, readonly Reply[]>> = {
      root: [calls('task', { name: 'Cy' }), says('Three.')],
      Ann: [calls('task', { name: 'Di' }), says('Four.')],
      Bo: [calls('task', { name: 'Ed' }), says('Five.')],
    };
    const { session } = await load({
      languageModel: 'm-2',
      tools: [task],
      model: model(({ agentName, model: its, messages }) => {
        asked.push([agentName, its]);
        return script[agentName ?? 'root']?.[messages.at(-1)?.role === 'tool' ? 1 : 0] ?? says('');
      }),
    });
    for (const { agentId } of session.listAgents()) {
      const agent = await session.getAgent(agentId);
      await agent.harken('Bring one more.');
      await agent.response();
    }
    expect(asked.filter((_, index) => index % 2 === 0)).toEqual([
      [null, 'm-2'],
      ['Ann', 'm-2'],
      ['Bo', 'small'],
    ]);
    const recorded = (await events()).filter(({ type }) => type === 'agent:created').map(({ data }) => data);
    expect(recorded).toEqual([
      { languageModel: 'm-1' },
      { name: 'Ann', languageModel: 'm-1' },
      { name: 'Bo', languageModel: 'small' },
      { name: 'Cy', languageModel: 'm-2' },
      { name: 'Di', languageModel: 'm-2' },
      { name: 'Ed', languageModel: 'small' },
    ]);
    expect(session.listAgents().map(({ languageModel }) => languageModel)).toEqual([
      'm-2',
      'm-2',
      'small',
      'm-2',
      'm-2',
      'small',
    ]);
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
    expect(session.diagnostics).toEqual([]);
  });

  it('was read once, page by page; a transcript is read when it is asked for, and then kept', async () => {
    const events = [created('agent_root', 'm1'), created('agent_jack', 'm2', 'm1', 'Jack')];
    for (let index = 0; index < 2_500; index += 1)
      events.push(...(heard('agent_jack', `h${index}`, 'x') as never[]));
    const provider = createMemoryStore();
    const { load } = await imported(events, 'full', provider);
    const read: number[] = [];
    const readEvents = provider.readEvents.bind(provider);
    provider.readEvents = (...args) => {
      const page = readEvents(...args);
      read.push(page.events.length);
      return page;
    };
    const { session } = await load();
    expect(read).toEqual([1_000, 1_000, 502, 0]);
    const jack = await session.getAgent('agent_jack');
    expect(read.slice(4).reduce((sum, count) => sum + count, 0)).toBe(2_501);
    expect(await jack.transcript()).toHaveLength(2_500);
    expect(read).toHaveLength(8);
  });

  it('knows what its last writer added while it was read, and gives no id twice', async () => {
    const provider = createMemoryStore();
    const before = await prepare(provider).create({ systemPrompt: 'You chair.' });
    const handingOver = new Proxy(provider, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          if (key === 'claimDispatch' && before.session.listAgents().length === 1) {
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

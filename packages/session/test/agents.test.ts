import type { AgentHost, AgentInfo } from '@hansard/provider';
import { LoggedString } from '@hansard/session';
import { countEvents } from '@hansard/testing';
import { causesOf, createLogIndex, effectsOf, renderCauses } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, model, type Reply, says, tools } from './scripted.ts';

/** A session whose root calls a tool once; the tool does with the agents what the test wants. */
async function withHost(act: (host: AgentHost) => Promise<unknown>, ...others: Reply[]) {
  const prepared = prepare();
  let given: unknown;
  const { root, session } = await prepared.create({
    languageModel: 'm-1',
    tools: [
      tools({
        act: async (call) => {
          given = await act(hostOf(call));
          return done('Done.');
        },
      }),
    ],
    model: model(({ agentId, turn }) => {
      if (agentId !== 'agent_001') return others.shift() ?? says('…');
      return turn === 0 ? calls('act') : says('That was it.');
    }),
  });
  await root.harken('Go');
  await root.response();
  return { ...prepared, root, session, given, log: await prepared.events() };
}

describe('an agent that a tool creates', () => {
  it('is durable with its prompt before the tool continues, and has the call as its cause', async () => {
    const inLog: string[][] = [];
    const prepared = prepare();
    const { root } = await prepared.create({
      languageModel: 'm-1',
      tools: [
        tools({
          task: async (call) => {
            const agent = await hostOf(call).createAgent({ name: 'Jack', systemPrompt: 'You work in HR.' });
            inLog.push(typesOf(await prepared.events()).slice(-2));
            return done(agent.agentId);
          },
        }),
      ],
      model: answers(
        {
          text: '',
          toolCalls: [
            { toolCallId: 'c1', tool: 'none', input: {} },
            { toolCallId: 'c2', tool: 'task', input: {} },
          ],
        },
        says('Ok.'),
      ),
    });
    await root.harken('Go');
    await root.response();
    expect(inLog).toEqual([['agent:created', 'agent:system_prompt']]);
    const log = await prepared.events();
    expect(find(log, 'agent:created', { name: 'Jack' })).toMatchObject({
      agentId: 'agent_002',
      cause: find(log, 'agent:tool_call', { toolCallId: 'c2' }).id,
      data: { name: 'Jack', languageModel: 'm-1' },
    });
  });

  it('speaks when it is asked, and what it said has an id', async () => {
    const { given, log } = await withHost(async (host) => {
      const { agentId } = await host.createAgent({ name: 'Jack' });
      const piece = await host.logPieceOfText('You meet in a café.');
      await host.deliver(agentId, { text: piece });
      return host.respond(agentId);
    }, says("Hi, I'm Jack."));
    expect(given).toBeInstanceOf(LoggedString);
    expect(given).toMatchObject({
      text: "Hi, I'm Jack.",
      messageId: find(log, 'agent:text', { text: "Hi, I'm Jack." }).id,
    });
    const piece = find(log, 'agent:piece_of_text');
    expect(piece).toMatchObject({ agentId: 'agent_001', cause: find(log, 'agent:tool_call').id });
    expect(find(log, 'user:message', { text: 'You meet in a café.' })).toMatchObject({ substance: piece.id });
  });

  it('has the call that asked it as the cause of its first answer in each turn, which the causes of an event show', async () => {
    const ask = { text: '', toolCalls: [{ toolCallId: 'j1', tool: 'unknown', input: {} }] };
    const { log } = await withHost(
      async (host) => {
        const { agentId } = await host.createAgent({ name: 'Jack' });
        await host.deliver(agentId, { text: 'Begin.' });
        await host.respond(agentId);
      },
      ask,
      says('Done, Jack says.'),
    );
    const act = find(log, 'agent:tool_call', { tool: 'act' });
    const first = find(log, 'agent:tool_call', { tool: 'unknown' });
    const said = find(log, 'agent:text', { text: 'Done, Jack says.' });
    expect(first.cause).toBe(act.id);
    expect(said).not.toHaveProperty('cause');
    const index = createLogIndex(log);
    const rows = causesOf(index, said.id);
    const row = rows.find(({ id }) => id === first.id);
    expect(row?.asked).toBe('recorded');
    expect(row?.because).toContainEqual({ kind: 'cause', id: act.id, isLost: false });
    expect(renderCauses(index, rows)).not.toContain('not recorded');
    expect(effectsOf(index, act.id).map(({ id }) => id)).toEqual(expect.arrayContaining([first.id, said.id]));
  });

  it('is found by id and by name: children first, active before terminated, null where several are as near', async () => {
    const { given } = await withHost(async (host) => {
      const one = await host.createAgent({ name: 'Twin' });
      const only = host.findAgent('Twin');
      const two = await host.createAgent({ name: 'Twin' });
      const ambiguous = host.findAgent('Twin');
      await host.terminateAgent(one.agentId);
      const left = host.findAgent('Twin');
      return {
        only: only?.agentId,
        ambiguous,
        left: left?.agentId,
        byId: host.findAgent(two.agentId)?.name,
        nobody: host.findAgent('Nobody'),
        caller: host.caller.agentId,
        all: host.listAgents().map(({ agentId, state }: AgentInfo) => `${agentId} ${state}`),
      };
    });
    expect(given).toEqual({
      only: 'agent_002',
      ambiguous: null,
      left: 'agent_003',
      byId: 'Twin',
      nobody: null,
      caller: 'agent_001',
      all: ['agent_001 active', 'agent_002 terminated', 'agent_003 active'],
    });
  });

  it('that was terminated takes and says nothing more, and can still be read', async () => {
    const { session, root, log } = await withHost(async (host) => {
      const { agentId } = await host.createAgent({ name: 'Jack', systemPrompt: 'You work in HR.' });
      await host.terminateAgent(agentId);
    });
    expect(find(log, 'agent:terminated')).toMatchObject({
      agentId: 'agent_002',
      cause: find(log, 'agent:tool_call').id,
    });
    const jack = await session.getAgent('agent_002');
    const terminated = { code: 'SESSION_AGENT_TERMINATED' };
    await expect(jack.harken('Hello?')).rejects.toMatchObject(terminated);
    await expect(jack.response()).rejects.toMatchObject(terminated);
    await expect(jack.inform(root, 'Hello?')).rejects.toMatchObject(terminated);
    await expect(root.inform(jack, 'Hello?')).rejects.toMatchObject(terminated);
    await expect(session.terminateAgent('agent_002')).rejects.toMatchObject(terminated);
    expect(await jack.transcript()).toEqual([{ role: 'system', content: 'You work in HR.' }]);
  });

  it('has no second answer while it waits for its own tool, so that two agents can not wait for each other', async () => {
    const { log } = await withHost(async (host) => host.respond(host.caller.agentId));
    expect(find(log, 'agent:tool_result').data).toMatchObject({
      status: 'error',
      output: expect.stringContaining('agent_001 is answering already'),
    });
  });

  it('that a tool lets speak and does not wait for ends no process when that fails', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    let late: (() => void) | undefined;
    const { log } = await withHost(async (host) => {
      void host.respond('agent_009');
      late = () => void host.logPieceOfText('too late');
    });
    late?.();
    // Node reports unhandled rejections after a turn of its loop.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(typesOf(log)).not.toContain('agent:piece_of_text');
  });

  it('cannot be used by a tool whose call is over', async () => {
    let kept: AgentHost | undefined;
    const { log } = await withHost(async (host) => {
      kept = host;
    });
    await expect(kept?.createAgent({ name: 'Late' })).rejects.toMatchObject({ code: 'DISPATCH_CALL_OVER' });
    expect(typesOf(log).filter((type) => type === 'agent:created')).toHaveLength(1);
  });
});

describe('agents of a session', () => {
  it('inform each other, with the substance of what they pass on', async () => {
    const { create, events } = prepare();
    const { root, session } = await create();
    const id = session.allocateAgentId();
    session.logAgentCreated(id, { name: 'Jill' });
    const jill = await session.getAgent(id);
    expect(await root.inform(jill, 'Hello')).toEqual({
      ...{ status: 'delivered', text: 'Hello', messageId: expect.any(String) },
    });
    await root.inform(jill, new LoggedString('Hello again', 'u1'));
    const heard = (await events()).filter(({ type }) => type === 'user:message');
    expect(heard).toMatchObject([
      { agentId: id, data: { text: 'Hello', source: { kind: 'agent', agentId: 'agent_001' } } },
      { agentId: id, substance: 'u1' },
    ]);
    expect(jill.awaitsResponse).toBe(true);
  });

  it('can be evicted and are rebuilt with their transcript, and an Agent object stays usable', async () => {
    const { create, store, events } = prepare();
    const { root, session } = await create({ model: answers(says('One.'), says('Two.')) });
    await root.harken('First?');
    await root.response();
    const before = await root.transcript();
    await session.evictAgent('agent_001');
    await root.harken('Second?');
    await root.response();
    expect(await root.transcript()).toEqual([
      ...before,
      { role: 'user', content: 'Second?' },
      { role: 'assistant', content: 'Two.' },
    ]);
    expect(await (await session.getAgent('agent_001')).transcript()).toEqual(await root.transcript());
    expect(await countEvents(store, 'cafe/tasks/first-meeting', 'D1')).toBe((await events()).length);
  });

  it('are not found where there are none', async () => {
    const { create } = prepare();
    const { session } = await create();
    await expect(session.getAgent('agent_009')).rejects.toMatchObject({ code: 'SESSION_AGENT_NOT_FOUND' });
    await expect(session.evictAgent('agent_009')).rejects.toMatchObject({ code: 'SESSION_AGENT_NOT_FOUND' });
    await expect(session.terminateAgent('agent_001')).rejects.toMatchObject({
      code: 'SESSION_AGENT_IS_ROOT',
    });
  });
});

describe('an error about an agent', () => {
  it('names it by its name and its id', async () => {
    const { create } = prepare();
    const { root, session } = await create({ model: model(() => Promise.reject(new Error('overloaded'))) });
    const jack = await session.createAgent({ name: 'Jack' });
    await jack.harken('Hi');
    await expect(jack.response()).rejects.toThrow(
      'The model of Jack (agent_002) gave no usable answer: overloaded',
    );
    await expect(jack.compact('Nothing yet.')).rejects.toThrow(
      'The agent Jack (agent_002) has not answered yet',
    );
    await expect(session.getAgent('agent_009')).rejects.toThrow('it has agent_001, Jack (agent_002).');
    expect(() => session.logAgentCreated('agent_002')).toThrow('an agent Jack (agent_002);');
    await session.terminateAgent(jack.agentId);
    await expect(root.inform(jack, 'Hello?')).rejects.toThrow('The agent Jack (agent_002) was terminated');
    await expect(session.terminateAgent(root.agentId)).rejects.toThrow('The agent agent_001 is the root');
  });
});

import { storeErrors, type ToolProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { find, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, calls, done, says, tools } from './scripted.ts';

describe('a new session', () => {
  it('is a dispatch of full fidelity whose log begins with its root and its system prompt', async () => {
    const { create, events, envelope } = prepare();
    const { root, session } = await create({
      languageModel: 'm-1',
      systemPrompt: 'You chair a scene.',
      botId: 'lucy',
    });
    expect(await envelope()).toMatchObject({
      fidelity: 'full',
      status: 'running',
      model: 'm-1',
      role: 'session',
      botId: 'lucy',
    });
    const [created, prompt, ...more] = await events();
    expect(created).toMatchObject({
      type: 'agent:created',
      agentId: 'agent_001',
      data: { languageModel: 'm-1' },
    });
    expect(created).not.toHaveProperty('cause');
    expect(prompt).toMatchObject({ type: 'agent:system_prompt', data: { text: 'You chair a scene.' } });
    expect(more).toEqual([]);
    expect(root.info).toEqual({
      agentId: 'agent_001',
      name: null,
      languageModel: 'm-1',
      parentAgentId: null,
      state: 'active',
    });
    expect(session.diagnostics).toEqual([]);
  });

  it('creates the record of its task if there is none, and reports one that cannot be read', async () => {
    const { create, store, envelope } = prepare();
    await create();
    const { startedAt } = (await envelope()) ?? {};
    expect(await store.findTask(taskDir)).toEqual({
      slug: 'first-meeting',
      name: 'first-meeting',
      project: 'cafe',
      status: 'open',
      created: startedAt,
    });
    const damaged = storeErrors.error('STORE_CORRUPT', 'The record is damaged.');
    const provider = createMemoryStore();
    const other = prepare(Object.assign(provider, { findTask: () => Promise.reject(damaged) }));
    const problems: unknown[] = [];
    const { root } = await other.create({ onTaskProblem: (error) => problems.push(error) });
    await root.harken('Hello');
    expect(problems).toEqual([damaged]);
    expect(typesOf(await other.events())).toEqual(['agent:created', 'user:message']);
  });

  it('does not wait for a tool provider that never lists its tools once its owner stopped it', async () => {
    const controller = new AbortController();
    const { create, load, events } = prepare();
    const hanging: ToolProvider = {
      contract: 1,
      listTools: () => new Promise<never>(() => {}),
      callTool: () => says('') as never,
    };
    const options = { signal: controller.signal, tools: [hanging] };
    const creating = create(options);
    controller.abort(new Error('enough'));
    const { root, session } = await creating;
    await expect(root.response()).rejects.toThrow('enough');
    await session.close();
    expect(find(await events(), 'harness:abort').data).toEqual({ reason: 'enough', by: 'signal' });

    const again = new AbortController();
    const loading = load({ ...options, signal: again.signal });
    again.abort(new Error('enough again'));
    await expect((await loading).root.response()).rejects.toThrow('enough again');
  });

  it('is not begun where a tool provider can not list its tools', async () => {
    const { create, envelope } = prepare();
    const broken: ToolProvider = {
      contract: 1,
      listTools: () => Promise.reject(new Error('no server')),
      callTool: () => says('') as never,
    };
    await expect(create({ tools: [broken] })).rejects.toThrow('no server');
    expect(await envelope()).toBeNull();
  });

  it('that its owner stopped while it began says so in its log', async () => {
    const controller = new AbortController();
    const { create, events } = prepare();
    const stopping: ToolProvider = {
      contract: 1,
      listTools: () => {
        controller.abort(new Error('enough'));
        return [];
      },
      callTool: () => says('') as never,
    };
    const { root, session } = await create({ signal: controller.signal, tools: [stopping] });
    await expect(root.response()).rejects.toThrow('enough');
    await session.complete('aborted');
    expect(find(await events(), 'harness:abort').data).toEqual({ reason: 'enough', by: 'signal' });
  });

  it('refuses limits that make no sense', async () => {
    const { create } = prepare();
    await expect(create({ maxToolRounds: -1 })).rejects.toMatchObject({ code: 'SESSION_OPTION_INVALID' });
    await expect(create({ modelTimeoutMs: Number.NaN })).rejects.toMatchObject({
      code: 'SESSION_OPTION_INVALID',
    });
  });
});

describe('an event that is logged by hand', () => {
  it('has its id at once, stands in the log in the order of the calls, and is durable when flushed', async () => {
    const { create, events } = prepare();
    const { session } = await create();
    const jack = session.allocateAgentId();
    const call = session.logTranscriptEntry('agent_001', {
      role: 'assistant',
      content: null,
      toolCalls: [{ toolCallId: 'c1', tool: 'task', input: { name: 'Jack' } }],
    });
    const created = session.logAgentCreated(jack, { cause: call, name: 'Jack', languageModel: 'm-2' });
    const piece = session.logPieceOfText('agent_001', 'You meet in a café.', call);
    const heard = session.logTranscriptEntry(
      jack,
      { role: 'user', content: 'You meet in a café.' },
      { substance: piece },
    );
    await session.flushed();
    const log = (await events()).slice(1);
    expect(log.map(({ id }) => id)).toEqual([call, created, piece, heard]);
    expect(log[2]).toMatchObject({ type: 'agent:piece_of_text', agentId: 'agent_001', cause: call });
    expect(log[3]).toMatchObject({ agentId: 'agent_002', substance: piece });
    expect(session.listAgents()).toEqual([
      expect.objectContaining({ agentId: 'agent_001', parentAgentId: null }),
      { agentId: jack, name: 'Jack', languageModel: 'm-2', parentAgentId: 'agent_001', state: 'active' },
    ]);
  });

  it('is refused at once if it is not an event, names an unknown agent or creates an agent twice, and the session continues', async () => {
    const { create, events } = prepare();
    const { session } = await create();
    const message = { role: 'user', content: 'Hello' } as const;
    expect(() => session.logTranscriptEntry('agent_009', message)).toThrow(
      expect.objectContaining({ code: 'SESSION_AGENT_NOT_FOUND' }),
    );
    expect(() => session.logTranscriptEntry('agent_001', message, { substance: 'no id' })).toThrow(
      expect.objectContaining({ code: 'SESSION_OPTION_INVALID' }),
    );
    expect(() => session.logAgentCreated('agent_001')).toThrow(
      expect.objectContaining({ code: 'SESSION_AGENT_EXISTS' }),
    );
    session.logTranscriptEntry('agent_001', message);
    await session.flushed();
    expect(typesOf(await events())).toEqual(['agent:created', 'user:message']);
  });

  it('is recorded as it was given, whatever becomes of the object', async () => {
    const { create, events } = prepare();
    const { session } = await create();
    const input = { path: 'a.txt' };
    session.logTranscriptEntry('agent_001', {
      role: 'assistant',
      content: null,
      toolCalls: [{ toolCallId: 'c1', tool: 'read', input }],
    });
    input.path = 'b.txt';
    await session.flushed();
    expect(find(await events(), 'agent:tool_call').data).toMatchObject({ input: { path: 'a.txt' } });
  });
});

describe('a write that fails', () => {
  it('is reported by flushed and close, and nothing is logged after it', async () => {
    const failing = failingStore(1);
    const { create, events } = prepare(failing.provider);
    const { root, session } = await create();
    session.logTranscriptEntry('agent_001', { role: 'user', content: 'one' });
    session.logTranscriptEntry('agent_001', { role: 'user', content: 'two' });
    await expect(session.flushed()).rejects.toBe(failing.error);
    const closed = expect.objectContaining({ code: 'SESSION_CLOSED', cause: failing.error });
    expect(() => session.logPieceOfText('agent_001', 'x', 'e1')).toThrow(closed);
    await expect(root.harken('three')).rejects.toEqual(closed);
    await expect(root.response()).rejects.toEqual(closed);
    await expect(session.close()).rejects.toBe(failing.error);
    failing.recover();
    expect(typesOf(await events())).toEqual(['agent:created']);
  });

  it('rejects the response that it belongs to, in the middle of a tool call as well', async () => {
    const failing = failingStore(3);
    const { create } = prepare(failing.provider);
    const { root } = await create({
      model: answers(calls('read')),
      tools: [tools({ read: () => done('never') })],
      // What it decides is recorded before the call is made.
      hooks: [{ contract: 1, name: 'Guard', decide: () => ({ decision: 'alter', input: 'a.txt' }) }],
    });
    await root.harken('Read it.');
    await expect(root.response()).rejects.toBe(failing.error);
  });

  it('stops what the agents are doing: nothing of it could be recorded', async () => {
    const failing = failingStore(2);
    const { create } = prepare(failing.provider);
    const asked = Promise.withResolvers<AbortSignal>();
    const { root, session } = await create({
      model: {
        contract: 1,
        generate: ({ signal }) => {
          asked.resolve(signal);
          return new Promise(() => {});
        },
      },
    });
    const asking = await root.harken('Think about it.');
    const response = root.response();
    const signal = await asked.promise;
    session.logPieceOfText('agent_001', 'a note', asking);
    const closed = expect.objectContaining({ code: 'SESSION_CLOSED', cause: failing.error });
    await expect(response).rejects.toEqual(closed);
    expect(signal.aborted).toBe(true);
    await expect(session.close()).rejects.toBe(failing.error);
  });

  it('rejects the harken that it belongs to, with the error of the store', async () => {
    const failing = failingStore(1);
    const { create } = prepare(failing.provider);
    const { root } = await create();
    await expect(root.harken('Hello')).rejects.toBe(failing.error);
  });
});

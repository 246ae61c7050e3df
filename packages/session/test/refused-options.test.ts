import { openDispatchStore } from '@hansard/dispatch';
import { eventDataSchemas } from '@hansard/events';
import { readSessionV2 } from '@hansard/formats';
import { type Agent, LoggedString, type Session } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { dispatchId, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, says, tools } from './scripted.ts';

const call = { toolCallId: 'c1', tool: 'open', input: {} };
const result = { role: 'tool', content: 'Done.', toolCallId: 'c1' };
const asked = (given: object) => [{ role: 'assistant', content: null, ...given }, result];
const created = {
  id: 'e1',
  type: 'agent:created',
  timestamp: '2026-03-01T09:00:00.000Z',
  agentId: 'a',
  data: {},
};

describe('openSession refuses, before it creates or writes anything,', () => {
  it.each([
    ['expect', { expect: 'Existing' }],
    ['expect', { expect: null }],
    ['dispatchId', { dispatchId: 5 }],
    ['dispatchId', { dispatchId: ' ' }],
    ['needsRoot', { needsRoot: 'yes' }],
    ['wait.waitMs', { wait: { waitMs: '5' } }],
    ['events', { events: 'x' }],
    ['events', { events: null }],
    ['model', { model: undefined }],
    ['model', { model: {} }],
    ['store', { store: null }],
    ['taskDir', { taskDir: 7 }],
    ['tools', { tools: {} }],
    ['tools[0]', { tools: [null] }],
    ['hooks[1]', { hooks: [{ contract: 1, name: 'a' }, 'b'] }],
    ['communication', { communication: {} }],
    ['clock', { clock: Date }],
    ['createId', { createId: 'id' }],
    ['signal', { signal: new AbortController() }],
    ['onIncoming', { onIncoming: true }],
    ['onTaskProblem', { onTaskProblem: 'log' }],
    ['tokens', { tokens: 5 }],
    ['context', { context: { name: 'lastMessages', count: 0 } }],
    ['context', { context: null }],
    ['fidelity', { fidelity: 'all' }],
    ['role', { role: '' }],
    ['botId', { botId: 5 }],
    ['languageModel', { languageModel: '' }],
    ['systemPrompt', { systemPrompt: 5 }],
    ['priorOutcomes.dispatchIds', { priorOutcomes: { text: 'They met.' } }],
    ['peers', { peers: { name: 'Ann' } }],
    ['peers[0].name', { peers: [{ name: 5 }] }],
    ['peers[1].name', { peers: [{ name: 'Ann' }, { name: '' }] }],
    ['peers[0].systemPrompt', { peers: [{ systemPrompt: ['You chair.'] }] }],
    ['peers[0].sytemPrompt', { peers: [{ sytemPrompt: 'You chair.' }] }],
    ['loopDetector', { loopDetector: null }],
    ['loopDetector.warnAt', { loopDetector: { window: 3, killAt: 2 } }],
    ['limits', { limits: 5 }],
    ['limits.costUSD', { limits: { costUSD: 5 } }],
    ['limits.turns', { limits: { turns: 5 } }],
    ['workers.maxRuning', { workers: { maxRuning: 5 } }],
    ['workers.limits.timeMS', { workers: { limits: { timeMS: 5 } } }],
    ['workers.agents.scout', { workers: { agents: { scout: 'claude' } } }],
    ['systemprompt', { systemprompt: 'You chair.' }],
  ])('a wrong %s: %j', async (option, options) => {
    const { open, store } = prepare();
    const refused = await open(options as object).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'SESSION_OPTION_INVALID', details: { option } });
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });

  it.each([
    ['a list', 'Hello', undefined],
    ['messages', [null], 0],
    ['messages', ['Hello'], 0],
    ['calls in a list', asked({ toolCalls: null }), 0],
    ['calls', asked({ toolCalls: [null] }), 0],
    ['a call with a tool', asked({ toolCalls: [{ ...call, tool: '' }] }), 0],
    ['a call with an input that JSON holds', asked({ toolCalls: [{ ...call, input: new Date() }] }), 0],
    ['a call with an input that JSON holds', asked({ toolCalls: [{ ...call, input: Number.NaN }] }), 0],
    ['a thought in text', asked({ thinking: 'Hm.', toolCalls: [call] }), 0],
    ['a source', [{ role: 'user', content: 'Hello', source: { kind: 'robot' } }], 0],
    ['a flag', [asked({ toolCalls: [call] })[0], { ...result, isError: 'yes' }], 1],
  ])('an initPrompt that lacks %s: %j', async (_, initPrompt, index) => {
    const { open, store } = prepare();
    const refused = { code: 'SESSION_GIVEN_INVALID', details: index === undefined ? {} : { index } };
    const options = { initPrompt } as object;
    await expect(open(options)).rejects.toMatchObject(refused);
    await expect(open({ peers: [{ name: 'Ann', ...options }] })).rejects.toMatchObject(refused);
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
    const session = await open();
    await expect(session.createAgent(options)).rejects.toMatchObject(refused);
    expect(typesOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual(['agent:created']);
  });

  it.each([
    ['no event', [created, null], 'event 1'],
    ['a text', [created, 'x'], 'event 1'],
    ['an event without a time', [created, { ...created, id: 'e2', timestamp: undefined }], 'event 1'],
    ['data of another type', [{ ...created, data: { name: 5 } }], 'event 0'],
    ['data that JSON does not hold', [{ ...created, data: { at: new Date() } }], 'event 0'],
    ['one id and two contents', [created, { ...created, data: { name: 'Ann' } }], 'event 1 has the id e1'],
  ])('events with %s, and names the one', async (_, events, named) => {
    const { open, store } = prepare();
    const refused = await open({ events: events as never }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'SESSION_LOG_INVALID', message: expect.stringContaining(named) });
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

describe('a call of a session is refused with a code, and nothing is in the log, where it is given', () => {
  type Call = (session: Session, root: Agent) => unknown;
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const nothing = undefined as never;
  const line = new LoggedString('Hello', 'e1');
  const noText = [nothing, null, 5, {}, ['a'], revoked()].map((text): [string, Call] => [
    'no text',
    (_, root) => root.harken(text as never),
  ]);
  it.each<[string, Call, string?]>([
    ...noText,
    ['no text for another agent', (_, root) => root.inform(root, nothing)],
    // @ts-expect-error A LoggedString loses its methods when it is copied field by field.
    ['a copied line', (_, root) => root.harken({ ...line })],
    // @ts-expect-error
    ['a copied line for another agent', (_, root) => root.inform(root, { ...line })],
    // @ts-expect-error
    ['a copied line as a result', (session) => session.complete('completed', { ...line }), 'EVENT_INVALID'],
    ['no list of events', (session) => session.append(nothing)],
    [
      'an event that was brought about by nothing that is there',
      (session) => session.append([{ type: 'game:turn', data: {}, cause: ['gone'] }]),
    ],
    [
      'a text that nothing brought about',
      (session, root) => session.logPieceOfText(root.agentId, 'x', 'gone'),
    ],
    [
      'a message whose content nobody said',
      (session, root) =>
        session.logTranscriptEntry(root.agentId, { role: 'user', content: 'x' }, { substance: 'gone' }),
    ],
    ['one event in place of a list', (session) => session.append({ type: 'game:turn', data: {} } as never)],
    ['no message', (session, root) => session.logTranscriptEntry(root.agentId, null as never)],
    ['one value in place of a list', (_, root) => root.observe(5 as never)],
    ['no agent', (session) => session.createAgent(null as never)],
    ['an option of an agent that does not exist', (session) => session.createAgent({ system: 'x' } as never)],
    ['no summary', (_, root) => root.compact(nothing), 'SESSION_COMPACTION_INVALID'],
  ])('%s', async (_, call, code = 'SESSION_OPTION_INVALID') => {
    const { create, events } = prepare();
    const { session, root } = await create();
    const before = await events();
    await expect((async () => call(session, root))()).rejects.toMatchObject({ code });
    await session.flushed();
    expect(await events()).toEqual(before);
    await expect(root.harken('Hello')).resolves.toEqual(expect.any(String));
  });
});

describe('an agent without a name to read', () => {
  it('is refused from programs, tools and hooks, and leaves nothing in the log', async () => {
    const { create, events } = prepare();
    const seen: unknown[] = [];
    const { session, root } = await create({
      tools: [
        tools({
          make: async (toolCall) => {
            const made = hostOf(toolCall).createAgent({ name: '' });
            seen.push(await made.catch((error: unknown) => error));
            return done('Tried.');
          },
        }),
      ],
      hooks: [
        {
          contract: 1,
          name: 'Eve',
          observe: async ({ event }, host) => {
            if (event.type !== 'user:message') return;
            seen.push(await host.agents?.createAgent({ name: ' ' }).catch((error: unknown) => error));
          },
        },
      ],
      model: answers(calls('make'), says('Done.')),
    });
    await root.harken('Make one.');
    await root.response();
    for (const name of ['', ' \t', 5, null])
      seen.push(await session.createAgent({ name: name as string }).catch((error: unknown) => error));
    for (const name of ['', 5]) {
      try {
        session.logAgentCreated('agent_009', { name: name as string });
      } catch (error) {
        seen.push(error);
      }
    }
    expect(seen.map((error) => (error as { code?: string }).code)).toEqual(
      Array.from({ length: 8 }, () => 'SESSION_OPTION_INVALID'),
    );
    expect(typesOf(await events()).filter((type) => type === 'agent:created')).toHaveLength(1);
    expect(await session.createAgent({ name: 'Ann' })).toMatchObject({ agentId: 'agent_002', name: 'Ann' });
  });
});

describe('a session that could not be opened', () => {
  it.each([
    ['whose ids can not be recorded', { createId: () => '' }],
    [
      'whose events a schema of the store refuses',
      { events: [created, { ...created, id: 'e2', type: 'game:turn' }] },
    ],
  ])(
    'does not stay as a running dispatch: one %s has ended as crashed, and a later call begins there',
    async (_, wrong) => {
      const schemas = { 'game:turn': eventDataSchemas['user:message'] };
      const store = openDispatchStore(createMemoryStore(), { schemas });
      const open = (options: object) => prepare().open({ store, ...options });
      const envelope = () => store.getDispatchEnvelope(taskDir, dispatchId);
      await expect(open(wrong)).rejects.toMatchObject({ code: 'EVENT_INVALID' });
      expect(await envelope()).toMatchObject({ status: 'crashed' });
      const session = await open({ systemPrompt: 'You chair.' });
      expect(await session.root.transcript()).toEqual([{ role: 'system', content: 'You chair.' }]);
      await session.close();
      expect(await envelope()).toMatchObject({ status: 'completed' });
    },
  );

  it('keeps a session that only could not be continued as it was', async () => {
    const { open, envelope, events } = prepare();
    await (await open({ peers: [{ name: 'Ann' }] })).close();
    const before = [await envelope(), await events()];
    await expect(open({ needsRoot: true })).rejects.toMatchObject({ code: 'SESSION_NO_ROOT' });
    expect([await envelope(), await events()]).toEqual(before);
    const again = await open();
    expect(again.peers.map(({ name }) => name)).toEqual(['Ann']);
  });
});

describe('an agent', () => {
  it('is one object in all answers of the session', async () => {
    const { open } = prepare();
    const session = await open({ peers: [{ name: 'Ann' }, { name: 'Ben' }] });
    const [ann, ben] = session.peers;
    const chris = await session.createAgent({ name: 'Chris' });
    expect(session.peers[0]).toBe(ann);
    expect(session.peers[2]).toBe(chris);
    expect(await session.getAgent(ann?.agentId ?? '')).toBe(ann);
    await session.evictAgent(chris.agentId);
    expect(await session.getAgent(chris.agentId)).toBe(chris);
    await session.terminateAgent(chris.agentId);
    expect((await session.revive(chris)).agent).toBe(chris);
    expect(new Set([...session.peers, ann, ben, chris]).size).toBe(3);
    const rooted = (await prepare().create()).session;
    expect(rooted.root).toBe(rooted.root);
    expect(await rooted.getAgent(rooted.root.agentId)).toBe(rooted.root);
  });

  it('is taken from its own session only', async () => {
    const { session, root } = await prepare().create();
    const { session: other, root: theirs } = await prepare().create();
    const ann = await session.createAgent({ name: 'Ann' });
    const notFound = { code: 'SESSION_AGENT_NOT_FOUND' };
    for (const stranger of [theirs, null, undefined, 5, { agentId: ann.agentId }]) {
      await expect(root.inform(stranger as never, 'Hello')).rejects.toMatchObject(notFound);
      await expect(session.revive(stranger as never)).rejects.toMatchObject(notFound);
    }
    await expect(root.inform(ann, 'Hello')).resolves.toMatchObject({ status: 'delivered' });
    await other.close();
  });
});

it('a log of another program whose events are whole begins a session', async () => {
  const file = { message_id: 'm1', event_type: 'agent_created', agent_id: 'root', language_model: 'm' };
  const { events } = readSessionV2(`${JSON.stringify(file)}\n`);
  const { open } = prepare();
  expect((await open({ events })).root.agentId).toBe('root');
});

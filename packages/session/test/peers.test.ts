import { newEvent } from '@hansard/events';
import { openSession, readSessionState } from '@hansard/session';
import { describe, expect, it } from 'vitest';
import { dispatchId, find, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, says } from './scripted.ts';

/** A session of Ann and Ben. */
async function tableOf(...replies: string[]) {
  const prepared = prepare();
  const base = {
    store: prepared.store,
    taskDir,
    dispatchId,
    model: answers(...replies.map((text) => says(text))),
  };
  const session = await openSession({
    ...base,
    languageModel: 'm-1',
    peers: [
      { name: 'Ann', systemPrompt: 'You are Ann.' },
      { name: 'Ben', languageModel: 'm-2' },
    ],
  });
  const [ann, ben] = session.peers;
  if (ann === undefined || ben === undefined) throw new Error('a peer is missing');
  return { ...prepared, session, ann, ben, base };
}

describe('session.createAgent', () => {
  it('creates an agent with its prompt in one call, which can be spoken to at once', async () => {
    const { create, load, events } = prepare();
    const { session } = await create({ languageModel: 'm-1', model: answers(says('Hello.')) });
    const jack = await session.createAgent({ name: 'Jack', systemPrompt: 'You work in HR.' });
    expect(typesOf(await events()).slice(1)).toEqual(['agent:created', 'agent:system_prompt']);
    expect(find(await events(), 'agent:created', { name: 'Jack' }).data).toEqual({
      name: 'Jack',
      languageModel: 'm-1',
      peer: true,
    });
    expect(jack.info).toMatchObject({ agentId: 'agent_002', parentAgentId: null, state: 'active' });
    await jack.harken('Hi');
    expect(String(await jack.response())).toBe('Hello.');
    await session.close();

    const again = await load();
    expect(again.session.diagnostics).toEqual([]);
    expect(again.root.agentId).toBe('agent_001');
  });

  it('is refused after the session was closed', async () => {
    const { session } = await prepare().create();
    await session.close();
    await expect(session.createAgent({ name: 'Late' })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });
});

describe('a session of peers', () => {
  it('has agents that are all equals, each with its own prompt and model', async () => {
    const { session, ann, events } = await tableOf();
    expect(session.listAgents()).toMatchObject([
      { name: 'Ann', languageModel: 'm-1', parentAgentId: null },
      { name: 'Ben', languageModel: 'm-2', parentAgentId: null },
    ]);
    expect(typesOf(await events())).toEqual(['agent:created', 'agent:system_prompt', 'agent:created']);
    expect(() => session.root).toThrow(expect.objectContaining({ code: 'SESSION_NO_ROOT' }));
    await session.terminateAgent(ann.agentId);
    expect(ann.info.state).toBe('terminated');
  });

  it('keeps an event without an agent out of every transcript', async () => {
    const { session, ann, ben } = await tableOf('I heard nothing.');
    const source = { kind: 'user' } as const;
    await session.append([newEvent('user:message', { text: 'To nobody', source })]);
    expect([ann.awaitsResponse, ben.awaitsResponse]).toEqual([false, false]);
    await session.evictAgent(ann.agentId);
    expect(await ann.transcript()).toEqual([{ role: 'system', content: 'You are Ann.' }]);
    expect(await ben.transcript()).toEqual([]);
  });

  it('is continued without a root, and is refused where a root is needed', async () => {
    const { session, ben, base, load, store } = await tableOf();
    await ben.harken('Are you there?');
    await session.close();
    expect(await readSessionState(base)).toMatchObject({
      awaitsResponse: true,
      hasOpenCalls: false,
      heard: 1,
      hasRoot: false,
    });
    await expect(load()).rejects.toMatchObject({ code: 'SESSION_NO_ROOT', details: { dispatchId } });

    const again = await openSession({ ...base, model: answers(says('Yes.')), languageModel: 'm-9' });
    expect(again.diagnostics).toEqual([]);
    expect(again.listAgents().map(({ languageModel }) => languageModel)).toEqual(['m-9', 'm-2']);
    expect(String(await (await again.getAgent(ben.agentId)).response())).toBe('Yes.');
    await again.close();
    expect(await store.getDispatchEnvelope(taskDir, dispatchId)).toMatchObject({ status: 'completed' });
  });

  it('notes an agent that claims to be its root', async () => {
    const { session, base } = await tableOf();
    session.logAgentCreated(session.allocateAgentId(), { name: 'Boss' });
    await session.close();
    const again = await openSession(base);
    expect(again.diagnostics).toMatchObject([{ code: 'second_root' }]);
    expect(() => again.root).toThrow(expect.objectContaining({ code: 'SESSION_NO_ROOT' }));
  });

  it('needs a peer', async () => {
    const { store } = prepare();
    const begun = openSession({ store, taskDir, model: answers(), peers: [] });
    await expect(begun).rejects.toThrow(/at least one peer/);
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

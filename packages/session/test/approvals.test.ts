import type { CapturedEvent } from '@hansard/events';
import type { HookDecision, HookProvider } from '@hansard/provider';
import type { PendingCall, Session } from '@hansard/session';
import { describe, expect, it } from 'vitest';
import { dispatchId, find, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, type Reply, says, type Tool, tools } from './scripted.ts';

const place = { taskDir, dispatchId };

const asking = (more: Partial<Extract<HookDecision, { decision: 'ask' }>> = {}): HookProvider => ({
  contract: 1,
  name: 'Guard',
  decide: ({ on }) =>
    on === 'tool_call' ? { decision: 'ask', reason: 'it deletes', ...more } : { decision: 'allow' },
});

/** A tool whose calls need approval, and what it was called with. */
function guarded(
  name = 'delete',
  tool: Tool = () => done('deleted'),
  waitsFor: 'approval' | 'answer' = 'approval',
) {
  const made: unknown[] = [];
  const provider = tools({
    [name]: (call) => {
      made.push(call.input);
      return tool(call);
    },
  });
  const listTools = () => [{ name, description: name, inputSchema: { type: 'object' }, waitsFor }];
  return { made, provider: { ...provider, listTools } };
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
};

async function pendingOf(session: Session, count = 1): Promise<readonly PendingCall[]> {
  await until(() => session.pending().length === count);
  return session.pending();
}

const harnessEvents = (events: readonly CapturedEvent[]) =>
  typesOf(events).filter((type) => type.startsWith('harness:') || type === 'agent:tool_result');

const waited = [
  'harness:approval_requested',
  'harness:approval_given',
  'harness:call_started',
  'agent:tool_result',
];

describe('a call that a hook asks a person about', () => {
  it('is made once, after the person approved it, with the request and the answer in the log', async () => {
    const { create, events, envelope } = prepare();
    const { made, provider } = guarded();
    const { session, root } = await create({
      model: answers(calls('delete', { path: 'a' }), says('It is gone.')),
      tools: [{ ...provider, listTools: tools({ delete: () => done('') }).listTools }],
      hooks: [asking({ choices: ['yes', 'no'] })],
    });
    await root.harken('Delete a.');
    const said = root.response();
    const [call] = await pendingOf(session);
    expect(call).toMatchObject({
      tool: 'delete',
      kind: 'approval',
      by: 'Guard',
      reason: 'it deletes',
      input: { path: 'a' },
    });
    expect((await envelope())?.pending).toMatchObject([
      { callId: call?.callId, toolCallId: 'call_1', tool: 'delete' },
    ]);
    expect(made).toEqual([]);
    await session.answer('call_1', { decision: 'approve', note: 'just this once' });
    expect(String(await said)).toBe('It is gone.');
    expect(made).toEqual([{ path: 'a' }]);
    expect(session.pending()).toEqual([]);
    expect((await envelope())?.pending).toEqual([]);
    expect(harnessEvents(await events())).toEqual(waited);
    expect(find(await events(), 'harness:approval_given').data).toMatchObject({
      by: 'user',
      note: 'just this once',
    });
    await session.close();
    expect(await envelope()).toMatchObject({ status: 'completed', pending: [] });
  });

  it('is not made if the person refuses, and the agent reads why', async () => {
    const { create } = prepare();
    const { made, provider } = guarded();
    const { session, root } = await create({
      model: answers(calls('delete'), says('I leave it.')),
      tools: [provider],
      hooks: [asking()],
    });
    await root.harken('Delete a.');
    const said = root.response();
    await pendingOf(session);
    await session.answer('call_1', { decision: 'refuse', note: 'it is needed' });
    await said;
    expect(made).toEqual([]);
    expect((await root.transcript()).at(-2)).toMatchObject({
      content: 'Error: Refused by user: it is needed',
      isError: true,
    });
  });

  it('is denied without asking if a later hook denies it, and is asked about with the input that hooks made', async () => {
    const { create } = prepare();
    const { made, provider } = guarded();
    const decide = (decision: HookDecision): HookProvider => ({
      contract: 1,
      name: 'Other',
      decide: ({ on }) => (on === 'tool_call' ? decision : { decision: 'allow' }),
    });
    const denied = await create({
      model: answers(calls('delete'), says('No.')),
      tools: [provider],
      hooks: [asking(), decide({ decision: 'deny', reason: 'never' })],
    });
    await denied.root.harken('Delete a.');
    await denied.root.response();
    expect(made).toEqual([]);
    await denied.session.close();

    const { session, root } = await prepare().create({
      model: answers(calls('delete', { path: 'a' }), says('Done.')),
      tools: [provider],
      hooks: [decide({ decision: 'alter', input: { path: 'b' } }), asking()],
    });
    await root.harken('Delete a.');
    const said = root.response();
    expect((await pendingOf(session))[0]?.input).toEqual({ path: 'b' });
    await session.answer('call_1', { decision: 'approve', input: { path: 'c' } });
    await said;
    expect(made).toEqual([{ path: 'c' }]);
  });
});

describe('calls that wait', () => {
  it('are answered in any order, and each is made when it is approved', async () => {
    const { create } = prepare();
    const { made, provider } = guarded();
    const three: Reply = {
      text: '',
      toolCalls: [1, 2, 3].map((number) => ({ toolCallId: `c${number}`, tool: 'delete', input: number })),
    };
    const { session, root } = await create({
      model: answers(three, says('Done.')),
      tools: [provider],
      parallelToolCalls: 3,
    });
    await root.harken('Delete all.');
    const said = root.response();
    await pendingOf(session, 3);
    await session.answer('c3', { decision: 'approve' });
    await until(() => made.length === 1);
    await session.answer('c1', { decision: 'refuse' });
    await session.answer('c2', { decision: 'approve' });
    await said;
    expect(made).toEqual([3, 2]);
  });

  it('of agents that a tool lets speak hold up the enclosing call, and then continue', async () => {
    const { create } = prepare();
    const { made, provider } = guarded();
    const ask = tools({
      ask: async (call) => {
        const { agentId } = await hostOf(call).createAgent({ name: 'Jill' });
        await hostOf(call).deliver(agentId, { text: 'Delete it.' });
        return done(String(await hostOf(call).respond(agentId)));
      },
    });
    const { session, root } = await create({
      model: answers(calls('ask'), calls('delete', {}, 'inner'), says('Gone.'), says('Jill did it.')),
      tools: [ask, provider],
    });
    await root.harken('Let Jill delete it.');
    const said = root.response();
    const [call] = await pendingOf(session);
    expect(call).toMatchObject({ toolCallId: 'inner', agentId: 'agent_002' });
    await session.answer('inner', { decision: 'approve' });
    expect(String(await said)).toBe('Jill did it.');
    expect(made).toHaveLength(1);
  });

  it('get the default answer at their deadline, at once if it has passed, and a refusal without a default', async () => {
    for (const [more, times] of [
      [{ default: 'approve' }, 1],
      [{}, 0],
    ] as const) {
      const { create, events } = prepare();
      const { made, provider } = guarded();
      const deadline = '2020-01-01T00:00:00.000Z';
      const { root, session } = await create({
        model: answers(calls('delete'), says('Done.')),
        tools: [provider],
        hooks: [asking({ deadline, ...more })],
      });
      await root.harken('Delete a.');
      await root.response();
      expect(made).toHaveLength(times);
      expect(find(await events(), 'harness:approval_given').data.by).toBe('deadline');
      await session.close();
    }
  });

  it('are answered by the program that asks the person at once', async () => {
    const { create } = prepare();
    const { made, provider } = guarded();
    const { root } = await create({
      model: answers(calls('delete'), says('Done.')),
      tools: [provider],
      onPending: async ({ tool }) => (tool === 'delete' ? { decision: 'approve', by: 'Ann' } : null),
    });
    await root.harken('Delete a.');
    await root.response();
    expect(made).toHaveLength(1);
  });
});

describe('an answer for the session', () => {
  it('holds for equal calls of the tool, also after a load, and for no other input; a fork asks again', async () => {
    const { create, load, events } = prepare();
    const { made, provider } = guarded();
    const one = (input: number, id: string) => calls('delete', { path: input }, id);
    const { session, root } = await create({
      model: answers(one(1, 'c1'), one(1, 'c2'), says('Twice.')),
      tools: [provider],
    });
    await root.harken('Delete 1.');
    const said = root.response();
    await pendingOf(session);
    await session.answer('c1', { decision: 'approve', scope: 'session' });
    await said;
    expect(made).toHaveLength(2);
    const given = (await events()).filter(({ type }) => type === 'harness:approval_given');
    expect(given[1]?.data).toMatchObject({ decision: 'approve', earlier: given[0]?.id });
    await session.close();

    const again = await load({
      model: answers(one(1, 'c3'), one(2, 'c4'), says('Now 2.')),
      tools: [provider],
    });
    await again.root.harken('And again.');
    const next = again.root.response();
    expect(await pendingOf(again.session)).toMatchObject([{ toolCallId: 'c4' }]);
    const fork = await again.session.fork();
    expect(fork.pending()).toEqual([]);
    await again.session.answer('c4', { decision: 'refuse' });
    await next;
    expect(made).toHaveLength(3);
    await fork.close();
    await again.session.close();
    const forked = await load({
      dispatchId: fork.dispatchId,
      model: answers(one(1, 'c5')),
      tools: [provider],
    });
    await forked.root.harken('Delete 1.');
    void forked.root.response().catch(() => {});
    expect(await pendingOf(forked.session)).toMatchObject([{ toolCallId: 'c5' }]);
    await forked.session.close();
  });
});

describe('a session that is closed while a call waits', () => {
  async function closed() {
    const prepared = prepare();
    const { made, provider } = guarded();
    const { session, root } = await prepared.create({ model: answers(calls('delete')), tools: [provider] });
    await root.harken('Delete a.');
    const said = root.response().catch((error: unknown) => error);
    await pendingOf(session);
    await session.close();
    expect(await said).toMatchObject({ code: 'SESSION_CLOSED' });
    return { ...prepared, made, provider };
  }

  it('stays running without an owner; the call waits in the loaded session, and is made when it is approved there', async () => {
    const { load, envelope, events, made, provider } = await closed();
    expect(await envelope()).toMatchObject({ status: 'running', pending: [{ toolCallId: 'call_1' }] });
    expect(harnessEvents(await events())).toEqual(['harness:approval_requested']);
    const { session, root } = await load({ model: answers(says('Gone.')), tools: [provider] });
    expect(session.pending()).toMatchObject([{ toolCallId: 'call_1', agentId: root.agentId }]);
    const said = root.response();
    await session.answer('call_1', { decision: 'approve' });
    expect(String(await said)).toBe('Gone.');
    expect(made).toHaveLength(1);
    expect(harnessEvents(await events())).toEqual(waited);
    await session.close();
    expect(await envelope()).toMatchObject({ status: 'completed', pending: [] });
  });

  it('takes a letter with the answer when it is loaded, and refuses a second one', async () => {
    const { store, load, made, provider } = await closed();
    const callId = (await store.getDispatchEnvelope(taskDir, dispatchId))?.pending?.[0]?.callId ?? '';
    const approve = { callId, decision: 'approve', scope: 'call' } as const;
    const first = await store.sendLetter(place, { answer: approve });
    const second = await store.sendLetter(place, { answer: { ...approve, decision: 'refuse' } });
    expect(await store.findLetter(place, first)).toBe('waiting');
    const { session, root } = await load({ model: answers(says('Gone.')), tools: [provider] });
    await root.response();
    expect(made).toHaveLength(1);
    expect(await store.findLetter(place, first)).toBe('taken');
    expect(await store.findLetter(place, second)).toBe('refused');
    await expect(store.sendLetter(place, { answer: approve })).rejects.toMatchObject({
      code: 'DISPATCH_LETTER_REFUSED',
    });
    await session.close();
  });

  it('makes no call that a rewind took back, and refuses its answer', async () => {
    const { load, envelope, made, provider, events } = await closed();
    const { session, root } = await load({ model: answers(says('Nothing happened.')), tools: [provider] });
    const call = find(await events(), 'agent:tool_call');
    await root.rewind({ before: call.id });
    await expect(session.answer(call.id, { decision: 'approve' })).rejects.toMatchObject({
      code: 'SESSION_ANSWER_REFUSED',
    });
    expect((await envelope())?.pending).toEqual([]);
    expect(String(await root.response())).toBe('Nothing happened.');
    expect(made).toEqual([]);
    await session.close();
  });

  it('asks nobody in a fork: there the call was taken back', async () => {
    const { load, provider, made } = await closed();
    const { session } = await load({ tools: [provider] });
    const fork = await session.fork();
    expect(fork.pending()).toEqual([]);
    await expect(fork.answer('call_1', { decision: 'approve' })).rejects.toMatchObject({
      code: 'SESSION_ANSWER_REFUSED',
    });
    await fork.close();
    await session.close();
    expect(made).toEqual([]);
  });
});

it('a question of an agent has the answer of the person as its result, also after a load', async () => {
  const { create, load, events } = prepare();
  const { provider, made } = guarded('ask_user', () => done('never'), 'answer');
  const input = { question: 'Which colour?', choices: ['red', 'blue'] };
  const { session, root } = await create({ model: answers(calls('ask_user', input)), tools: [provider] });
  await root.harken('Paint it.');
  void root.response().catch(() => {});
  expect(await pendingOf(session)).toMatchObject([
    { kind: 'question', reason: 'Which colour?', choices: ['red', 'blue'] },
  ]);
  await session.close();
  const again = await load({ model: answers(says('Blue it is.')), tools: [provider] });
  await again.session.answer('call_1', { decision: 'approve', answer: 'blue' });
  expect(String(await again.root.response())).toBe('Blue it is.');
  expect(made).toEqual([]);
  expect(find(await events(), 'agent:tool_result').data).toMatchObject({
    status: 'completed',
    output: 'blue',
  });
  await again.session.close();
});

it('one answer counts: a second one, one to an unknown call and one to a call that nobody asked about are refused', async () => {
  const { create, events } = prepare();
  const { provider } = guarded();
  const { session, root } = await create({
    model: answers(calls('delete'), says('Done.')),
    tools: [provider],
  });
  await root.harken('Delete a.');
  const said = root.response();
  await pendingOf(session);
  const both = await Promise.allSettled([
    session.answer('call_1', { decision: 'refuse' }),
    session.answer('call_1', { decision: 'approve' }),
  ]);
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await said;
  for (const call of ['call_1', 'nothing'])
    await expect(session.answer(call, { decision: 'approve' })).rejects.toMatchObject({
      code: 'SESSION_ANSWER_REFUSED',
    });
  expect(typesOf(await events()).filter((type) => type === 'harness:approval_given')).toHaveLength(1);
  await session.close();
});

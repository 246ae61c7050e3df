import type { HookHost, HookObservation, HookProvider } from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { answers, calls, done, hostOf, model, says, tools } from './scripted.ts';

type Observe = (observation: HookObservation, host: HookHost) => unknown;

function observer(name: string, observe: Observe): HookProvider {
  return { contract: 1, name, observe: async (observation, host) => void (await observe(observation, host)) };
}

/** `what`, and what it says. */
const inShort = ({ what, event: { type, data } }: HookObservation) =>
  `${what} ${data.text ?? data.tool ?? type}`;

describe('an observing hook', () => {
  it('observes messages, utterances, deliveries, calls, results and ends, in the order of the log', async () => {
    const { create } = prepare();
    const seen: string[] = [];
    const { root, session } = await create({
      hooks: [observer('Diary', (one) => seen.push(inShort(one)))],
      tools: [
        tools({
          tell: async (call) => {
            const jack = await hostOf(call).createAgent({ name: 'Jack' });
            await hostOf(call).deliver(jack.agentId, { text: 'Hello, Jack.' });
            await hostOf(call).terminateAgent(jack.agentId);
            return done('Told.');
          },
        }),
      ],
      model: answers(calls('tell', {}, 'c1', 'I will tell him.'), says('He knows.')),
    });
    await root.harken('Tell Jack hello.');
    await root.response();
    await root.compact('He knows.');
    await session.complete('completed', 'Bye.');
    expect(seen).toEqual([
      'message Tell Jack hello.',
      'call tell',
      'delivery Hello, Jack.',
      'end agent:terminated',
      'result tell',
      'utterance He knows.',
      'notification session:compaction',
      'end session:complete',
    ]);
  });

  it('injects a message before the model is asked, with the observed event as its cause', async () => {
    const { create, events } = prepare();
    const memory = observer('Memory', async ({ what, event }, host) => {
      if (what === 'message') await host.inform(event.agentId, 'Mia must not eat nuts.');
    });
    const heard: unknown[] = [];
    const { root } = await create({
      hooks: [memory],
      model: model(({ messages }) => {
        heard.push(...messages.map((message) => message.text));
        return says('A sponge cake.');
      }),
    });
    const asked = await root.harken('Suggest a cake for Mia.');
    expect(String(await root.response())).toBe('A sponge cake.');
    expect(heard).toEqual(['Suggest a cake for Mia.', 'Mia must not eat nuts.']);
    expect(find(await events(), 'user:message', { text: 'Mia must not eat nuts.' })).toMatchObject({
      agentId: root.agentId,
      cause: asked,
      data: { source: { kind: 'system', hook: 'Memory' } },
    });
    expect(root.awaitsResponse).toBe(false);
  });

  it('lets an agent answer again in the same response, because of what it said', async () => {
    const { create } = prepare();
    const steelMan = observer('SteelMan', async ({ what, event }, host) => {
      if (what === 'utterance' && String(event.data.text).startsWith('I disagree'))
        await host.inform(event.agentId, 'Hear the other side first.');
    });
    const { root } = await create({
      hooks: [steelMan],
      model: answers(says('I disagree.'), says('You have a good reason.')),
    });
    await root.harken('I will write it by hand.');
    expect(String(await root.response())).toBe('You have a good reason.');
    expect((await root.transcript()).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: I will write it by hand.',
      'assistant: I disagree.',
      'user: Hear the other side first.',
      'assistant: You have a good reason.',
    ]);
  });

  it('cannot change what it is shown', async () => {
    const { create, events } = prepare();
    let failed = 0;
    const rude = observer('Rude', ({ event }) => {
      try {
        Object.assign(event.data, { text: 'changed' });
      } catch {
        failed += 1;
      }
    });
    const { root } = await create({ hooks: [rude], model: answers(says('Yes.')) });
    await root.harken('Hello');
    await root.response();
    expect(failed).toBe(2);
    expect(find(await events(), 'agent:text').data.text).toBe('Yes.');
  });
});

describe('a hook with an agent of its own', () => {
  const judge: HookProvider = {
    contract: 1,
    name: 'ResourceMonitor',
    async decide(question, { agents }) {
      if (question.on !== 'tool_call' || agents === undefined) return { decision: 'allow' };
      const own = await agents.createAgent({
        name: 'ResourceMonitor',
        systemPrompt: 'Monitor resource usage.',
      });
      const verdict = await agents.response(own.agentId, `May ${question.tool} be called?`);
      return verdict.startsWith('DENY')
        ? { decision: 'deny', reason: verdict.slice(6), cause: verdict.messageId }
        : { decision: 'allow' };
    },
  };

  it('decides by what its agent says, and its reasoning stands in the log', async () => {
    const { create, events, load } = prepare();
    const { root, session } = await create({
      hooks: [judge],
      tools: [tools({ task: () => done('Created.') })],
      model: model(({ agentName, turn }) => {
        if (agentName === 'ResourceMonitor') return says(turn === 0 ? 'DENY. Three are enough.' : 'ALLOW');
        return turn % 2 === 0 ? calls('task', {}, `c${turn}`) : says('I see.');
      }),
    });
    await root.harken('Create one more.');
    await root.response();
    await root.harken('And now?');
    await root.response();
    const log = await events();
    const call = find(log, 'agent:tool_call');
    const created = find(log, 'agent:created', { hook: 'ResourceMonitor' });
    expect(created).toMatchObject({ cause: call.id, data: { name: 'ResourceMonitor' } });
    expect(find(log, 'user:message', { text: 'May task be called?' })).toMatchObject({
      agentId: created.agentId,
      cause: call.id,
      data: { source: { kind: 'system', hook: 'ResourceMonitor' } },
    });
    const verdict = find(log, 'agent:text', { text: 'DENY. Three are enough.' });
    expect(find(log, 'harness:hook_decision').cause).toEqual([call.id, verdict.id]);
    expect(find(log, 'agent:tool_result').data.output).toBe(
      "Error: Action blocked by hook 'ResourceMonitor': Three are enough.",
    );
    expect(log.filter(({ type, data }) => type === 'agent:created' && data.hook !== undefined)).toHaveLength(
      1,
    );
    await session.close();
    const again = await load({ hooks: [judge] });
    expect(again.session.diagnostics).toEqual([]);
    expect(again.root.agentId).toBe(root.agentId);
    expect(again.session.listAgents().find(({ hook }) => hook !== undefined)).toMatchObject({
      name: 'ResourceMonitor',
      parentAgentId: null,
      hook: 'ResourceMonitor',
    });
  });

  it('sends what its agent says as that agent, which other hooks decide about', async () => {
    const { create, events } = prepare();
    const librarian = observer('Librarian', async ({ what, event }, host) => {
      const { agents } = host;
      if (what !== 'message' || agents === undefined) return;
      const own = await agents.createAgent({ name: 'Librarian' });
      const found = await agents.response(own.agentId, String(event.data.text));
      await host.inform(event.agentId, found, own.agentId);
    });
    const discreet: HookProvider = {
      contract: 1,
      name: 'Discreet',
      decide: (question) =>
        question.on === 'delivery'
          ? { decision: 'alter', text: question.text.replace('4711', '****') }
          : { decision: 'allow' },
    };
    const { root } = await create({
      hooks: [librarian, discreet],
      model: model(({ agentName }) => says(agentName === 'Librarian' ? 'The code is 4711.' : 'I know.')),
    });
    await root.harken('Open the till.');
    await root.response();
    const log = await events();
    const said = find(log, 'agent:text', { text: 'The code is 4711.' });
    expect(find(log, 'user:message', { text: 'The code is ****.' })).toMatchObject({
      agentId: root.agentId,
      substance: said.id,
      data: { source: { kind: 'agent', agentId: said.agentId, hook: 'Librarian' } },
    });
  });
});

describe('hooks that do what they should not', () => {
  it('are stopped when they answer each other without end, and the log says so', async () => {
    const { create, events } = prepare();
    const echo = (name: string) =>
      observer(name, async ({ what, event }, host) => {
        if (what === 'message') await host.inform(event.agentId, `${name} answers`);
      });
    const { root } = await create({ hooks: [echo('Ann'), echo('Ben')], model: answers(says('Stop it.')) });
    await root.harken('Hello');
    expect(String(await root.response())).toBe('Stop it.');
    const log = await events();
    const injected = log.filter(({ type, data }) => type === 'user:message' && data.text !== 'Hello');
    // Both answer the message; each answer is answered by the other one, seven times.
    expect(injected).toHaveLength(16);
    const errors = log.filter(({ type }) => type === 'harness:error');
    expect(errors.map(({ data }) => [data.code, data.hook])).toEqual([
      ['DISPATCH_HOOK_CHAIN', 'Ann'],
      ['DISPATCH_HOOK_CHAIN', 'Ben'],
    ]);
  });

  it('are stopped when they make an agent answer again without end', async () => {
    const { create, events } = prepare();
    const critic = observer('Critic', async ({ what, event }, host) => {
      if (what === 'utterance') await host.inform(event.agentId, 'Once more.');
    });
    const { root } = await create({
      hooks: [critic],
      maxHookChain: 3,
      model: model(({ turn }) => says(`Answer ${turn}`)),
    });
    await root.harken('Hello');
    expect(String(await root.response())).toBe('Answer 3');
    expect(root.awaitsResponse).toBe(false);
    expect(find(await events(), 'harness:error').data).toMatchObject({
      code: 'DISPATCH_HOOK_CHAIN',
      hook: 'Critic',
    });
  });

  it('fail with a code for a terminated agent, for themselves and for agents that are not theirs', async () => {
    const { create, events } = prepare();
    const wrong = observer('Wrong', async ({ what, event }, host) => {
      if (what !== 'message' || host.agents === undefined) return;
      const own = await host.agents.createAgent({ name: 'Own' });
      switch (event.data.text) {
        case 'itself':
          return host.inform(own.agentId, 'Hello');
        case 'terminated':
          return host.inform('agent_002', 'Hello');
        case 'foreign':
          return host.agents.response(String(event.agentId));
        case 'unknown':
          return host.inform('agent_009', 'Hello');
      }
    });
    const { root, session } = await create({ hooks: [wrong], model: answers(says('Yes.')) });
    const jack = await session.createAgent({ name: 'Jack' });
    await session.terminateAgent(jack.agentId);
    for (const text of ['itself', 'terminated', 'foreign', 'unknown']) await root.harken(text);
    await root.response();
    const errors = (await events()).filter(({ type }) => type === 'harness:error');
    expect(errors.map(({ data }) => data.code)).toEqual([
      'SESSION_HOOK_AGENT',
      'SESSION_AGENT_TERMINATED',
      'SESSION_HOOK_AGENT',
      'SESSION_AGENT_NOT_FOUND',
    ]);
    expect(errors[0]).toMatchObject({ agentId: root.agentId, data: { hook: 'Wrong' } });
    expect(errors[0]?.data.message).toMatch(/^The hook Wrong could not observe a message: /);
  });

  it('delay an agent no longer than their time, and cannot act after it', async () => {
    const clock = new ManualClock();
    const { create, events } = prepare();
    let late: Promise<unknown> = Promise.resolve();
    let wake = () => {};
    const slow = observer('Slow', async ({ what, event }, host) => {
      if (what !== 'message') return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      late = host.inform(event.agentId, 'Too late.');
      await late;
    });
    const { root } = await create({ clock, hooks: [slow], hookTimeoutMs: 50, model: answers(says('Yes.')) });
    await root.harken('Hello');
    const said = root.response();
    await clock.timersSet(1);
    clock.advance(50);
    expect(String(await said)).toBe('Yes.');
    wake();
    await new Promise(setImmediate);
    await expect(late).rejects.toMatchObject({ code: 'DISPATCH_HOOK_OVER' });
    const log = await events();
    expect(find(log, 'harness:error').data).toMatchObject({ code: 'DISPATCH_HOOK_TIMEOUT', hook: 'Slow' });
    expect(log.filter(({ type }) => type === 'user:message')).toHaveLength(1);
  });

  it('do not delay the end of a session that its owner aborts', async () => {
    const { create, envelope } = prepare();
    const owner = new AbortController();
    const { root, session } = await create({
      signal: owner.signal,
      hooks: [observer('Hanging', () => new Promise(() => {}))],
    });
    await root.harken('Hello');
    owner.abort(new Error('enough'));
    await session.close();
    expect(await envelope()).toMatchObject({ status: 'aborted' });
  });
});

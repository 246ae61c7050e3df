import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type { HookDecision, HookProvider, HookQuestion } from '@hansard/provider';
import { LoggedString, openSession, type Session } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { causesOf, createLogIndex, hearingMatrix, interventionsOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { dispatchId, find, prepare, taskDir } from './prepare.ts';
import { answers, calls, done, hostOf, model, says, tools } from './scripted.ts';

function hook(name: string, decide: (question: HookQuestion) => HookDecision): HookProvider {
  return { contract: 1, name, decide };
}

/** Alters texts of one kind of question, and allows everything else. */
function edit(name: string, on: HookQuestion['on'], change: (text: string) => string): HookProvider {
  return hook(name, (question) =>
    question.on === on && question.on !== 'tool_call'
      ? { decision: 'alter', text: change(question.text) }
      : { decision: 'allow' },
  );
}

const decisionsIn = (log: readonly CapturedEvent[]) =>
  log.filter(({ type }) => type === 'harness:hook_decision');

describe('several hooks on a delivery', () => {
  it('are a chain in the log: each decision has what it made and the one before, and the delivery names the last', async () => {
    const { create, events } = prepare();
    const { session, root } = await create({
      hooks: [
        edit('first', 'delivery', (text) => text.replace('1234', '****')),
        hook('silent', () => ({ decision: 'allow' })),
        edit('second', 'delivery', (text) => `${text}!`),
      ],
    });
    const other = session.allocateAgentId();
    session.logAgentCreated(other);
    const asked = await root.harken('The code?');
    const said = session.logPieceOfText(root.agentId, 'The code is 1234', asked);
    await root.inform(await session.getAgent(other), new LoggedString('[Root]: The code is 1234', said));
    const log = await events();
    const [first, second, ...more] = decisionsIn(log);
    expect(more).toEqual([]);
    expect(first?.data).toEqual({
      hook: 'first',
      on: 'delivery',
      decision: 'alter',
      subject: said,
      given: '[Root]: The code is 1234',
      text: '[Root]: The code is ****',
    });
    expect(second?.data).toEqual({
      hook: 'second',
      on: 'delivery',
      decision: 'alter',
      subject: said,
      previous: first?.id,
      text: '[Root]: The code is ****!',
    });
    expect(find(log, 'user:message', { text: '[Root]: The code is ****!' }).via).toBe(second?.id);
    const outcomes = interventionsOf(createLogIndex(log)).map(({ outcome }) => outcome?.text);
    expect(outcomes).toEqual(['[Root]: The code is ****!', '[Root]: The code is ****!']);
  });

  it('do not claim a later delivery of the same words that they left alone', async () => {
    const { create, events } = prepare();
    let deliveries = 0;
    const editor = hook('editor', (question) => {
      deliveries += 1;
      return question.on === 'delivery' && deliveries === 1
        ? { decision: 'alter', text: `${question.text}?` }
        : { decision: 'allow' };
    });
    const deny = hook('deny', () =>
      deliveries === 1 ? { decision: 'deny', reason: 'not yet' } : { decision: 'allow' },
    );
    const { session, root } = await create({
      hooks: [editor, deny],
    });
    const other = session.allocateAgentId();
    session.logAgentCreated(other);
    const listener = await session.getAgent(other);
    expect((await root.inform(listener, 'We meet at noon.')).status).toBe('denied');
    const subject = decisionsIn(await events())[0]?.data.subject as string;
    await root.inform(listener, new LoggedString('We meet at noon.', subject));
    expect(await listener.transcript()).toMatchObject([{ content: 'We meet at noon.' }]);
    const rows = interventionsOf(createLogIndex(await events()));
    expect(rows.map(({ hook: name, outcome }) => [name, outcome?.text ?? null])).toEqual([
      ['editor', null],
      ['deny', null],
    ]);
  });
});

/** The root calls a tool whose result carries an utterance of Jack. */
async function resultUnder(hooks: readonly HookProvider[]) {
  const { create, events } = prepare();
  const given: string[] = [];
  const { root } = await create({
    hooks,
    tools: [
      tools({
        ask: async (call) => {
          const host = hostOf(call);
          const jack = await host.createAgent({ name: 'Jack' });
          const { text, messageId } = await host.respond(jack.agentId);
          return done(text, { madeFrom: [messageId], metadata: { asked: jack.agentId } });
        },
      }),
    ],
    model: model(({ agentName, messages, turn }) => {
      if (agentName === 'Jack') return says('The code is 1234.');
      if (turn === 0) return calls('ask');
      const last = messages.at(-1);
      given.push(last?.role === 'tool' ? last.text : '');
      return says('I see.');
    }),
  });
  await root.harken('Go');
  await root.response();
  const log = await events();
  return { log, index: createLogIndex(log), given };
}

describe('the result of a tool under hooks', () => {
  it('is asked about with the tool, the agent, the input and the text', async () => {
    const asked: HookQuestion[] = [];
    const { log, given } = await resultUnder([
      hook('watch', (question) => {
        asked.push(question);
        return { decision: 'allow' };
      }),
    ]);
    expect(asked.map(({ on }) => on)).toEqual(['tool_call', 'tool_result']);
    expect(asked[1]).toEqual({
      on: 'tool_result',
      dispatchId,
      agentId: 'agent_001',
      toolCallId: 'call_1',
      tool: 'ask',
      input: {},
      status: 'completed',
      text: 'The code is 1234.',
      agents: [
        expect.objectContaining({ agentId: 'agent_001' }),
        expect.objectContaining({ agentId: 'agent_002', name: 'Jack' }),
      ],
    });
    expect(decisionsIn(log)).toEqual([]);
    expect(given).toEqual(['The code is 1234.']);
  });

  it('is what the hooks made of it, and the chain leads back to the decision on the call', async () => {
    const { log, index, given } = await resultUnder([
      hook('caller', ({ on }) =>
        on === 'tool_call' ? { decision: 'alter', input: { polite: true } } : { decision: 'allow' },
      ),
      edit('one', 'tool_result', (text) => text.replace('1234', '****')),
      edit('two', 'tool_result', (text) => text.toUpperCase()),
    ]);
    expect(given).toEqual(['THE CODE IS ****.']);
    const call = find(log, 'agent:tool_call');
    const said = find(log, 'agent:text', { text: 'The code is 1234.' });
    const [onCall, one, two] = decisionsIn(log);
    const shared = {
      on: 'tool_result',
      decision: 'alter',
      toolCallId: 'call_1',
      subject: call.id,
      madeFrom: [said.id],
    };
    expect(one).toMatchObject({ agentId: 'agent_001', cause: call.id });
    expect(one?.data).toEqual({
      ...shared,
      hook: 'one',
      previous: onCall?.id,
      given: 'The code is 1234.',
      text: 'The code is ****.',
    });
    expect(two?.data).toEqual({ ...shared, hook: 'two', previous: one?.id, text: 'THE CODE IS ****.' });
    expect(find(log, 'agent:tool_result')).toMatchObject({
      via: two?.id,
      substance: said.id,
      data: { status: 'completed', output: 'THE CODE IS ****.', metadata: { asked: 'agent_002' } },
    });
    const { rows } = hearingMatrix(index);
    expect(rows.find(({ saying }) => saying.id === said.id)?.cells.get('agent_001')).toEqual(['altered']);
  });

  it('is an error that names hook and reason where it was denied, and the agent did not hear the words in it', async () => {
    const { log, index, given } = await resultUnder([
      hook('censor', ({ on }) =>
        on === 'tool_result' ? { decision: 'deny', reason: 'a secret' } : { decision: 'allow' },
      ),
    ]);
    const text = "Error: Result withheld by hook 'censor': a secret";
    expect(given).toEqual([text]);
    const said = find(log, 'agent:text', { text: 'The code is 1234.' });
    const [decision] = decisionsIn(log);
    expect(decision?.data).toMatchObject({ given: 'The code is 1234.', madeFrom: [said.id] });
    const result = find(log, 'agent:tool_result');
    expect(result).toMatchObject({ via: decision?.id, data: { status: 'error', output: text, error: text } });
    expect(result).not.toHaveProperty('substance');
    expect(result).not.toHaveProperty('cause');
    const { rows } = hearingMatrix(index);
    expect(rows.find(({ saying }) => saying.id === said.id)?.cells.get('agent_001')).toEqual(['withheld']);
  });

  it('is not asked about where no tool gave it, because the call was denied', async () => {
    const asked: string[] = [];
    await resultUnder([
      hook('guard', ({ on }) => {
        asked.push(on);
        return { decision: 'deny', reason: 'no' };
      }),
    ]);
    expect(asked).toEqual(['tool_call']);
  });
});

/** Example 3 of session specification v1: an agent decides as a hook. */
async function monitored(causeOf: (verdict: string) => string) {
  const store = openDispatchStore(createMemoryStore());
  let opened: Session | null = null;
  let monitor: string | null = null;
  const resourceMonitor: HookProvider = {
    contract: 1,
    name: 'ResourceMonitor',
    async decide(question) {
      if (opened === null || monitor === null || question.on !== 'tool_call') return { decision: 'allow' };
      const agent = await opened.getAgent(monitor);
      const { name } = question.input as { name: string };
      const count = question.agents.filter(({ name: own }) => own?.startsWith('Searcher')).length;
      await agent.harken(
        `Agent '${question.agentId}' is attempting to create subagent '${name}'. Current subagent count: ${count}. Approve?`,
        { source: { kind: 'system' } },
      );
      const verdict = await agent.response();
      const [, reason] = /^DENY\. (.*)$/.exec(`${verdict}`) ?? [];
      return reason === undefined
        ? { decision: 'allow' }
        : { decision: 'deny', reason, cause: causeOf(verdict.messageId) };
    },
  };
  const session = await openSession({
    store,
    taskDir,
    dispatchId,
    hooks: [resourceMonitor],
    tools: [
      tools({
        task: async (call) => {
          const { name } = call.input as { name: string };
          await hostOf(call).createAgent({ name });
          return done(`Created subagent: ${name}`);
        },
      }),
    ],
    model: answers(
      ...['Searcher1', 'Searcher2', 'Searcher3', 'ResourceMonitor'].map((name, at) =>
        calls('task', { name }, `c${at + 6}`),
      ),
      says('All are there.'),
      calls('task', { name: 'Searcher4' }, 'c10'),
      says('DENY. Maximum subagents (3) already reached.'),
      says('Three must do.'),
    ),
  });
  const { root } = session;
  await root.harken('Create three searchers and their monitor.');
  await root.response();
  opened = session;
  monitor = session.listAgents().find(({ name }) => name === 'ResourceMonitor')?.agentId ?? null;
  await root.harken('One more.');
  await root.response();
  await session.close();
  return store.getDispatchEvents(taskDir, dispatchId);
}

describe('an agent that decides as a hook', () => {
  it('denies the call as in the specification, and why of the denied call leads to its verdict', async () => {
    const log = await monitored((verdict) => verdict);
    const result = find(log, 'agent:tool_result', { toolCallId: 'c10' });
    expect(result.data.output).toBe(
      "Error: Action blocked by hook 'ResourceMonitor': Maximum subagents (3) already reached.",
    );
    const call = find(log, 'agent:tool_call', { toolCallId: 'c10' });
    const verdict = find(log, 'agent:text', { text: 'DENY. Maximum subagents (3) already reached.' });
    expect(find(log, 'harness:hook_decision')).toMatchObject({
      cause: [call.id, verdict.id],
      data: { subject: call.id, toolCallId: 'c10' },
    });
    const index = createLogIndex(log);
    const why = causesOf(index, result.id);
    expect(why.map(({ id }) => id)).toContain(verdict.id);
    const asked = log.find(({ data }) => String(data.text).includes("create subagent 'Searcher4'"));
    expect(why.map(({ id }) => id)).toContain(asked?.id);
    expect(asked?.data.text).toBe(
      "Agent 'agent_001' is attempting to create subagent 'Searcher4'. Current subagent count: 3. Approve?",
    );
    expect(interventionsOf(index)).toMatchObject([
      { effect: 'stopped', outcome: { id: result.id }, verdict: { id: verdict.id, agentId: 'agent_005' } },
    ]);
  });

  it('still denies where it names an event that is not in the log, which is recorded', async () => {
    const log = await monitored(() => 'nowhere');
    expect(find(log, 'agent:tool_result', { toolCallId: 'c10' }).data.status).toBe('error');
    expect(find(log, 'harness:hook_decision').cause).toBe(
      find(log, 'agent:tool_call', { toolCallId: 'c10' }).id,
    );
    expect(find(log, 'harness:error').data.message).toBe(
      'The hook ResourceMonitor named as the cause of its decision on a tool_call an event that is not in the log.',
    );
  });
});

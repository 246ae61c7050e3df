import type { HookDecision, HookProvider, HookQuestion } from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, says, tools } from './scripted.ts';

function hook(
  name: string,
  decide: (question: HookQuestion) => HookDecision,
  more: Partial<HookProvider> = {},
): HookProvider {
  return { contract: 1, name, decide, ...more };
}

/** Lets the root make one call to a tool that says what it was called with. */
async function callUnder(...hooks: HookProvider[]) {
  const { create, events } = prepare();
  const inputs: unknown[] = [];
  const { root } = await create({
    hooks,
    tools: [
      tools({
        task: ({ input }) => {
          inputs.push(input);
          return done('Created.');
        },
      }),
    ],
    model: answers(calls('task', { name: 'Searcher4' }, 'c10'), says('I see.')),
  });
  await root.harken('Go');
  await root.response();
  return { log: await events(), inputs };
}

describe('a hook that never decides', () => {
  it('is skipped after its time, in calls, results and deliveries of a session', async () => {
    const clock = new ManualClock();
    const { create, events } = prepare();
    const slow: HookProvider = { contract: 1, name: 'Slow', decide: () => new Promise(() => {}) };
    const { root, session } = await create({
      clock,
      hooks: [slow],
      hookTimeoutMs: 50,
      tools: [tools({ task: () => done('Created.') })],
      model: answers(calls('task'), says('I see.')),
    });
    await root.harken('Go');
    const said = root.response();
    for (const asked of [1, 2]) {
      await clock.timersSet(asked);
      clock.advance(50);
    }
    expect(String(await said)).toBe('I see.');
    const other = await session.createAgent();
    const informed = root.inform(other, 'Hello');
    await clock.timersSet(3);
    clock.advance(50);
    expect(await informed).toMatchObject({ status: 'delivered', text: 'Hello' });
    const errors = (await events()).filter(({ type }) => type === 'harness:error');
    expect(errors.map(({ data }) => data.code)).toEqual(Array(3).fill('DISPATCH_HOOK_TIMEOUT'));
    await expect(create({ hookTimeoutMs: -1 })).rejects.toMatchObject({ code: 'SESSION_OPTION_INVALID' });
  });
});

describe('a tool call under hooks', () => {
  it('is stopped by the first denial, which the model reads and the log keeps with the call as its cause', async () => {
    const asked: HookQuestion[] = [];
    const { log, inputs } = await callUnder(
      hook('Watcher', (question) => {
        asked.push(question);
        return { decision: 'allow' };
      }),
      hook('ResourceMonitor', () => ({ decision: 'deny', reason: 'Maximum subagents (3) already reached.' })),
      hook('Never', () => ({ decision: 'deny', reason: 'is not asked' })),
    );
    expect(inputs).toEqual([]);
    expect(asked).toMatchObject([
      {
        on: 'tool_call',
        agentId: 'agent_001',
        toolCallId: 'c10',
        tool: 'task',
        input: { name: 'Searcher4' },
        agents: [{ agentId: 'agent_001' }],
      },
    ]);
    const call = find(log, 'agent:tool_call');
    const decisions = log.filter(({ type }) => type === 'harness:hook_decision');
    expect(decisions).toMatchObject([
      {
        agentId: 'agent_001',
        cause: call.id,
        data: {
          hook: 'ResourceMonitor',
          on: 'tool_call',
          decision: 'deny',
          reason: 'Maximum subagents (3) already reached.',
          toolCallId: 'c10',
        },
      },
    ]);
    expect(find(log, 'agent:tool_result')).toMatchObject({
      via: decisions[0]?.id,
      data: {
        status: 'error',
        output: "Error: Action blocked by hook 'ResourceMonitor': Maximum subagents (3) already reached.",
      },
    });
  });

  it('is made as the hooks altered it, each after the one before, and the log shows the input', async () => {
    const add = (name: string) =>
      hook(name, (question) =>
        question.on === 'tool_call'
          ? { decision: 'alter', input: { by: [question.input, name] } }
          : { decision: 'allow' },
      );
    const { log, inputs } = await callUnder(add('one'), add('two'));
    const first = { by: [{ name: 'Searcher4' }, 'one'] };
    const last = { by: [{ by: [{ name: 'Searcher4' }, 'one'] }, 'two'] };
    expect(inputs).toEqual([last]);
    const call = find(log, 'agent:tool_call');
    expect(call.data.input).toEqual({ name: 'Searcher4' });
    const before = find(log, 'harness:hook_decision', { hook: 'one' });
    expect(before.data).toEqual({
      hook: 'one',
      on: 'tool_call',
      decision: 'alter',
      toolCallId: 'c10',
      subject: call.id,
      input: first,
    });
    const decision = find(log, 'harness:hook_decision', { hook: 'two' });
    expect(decision.data).toMatchObject({ decision: 'alter', previous: before.id, input: last });
    expect(find(log, 'agent:tool_result')).toMatchObject({ via: decision.id, data: { output: 'Created.' } });
  });

  it('is made where a hook throws or decides nothing, which is recorded', async () => {
    const { log, inputs } = await callUnder(
      hook('Broken', () => {
        throw new Error('no memory');
      }),
      hook('Silent', () => undefined as never),
      hook('Vague', () => ({ decision: 'alter' })),
    );
    expect(inputs).toHaveLength(1);
    const errors = log.filter(({ type }) => type === 'harness:error').map(({ data }) => data.message);
    expect(errors).toEqual(
      ['tool_call', 'tool_result'].flatMap((on) => [
        `The hook Broken could not decide on a ${on}: no memory`,
        `The hook Silent could not decide on a ${on}: it gave no decision.`,
        `The hook Vague could not decide on a ${on}: it altered without saying into what.`,
      ]),
    );
  });

  it('is denied where a required hook could not decide', async () => {
    const fail = () => {
      throw new Error('no memory');
    };
    const { log, inputs } = await callUnder(hook('Guard', fail, { required: true }));
    expect(inputs).toEqual([]);
    expect(find(log, 'harness:error').data.message).toContain('no memory');
    expect(find(log, 'harness:hook_decision').data).toMatchObject({ hook: 'Guard', decision: 'deny' });
  });
});

/** Jack says something to Jill, through a tool of the root. */
async function deliverUnder(hooks: readonly HookProvider[], substance?: string) {
  const { create, load, events } = prepare();
  const outcomes: unknown[] = [];
  const { session, root } = await create({
    hooks,
    tools: [
      tools({
        tell: async (call) => {
          const host = hostOf(call);
          const jack = await host.createAgent({ name: 'Jack' });
          const jill = await host.createAgent({ name: 'Jill' });
          outcomes.push(
            await host.deliver(jill.agentId, {
              text: 'the password is 1234',
              from: jack.agentId,
              ...(substance === undefined ? {} : { substance }),
            }),
          );
          return done('Told.');
        },
      }),
    ],
    model: answers(calls('tell'), says('Done.')),
  });
  await root.harken('Go');
  await root.response();
  const jill = await session.getAgent('agent_003');
  return { log: await events(), outcomes, heard: await jill.transcript(), load };
}

describe('a delivery under hooks', () => {
  it('that no hook changes is delivered as it was, with its substance', async () => {
    const { log, outcomes, heard } = await deliverUnder([hook('Kind', () => ({ decision: 'allow' }))], 'u1');
    expect(outcomes).toMatchObject([{ status: 'delivered', text: 'the password is 1234' }]);
    expect(find(log, 'user:message', { text: 'the password is 1234' })).toMatchObject({
      agentId: 'agent_003',
      substance: 'u1',
      data: { source: { kind: 'agent', agentId: 'agent_002' } },
    });
    expect(heard).toHaveLength(1);
    expect(typesOf(log)).not.toContain('harness:hook_decision');
  });

  it('that is altered names the decision, which stands before it, and keeps its substance', async () => {
    const redact = hook('Redact', (question) =>
      question.on === 'delivery'
        ? { decision: 'alter', text: question.text.replace('1234', '[REDACTED]'), reason: 'a secret' }
        : { decision: 'allow' },
    );
    const { log, outcomes, heard } = await deliverUnder([redact], 'u1');
    expect(outcomes).toMatchObject([{ status: 'altered', text: 'the password is [REDACTED]' }]);
    const decision = find(log, 'harness:hook_decision');
    const message = find(log, 'user:message', { text: 'the password is [REDACTED]' });
    expect(decision).toMatchObject({
      agentId: 'agent_003',
      cause: find(log, 'agent:tool_call').id,
      data: { hook: 'Redact', on: 'delivery', decision: 'alter', reason: 'a secret', subject: 'u1' },
    });
    expect(message).toMatchObject({ substance: 'u1', via: decision.id });
    expect(log.indexOf(decision)).toBe(log.indexOf(message) - 1);
    expect(heard).toMatchObject([{ content: 'the password is [REDACTED]' }]);
  });

  it('that is denied is in the log of the receiver, and not in its transcript', async () => {
    const asked: HookQuestion[] = [];
    const deny = hook('Censor', (question) => {
      if (question.on !== 'delivery') return { decision: 'allow' };
      asked.push(question);
      return { decision: 'deny', reason: 'not for her' };
    });
    const { log, outcomes, heard } = await deliverUnder([deny], 'u1');
    expect(outcomes).toMatchObject([{ status: 'denied', text: null, reason: 'not for her' }]);
    expect(asked).toMatchObject([{ from: 'agent_002', to: 'agent_003', text: 'the password is 1234' }]);
    expect(find(log, 'harness:hook_decision')).toMatchObject({
      agentId: 'agent_003',
      data: { hook: 'Censor', on: 'delivery', decision: 'deny', reason: 'not for her', subject: 'u1' },
    });
    expect(heard).toEqual([]);
  });

  it.each(['alter', 'deny'] as const)(
    'of new text (%s) keeps what was said as a piece of text',
    async (decision) => {
      const decisions = { alter: { decision, text: '…' }, deny: { decision, reason: 'no' } } as const;
      const { log } = await deliverUnder([
        hook('Censor', ({ on }) =>
          on === 'delivery' ? (decisions[decision] as HookDecision) : { decision: 'allow' },
        ),
      ]);
      const piece = find(log, 'agent:piece_of_text', { text: 'the password is 1234' });
      expect(piece).toMatchObject({ agentId: 'agent_002', cause: find(log, 'agent:tool_call').id });
      expect(find(log, 'harness:hook_decision').data.subject).toBe(piece.id);
      const delivered = log.filter(({ type, agentId }) => type === 'user:message' && agentId === 'agent_003');
      expect(delivered.map(({ substance }) => substance)).toEqual(decision === 'alter' ? [piece.id] : []);
    },
  );

  it('of new text that no hook changes has the tool call as its cause', async () => {
    const { log } = await deliverUnder([]);
    expect(find(log, 'user:message', { text: 'the password is 1234' })).toMatchObject({
      cause: find(log, 'agent:tool_call').id,
    });
    expect(typesOf(log)).not.toContain('agent:piece_of_text');
  });
});

import { runDispatch } from '@hansard/dispatch';
import type { ToolCallVerdict, ToolOutcome } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, event, says, stopped } from '../support/scripted-agent.ts';
import { callUnder, hook, never, prepare, taskDir } from './project-tools-scenario.ts';
import { done, tools, use } from './scripted-tools.ts';

describe('a call under hooks', () => {
  it('is stopped by the first denial, recorded with the call as its cause', async () => {
    const asked: unknown[] = [];
    const { log, calls, outcome } = await callUnder([
      hook('Watcher', (question) => {
        asked.push(question);
        return { decision: 'allow' };
      }),
      hook('Guard', () => ({ decision: 'deny', reason: 'not here' })),
      hook('Never', () => ({ decision: 'deny', reason: 'is not asked' })),
    ]);
    expect(calls).toEqual([]);
    expect(outcome).toEqual({ status: 'error', text: "Error: Action blocked by hook 'Guard': not here" });
    expect(asked).toEqual([
      {
        on: 'tool_call',
        dispatchId: 'D1',
        toolCallId: 'c1',
        tool: 'write',
        input: { path: 'a.txt' },
        agents: [],
        running: [],
      },
    ]);
    const [call, decision] = log;
    expect(log).toHaveLength(2);
    expect(decision).toMatchObject({
      type: 'harness:hook_decision',
      cause: call?.id,
      data: { hook: 'Guard', on: 'tool_call', decision: 'deny', reason: 'not here', toolCallId: 'c1' },
    });
  });

  const append = (name: string) =>
    hook(name, (question) =>
      question.on === 'tool_call'
        ? { decision: 'alter', reason: 'to be sure', input: [question.input, name] }
        : { decision: 'allow' },
    );

  it.each([
    ['full', { input: [[{ path: 'a.txt' }, 'one'], 'two'] }],
    ['narrative', {}],
  ] as const)('is made as they altered it, which a %s log shows', async (fidelity, input) => {
    const { log, calls } = await callUnder([append('one'), append('two')], { fidelity });
    expect(calls).toMatchObject([{ input: [[{ path: 'a.txt' }, 'one'], 'two'] }]);
    const [call, first] = log;
    expect(log.at(-1)?.data).toEqual({
      ...(fidelity === 'narrative' ? { leftOut: { input: 32 } } : {}),
      hook: 'two',
      on: 'tool_call',
      decision: 'alter',
      reason: 'to be sure',
      toolCallId: 'c1',
      subject: call?.id,
      previous: first?.id,
      ...input,
    });
  });

  it('is made where a hook throws, which is recorded; a required one denies it', async () => {
    const fail = () => {
      throw new Error('no memory');
    };
    const optional = await callUnder([hook('Broken', fail)]);
    expect(optional.calls).toHaveLength(1);
    expect(optional.log[1]?.data.message).toBe('The hook Broken could not decide on a tool_call: no memory');
    const required = await callUnder([hook('Broken', fail, { required: true })]);
    expect(required.calls).toEqual([]);
    expect(required.outcome?.status).toBe('error');
    expect(required.log.map(({ type }) => type)).toEqual([
      'agent:tool_call',
      'harness:error',
      'harness:hook_decision',
    ]);
    expect(required.envelope.status).toBe('completed');
  });

  it('whose hook hangs ends with the dispatch, and is not made', async () => {
    const { start, log } = prepare();
    const asked = new Gate();
    const calls: string[] = [];
    let outcome: ToolOutcome | undefined;
    const hanging = hook('Slow', () => {
      asked.open();
      return never();
    });
    const write = () => {
      calls.push('write');
      return done('');
    };
    const run = await start(
      async function* (request) {
        outcome = await use(request, 'write');
        yield says('over');
      },
      { hooks: [hanging], tools: [tools({ write })] },
    );
    await asked.opened;
    run.abort('enough');
    expect((await run.ended).status).toBe('aborted');
    expect(outcome).toEqual({ status: 'error', text: expect.stringContaining('enough') });
    expect(calls).toEqual([]);
    expect((await log()).map(({ type }) => type)).toEqual(['harness:abort', 'agent:text']);
  });
});

describe('an agent that asks about calls of its own tools', () => {
  it('gets the verdict once it is recorded, whose call it is included', async () => {
    const { start, log } = prepare();
    const verdicts: ToolCallVerdict[] = [];
    const lengths: number[] = [];
    const guard = hook('Guard', (question) => {
      const input = question.on === 'tool_call' ? question.input : null;
      if (input === 'rm') return { decision: 'deny', reason: 'no' };
      return input === 'ls' ? { decision: 'alter', input: 'ls -a' } : { decision: 'allow' };
    });
    const run = await start(
      async function* (request) {
        for (const [index, input] of ['rm', 'ls', 'cat'].entries()) {
          const call = { agentId: 'helper', toolCallId: `c${index}`, tool: 'Bash', input };
          verdicts.push(await request.askHooks(call));
          lengths.push((await log()).length);
        }
        yield says('done');
      },
      { hooks: [guard] },
    );
    await run.ended;
    expect(verdicts).toEqual([
      { decision: 'deny', hook: 'Guard', reason: 'no' },
      { decision: 'allow', input: 'ls -a', isAltered: true },
      { decision: 'allow', input: 'cat', isAltered: false },
    ]);
    expect(lengths).toEqual([1, 2, 2]);
    const [first] = await log();
    expect(first).toMatchObject({ agentId: 'helper', data: { toolCallId: 'c0' } });
    // Its call is not in the log, so no missing event is named.
    expect(first).not.toHaveProperty('cause');
  });

  it('has its call as the cause even if the hook is asked before the call is recorded', async () => {
    const { start, log } = prepare();
    const verdicts: Promise<ToolCallVerdict>[] = [];
    const run = await start(
      async function* (request) {
        verdicts.push(request.askHooks({ toolCallId: 'c1', tool: 'Bash', input: 'rm' }));
        yield event('agent:tool_call', { toolCallId: 'c1', tool: 'Bash', metadata: {} });
        await Promise.all(verdicts);
      },
      { hooks: [hook('Guard', () => ({ decision: 'deny', reason: 'no' }))] },
    );
    await run.ended;
    const [call, decision] = await log();
    expect(call?.type).toBe('agent:tool_call');
    expect(decision?.cause).toBe(call?.id);
  });

  it('does not name a call of another agent with the same id, nor one that has its result', async () => {
    const { start, log } = prepare();
    const run = await start(
      async function* (request) {
        yield event('agent:tool_call', { toolCallId: 'c1', tool: 'Bash', metadata: {} });
        await request.askHooks({ agentId: 'helper', toolCallId: 'c1', tool: 'Bash', input: 'rm' });
        yield event('agent:tool_result', {
          toolCallId: 'c1',
          tool: 'Bash',
          status: 'completed',
          metadata: {},
        });
        await request.askHooks({ toolCallId: 'c1', tool: 'Bash', input: 'rm' });
      },
      { hooks: [hook('Guard', () => ({ decision: 'deny', reason: 'no' }))] },
    );
    await run.ended;
    const decisions = (await log()).filter(({ type }) => type === 'harness:hook_decision');
    expect(decisions.map(({ cause }) => cause)).toEqual([undefined, undefined]);
  });

  it('gets no verdict when the dispatch is stopped', async () => {
    const { start } = prepare();
    const refusals: unknown[] = [];
    const run = await start(async function* (request) {
      await stopped(request);
      await request
        .askHooks({ toolCallId: 'c1', tool: 'Bash', input: 'ls' })
        .catch((error) => refusals.push(error.message));
      yield says('stopped');
    });
    await turn();
    run.abort('wrong branch');
    await run.ended;
    expect(refusals).toEqual([expect.stringContaining('wrong branch')]);
  });

  it('makes no call whose decision can’t be recorded: the dispatch ends with the error of the store', async () => {
    const provider = changedStore((store) => ({
      appendEvent(task, dispatchId, captured) {
        if (captured.type === 'harness:hook_decision') throw new Error('disk full');
        return store.appendEvent(task, dispatchId, captured);
      },
    }));
    const { store } = prepare(provider);
    const calls: string[] = [];
    const write = () => {
      calls.push('write');
      return done('');
    };
    const calling = agent(async function* (request) {
      yield says((await use(request, 'write')).text);
    });
    const hooks = [hook('Editor', () => ({ decision: 'alter', input: 'other' }))];
    const running = runDispatch({
      store,
      taskDir,
      role: 'lead',
      agent: calling,
      hooks,
      tools: [tools({ write })],
    });
    await expect(running).rejects.toThrow('disk full');
    expect(calls).toEqual([]);
  });
});

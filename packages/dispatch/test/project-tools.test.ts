import { openDispatchStore, type RunDispatchOptions, runDispatch, startDispatch } from '@hansard/dispatch';
import type {
  AgentActivity,
  AgentRunRequest,
  DispatchStoreProvider,
  HookProvider,
  ToolCall,
  ToolCallVerdict,
  ToolOutcome,
} from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from './changed-store.ts';
import { Gate, turn } from './gate.ts';
import { ManualClock } from './manual-clock.ts';
import { agent, event, says, stopped, yields } from './scripted-agent.ts';
import { done, tools, use } from './scripted-tools.ts';

const taskDir = 'lab/tasks/route-models';

function prepare(provider: DispatchStoreProvider = createMemoryStore()) {
  const clock = new ManualClock();
  const store = openDispatchStore(provider, { clock });
  const start = (
    script: (request: AgentRunRequest) => AsyncIterable<AgentActivity>,
    more: Partial<RunDispatchOptions> = {},
  ) =>
    startDispatch({ store, taskDir, clock, role: 'lead', dispatchId: 'D1', agent: agent(script), ...more });
  const log = () => store.getDispatchEvents(taskDir, 'D1');
  return { clock, store, start, log };
}

function hook(name: string, decide: HookProvider['decide'], more: Partial<HookProvider> = {}): HookProvider {
  return { name, decide, ...more };
}

const never = () => new Promise<never>(() => {});

/** Lets an agent call `write` once, with hooks in between; how it came out. */
async function callUnder(hooks: readonly HookProvider[], more: Partial<RunDispatchOptions> = {}) {
  const { start, log } = prepare();
  const calls: ToolCall[] = [];
  const outcomes: ToolOutcome[] = [];
  const write = (call: ToolCall) => {
    calls.push(call);
    return done('Written.');
  };
  const run = await start(
    async function* (request) {
      yield event('agent:tool_call', { toolCallId: 'c1', tool: 'write', metadata: {} });
      outcomes.push(await use(request, 'write', { path: 'a.txt' }));
    },
    { hooks, tools: [tools({ write })], ...more },
  );
  const envelope = await run.ended;
  return { log: await log(), calls, outcome: outcomes[0], envelope };
}

describe('what an agent is asked for', () => {
  it('reaches it: tools, schema of the result, turns, and the session to go on with', async () => {
    const { start } = prepare();
    const requests: AgentRunRequest[] = [];
    const outputSchema = { type: 'object' };
    const run = await start(
      async function* (request) {
        requests.push(request);
        yield says('done');
      },
      {
        tools: [tools({ write: () => done('') })],
        outputSchema,
        limits: { turns: 3 },
        resumeSessionId: 's1',
      },
    );
    await run.ended;
    expect(requests).toMatchObject([{ outputSchema, maxTurns: 3, resumeSessionId: 's1' }]);
    expect(requests[0]?.tools.map(({ definition }) => definition.name)).toEqual(['write']);
  });

  it('is left out where nothing is asked for', async () => {
    const { start } = prepare();
    const requests: AgentRunRequest[] = [];
    const run = await start(async function* (request) {
      requests.push(request);
      yield says('done');
    });
    await run.ended;
    const [request] = requests;
    expect(request?.tools).toEqual([]);
    for (const key of ['outputSchema', 'maxTurns', 'resumeSessionId'])
      expect(request).not.toHaveProperty(key);
  });

  it.each([
    [{ limits: { turns: 0 } }, 'turns'],
    [{ limits: { turns: 1.5 } }, 'turns'],
    [{ workers: { maxRunning: 0 } }, 'maxRunning'],
    [{ workers: { maxDepth: -1 } }, 'maxDepth'],
    [{ workers: { limits: { timeMs: Number.NaN } } }, 'timeMs'],
    [{ outputSchema: { bad: Number.NaN } }, 'outputSchema'],
  ])('%j makes no sense, and nothing is begun', async (more, named) => {
    const { store, start } = prepare();
    const starting = start(() => yields().run({} as never), more);
    await expect(starting).rejects.toThrow(TypeError);
    await expect(starting).rejects.toThrow(named);
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

describe('a tool of the project', () => {
  it('is called with the dispatch, the call and its input, without workers where there may be none', async () => {
    const { calls, outcome } = await callUnder([]);
    expect(outcome).toEqual(done('Written.'));
    expect(calls).toMatchObject([
      { taskDir, dispatchId: 'D1', toolCallId: 'c1', tool: 'write', input: { path: 'a.txt' } },
    ]);
    expect(calls[0]).not.toHaveProperty('dispatches');
    expect(calls[0]).not.toHaveProperty('agentId');
  });

  it('is the first provider’s where two have one of that name', async () => {
    const { start } = prepare();
    const outcomes: ToolOutcome[] = [];
    const run = await start(
      async function* (request) {
        expect(request.tools).toHaveLength(2);
        outcomes.push(await use(request, 'write'), await use(request, 'read'));
        yield says('done');
      },
      {
        tools: [
          tools({ write: () => done('first') }),
          tools({ write: () => done('second'), read: () => done('read') }),
        ],
      },
    );
    expect((await run.ended).status).toBe('completed');
    expect(outcomes).toEqual([done('first'), done('read')]);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('disk full')), 'Error: disk full'],
    [
      'throws at once',
      () => {
        throw new Error('disk full');
      },
      'Error: disk full',
    ],
    ['gives nothing', () => undefined as never, 'Error: write gave no outcome.'],
    [
      'gives metadata that JSON cannot hold',
      () => ({ ...done('ok'), metadata: { size: Number.NaN } }),
      'NaN',
    ],
  ])('that %s has an error as its outcome, and the dispatch goes on', async (_, write, text) => {
    const { outcome, envelope } = await callUnder([], { tools: [tools({ write })] });
    expect(outcome).toEqual({ status: 'error', text: expect.stringContaining(text) });
    expect(envelope.status).toBe('completed');
  });

  it.each(['the dispatch is aborted', 'the agent gives up the call', 'the agent has ended'])(
    'that hangs ends when %s',
    async (when) => {
      const { start } = prepare();
      const called = new Gate();
      const givenUp = new AbortController();
      const signals: AbortSignal[] = [];
      let outcome: Promise<ToolOutcome> | undefined;
      const hang = ({ signal }: ToolCall) => {
        signals.push(signal);
        called.open();
        return never();
      };
      const run = await start(
        async function* (request) {
          outcome = use(request, 'hang', {}, { signal: givenUp.signal });
          await called.opened;
          if (when === 'the agent has ended') return;
          if (when === 'the agent gives up the call') givenUp.abort(new Error('enough'));
          yield says((await outcome).text);
        },
        { tools: [tools({ hang })] },
      );
      await called.opened;
      if (when === 'the dispatch is aborted') run.abort('enough');
      expect((await run.ended).status).toBe(when === 'the dispatch is aborted' ? 'aborted' : 'completed');
      expect(await outcome).toEqual({ status: 'error', text: expect.stringMatching(/^Error: .*e/) });
      expect(signals[0]?.aborted).toBe(true);
    },
  );

  it('is not called any more when the dispatch has ended', async () => {
    const { start } = prepare();
    const called: string[] = [];
    const requests: AgentRunRequest[] = [];
    const write = () => {
      called.push('write');
      return done('');
    };
    const run = await start(
      async function* (request) {
        requests.push(request);
        yield says('bye');
      },
      { tools: [tools({ write })] },
    );
    await run.ended;
    const [request] = requests;
    if (request === undefined) throw new Error('the agent never ran');
    expect(await use(request, 'write')).toEqual({ status: 'error', text: 'Error: The dispatch has ended.' });
    expect(called).toEqual([]);
  });

  it('that can’t be listed is the error of the start, and nothing is begun', async () => {
    const { store, start } = prepare();
    const broken = { ...tools({}), listTools: () => Promise.reject(new Error('no server')) };
    await expect(start(() => yields().run({} as never), { tools: [broken] })).rejects.toThrow('no server');
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });

  it('whose listing hangs is left when the signal aborts, and the log says so', async () => {
    const { start, log } = prepare();
    const controller = new AbortController();
    const silent = { ...tools({}), listTools: never };
    const starting = start(() => yields(says('never')).run({} as never), {
      tools: [silent],
      signal: controller.signal,
    });
    await turn();
    controller.abort('shutting down');
    expect((await (await starting).ended).status).toBe('aborted');
    expect((await log()).map(({ type }) => type)).toEqual(['harness:abort']);
  });
});

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
    hook(name, (question) => ({
      decision: 'alter',
      reason: 'to be sure',
      input: question.on === 'tool_call' ? [question.input, name] : null,
    }));

  it.each([
    ['full', { input: [[{ path: 'a.txt' }, 'one'], 'two'] }],
    ['narrative', {}],
  ] as const)('is made as they altered it, which a %s log tells', async (fidelity, input) => {
    const { log, calls } = await callUnder([append('one'), append('two')], { fidelity });
    expect(calls).toMatchObject([{ input: [[{ path: 'a.txt' }, 'one'], 'two'] }]);
    expect(log.at(-1)?.data).toEqual({
      hook: 'two',
      on: 'tool_call',
      decision: 'alter',
      reason: 'to be sure',
      toolCallId: 'c1',
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
    // Its call is not in the log, so nothing is named that is not there.
    expect(first).not.toHaveProperty('cause');
  });

  it('has its call as the cause also where it asks while the call is on its way to the log', async () => {
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

  it('is not told that a call is another’s of the same id, nor one that has its result', async () => {
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

import type { AgentRunRequest, ToolCall, ToolOutcome } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { Gate, turn } from '../support/gate.ts';
import { says, yields } from '../support/scripted-agent.ts';
import { callUnder, never, prepare, taskDir } from './project-tools-scenario.ts';
import { done, tools, use } from './scripted-tools.ts';

describe('what an agent is asked for', () => {
  it('reaches it: tools, schema of the result, turns, and the session to resume', async () => {
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
        limits: { turns: 3, costUsd: 0.5 },
        resumeSessionId: 's1',
      },
    );
    await run.ended;
    expect(requests).toMatchObject([{ outputSchema, maxTurns: 3, maxCostUsd: 0.5, resumeSessionId: 's1' }]);
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
    for (const key of ['outputSchema', 'maxTurns', 'maxCostUsd', 'resumeSessionId'])
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
    await expect(starting).rejects.toMatchObject({ code: 'DISPATCH_OPTION_INVALID' });
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
  ])('that %s has an error as its outcome, and the dispatch continues', async (_, write, text) => {
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

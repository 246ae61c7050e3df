import {
  describeFailure,
  openDispatchStore,
  type RunDispatchOptions,
  runDispatch,
  startDispatch,
} from '@hansard/dispatch';
import { type CapturedEvent, type NewEvent, newEvent } from '@hansard/events';
import type { AgentRunRequest, DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { createDispatch, ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, event, says, stopped, yields } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';

function prepare(provider: DispatchStoreProvider = createMemoryStore()) {
  const clock = new ManualClock();
  const store = openDispatchStore(provider, { clock });
  const base = { store, taskDir, clock, role: 'worker', dispatchId: 'D1' };
  const options = (more: Pick<RunDispatchOptions, 'agent'> & Partial<RunDispatchOptions>) => ({
    ...base,
    ...more,
  });
  const events = () => store.getDispatchEvents(taskDir, 'D1');
  return { clock, store, options, events };
}

const typesOf = (events: readonly CapturedEvent[]) => events.map(({ type }) => type);

describe('a dispatch that runs to its end', () => {
  it('has a durable envelope before the agent begins, and its prompt as the first event', async () => {
    const { store, options, events } = prepare();
    const seen: unknown[] = [];
    const asked = agent(async function* (request) {
      seen.push(await store.getDispatchEnvelope(taskDir, 'D1'), await events());
      seen.push({
        prompt: request.prompt,
        role: request.role,
        model: request.model,
        fidelity: request.fidelity,
      });
      yield says('done');
    });
    await runDispatch(
      options({ agent: asked, prompt: 'Go on.', model: 'm', fidelity: 'full', botId: 'lucy' }),
    );
    expect(seen).toEqual([
      expect.objectContaining({ status: 'running', model: 'm', fidelity: 'full', botId: 'lucy' }),
      [
        expect.objectContaining({
          type: 'user:message',
          data: { text: 'Go on.', source: { kind: 'user' } },
        }),
      ],
      { prompt: 'Go on.', role: 'worker', model: 'm', fidelity: 'full' },
    ]);
    expect(typesOf(await events())).toEqual(['user:message', 'agent:text']);
  });

  it('records each event before the agent is asked for the next', async () => {
    const { options, events } = prepare();
    const lengths: number[] = [];
    const counting = agent(async function* () {
      for (let count = 0; count < 3; count += 1) {
        yield says(`${count}`);
        lengths.push((await events()).length);
      }
    });
    await runDispatch(options({ agent: counting }));
    expect(lengths).toEqual([1, 2, 3]);
  });

  it('is completed from its last session:complete', async () => {
    const { clock, options } = prepare();
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2 };
    const done = agent(async function* () {
      yield event('session:init', { model: 'model-a', sessionId: 's' });
      yield event('session:complete', { status: 'failed', costUsd: 9, structuredResult: 'early' });
      clock.advance(1_500);
      yield event('session:complete', {
        status: 'completed',
        costUsd: 0.25,
        usage,
        turns: 3,
        durationMs: 1_400,
        structuredResult: { answer: [42, null] },
      });
    });
    expect(await runDispatch(options({ agent: done }))).toMatchObject({
      status: 'completed',
      model: 'model-a',
      cost: 0.25,
      usage: { ...usage, turns: 3, durationMs: 1_400 },
      structuredResult: { answer: [42, null] },
      startedAt: '2026-03-01T09:00:00.000Z',
      completedAt: '2026-03-01T09:00:01.500Z',
    });
  });

  it.each([
    ['completed', 'completed'],
    ['failed', 'crashed'],
    ['aborted', 'aborted'],
  ] as const)('that says %s is %s', async (status, expected) => {
    const { options } = prepare();
    const envelope = await runDispatch(options({ agent: yields(event('session:complete', { status })) }));
    expect(envelope.status).toBe(expected);
  });

  it('without a session:complete is completed with nothing known of its result', async () => {
    const { options } = prepare();
    const envelope = await runDispatch(options({ agent: yields(says('bye')) }));
    expect(envelope).toMatchObject({ status: 'completed', cost: null, usage: null, structuredResult: null });
  });

  it('keeps the model that it was given', async () => {
    const { options } = prepare();
    const init = event('session:init', { model: 'other', sessionId: 's' });
    expect((await runDispatch(options({ agent: yields(init), model: 'given' }))).model).toBe('given');
  });

  it('shows the model of session:init while it still runs', async () => {
    const { store, options } = prepare();
    const models: unknown[] = [];
    const agentOfModel = agent(async function* () {
      yield event('session:init', { model: 'model-a', sessionId: 's' });
      models.push((await store.getDispatchEnvelope(taskDir, 'D1'))?.model);
    });
    await runDispatch(options({ agent: agentOfModel }));
    expect(models).toEqual(['model-a']);
  });
});

describe('a worker', () => {
  it('names its parent, who is the source of its prompt', async () => {
    const { store, options, events } = prepare();
    await createDispatch(store, taskDir, { role: 'product-analyst', dispatchId: 'PM' });
    const envelope = await runDispatch(
      options({ agent: yields(), prompt: 'Build it.', parentDispatchId: 'PM' }),
    );
    expect(envelope.parentDispatchId).toBe('PM');
    expect((await events())[0]?.data.source).toEqual({ kind: 'agent', dispatchId: 'PM' });
  });

  it('of a parent that the task does not have is refused, and nothing is created', async () => {
    const { store, options } = prepare();
    const starting = startDispatch(options({ agent: yields(), parentDispatchId: 'PM' }));
    await expect(starting).rejects.toMatchObject({ code: 'STORE_DISPATCH_NOT_FOUND' });
    await expect(starting).rejects.toThrow(/PM/);
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

describe('messages to a running dispatch', () => {
  it('are recorded, then reach the agent in order', async () => {
    const { options, events } = prepare();
    const heard: unknown[] = [];
    const listening = agent(async function* ({ messages }: AgentRunRequest) {
      for await (const message of messages) {
        heard.push(message.data.text);
        yield says(`heard ${message.data.text}`);
        if (heard.length === 2) return;
      }
    });
    const run = await startDispatch(options({ agent: listening }));
    await run.send('first');
    await run.send('second', { kind: 'agent', dispatchId: 'D0' });
    await run.ended;
    expect(heard).toEqual(['first', 'second']);
    const sources = (await events())
      .filter(({ type }) => type === 'user:message')
      .map(({ data }) => data.source);
    expect(sources).toEqual([{ kind: 'user' }, { kind: 'agent', dispatchId: 'D0' }]);
  });

  it('end for the agent when it is stopped', async () => {
    const { options } = prepare();
    const waiting = agent(async function* ({ messages }: AgentRunRequest) {
      for await (const _ of messages) yield says('?');
      yield says('no more messages');
    });
    const run = await startDispatch(options({ agent: waiting }));
    run.abort();
    expect((await run.ended).status).toBe('aborted');
  });

  it('do not hold back an agent that stops listening while it waits for one', async () => {
    const { options } = prepare();
    const leaving = agent(async function* ({ messages }: AgentRunRequest) {
      const listener = messages[Symbol.asyncIterator]();
      const waiting = listener.next();
      await listener.return?.();
      yield says(`over: ${(await waiting).done}`);
    });
    const run = await startDispatch(options({ agent: leaving }));
    await turn();
    await expect(run.send('anybody?')).rejects.toThrow('D1 of worker has ended');
    expect((await run.ended).status).toBe('completed');
  });

  it('are refused once it has ended, with words that help', async () => {
    const { options, events } = prepare();
    const run = await startDispatch(options({ agent: yields() }));
    await run.ended;
    await expect(run.send('too late')).rejects.toMatchObject({
      code: 'DISPATCH_ENDED',
      details: { dispatchId: 'D1' },
    });
    await expect(run.send('too late')).rejects.toThrow(/D1 of worker has ended/);
    expect(await events()).toEqual([]);
  });
});

describe('a dispatch whose agent fails', () => {
  it('is crashed, and the log says what was thrown', async () => {
    const { options, events } = prepare();
    const failing = agent(async function* () {
      yield says('so far');
      throw Object.assign(new Error('model unreachable'), { code: 'ECONNREFUSED' });
    });
    expect((await runDispatch(options({ agent: failing }))).status).toBe('crashed');
    const last = (await events()).at(-1);
    expect(last?.type).toBe('harness:error');
    expect(last?.data).toMatchObject({ message: 'model unreachable', code: 'ECONNREFUSED' });
    expect(last?.data.stack).toContain('run-dispatch.test.ts');
  });

  it.each([
    ['at once', 'a word', 'a word'],
    ['what is no error', { odd: true }, '{"odd":true}'],
    ['what only looks like an error', { message: 'x'.repeat(100) }, 'x'.repeat(100)],
  ])('is crashed even if it throws %s', async (_, thrown, message) => {
    const { options, events } = prepare();
    const failing = agent(() => {
      throw thrown;
    });
    expect((await runDispatch(options({ agent: failing }))).status).toBe('crashed');
    expect((await events())[0]?.data).toEqual({ message });
  });

  it.each([
    ['an invalid event', { type: 'agent:text', data: {} }, 'EVENT_INVALID'],
    ['what JSON cannot hold', { type: 'game:turn', data: { at: new Date(0) } }, 'EVENT_NOT_JSON'],
    ['a delta as an event', { type: 'delta:text', data: { text: 'a' } }, 'EVENT_EPHEMERAL'],
    ['nothing as an event', undefined, 'EVENT_INVALID'],
    [
      'an id again with other content',
      newEvent('agent:text', { text: 'b' }, { id: 'E1' }),
      'STORE_EVENT_CONFLICT',
    ],
  ])('is crashed if it yields %s, and the agent is stopped', async (_, wrong, code) => {
    const { options, events } = prepare();
    const signals: boolean[] = [];
    const failing = agent(async function* ({ signal }) {
      try {
        yield { kind: 'event', event: newEvent('agent:text', { text: 'a' }, { id: 'E1' }) };
        yield { kind: 'event', event: wrong as unknown as NewEvent };
        yield says('never asked for');
      } finally {
        signals.push(signal.aborted);
      }
    });
    expect((await runDispatch(options({ agent: failing }))).status).toBe('crashed');
    expect(typesOf(await events())).toEqual(['agent:text', 'harness:error']);
    expect((await events())[1]?.data.code).toBe(code);
    expect(signals).toEqual([true]);
  });

  it('ends even if the agent then hangs', async () => {
    const { clock, options } = prepare();
    const reached = new Gate();
    const hanging = agent(async function* () {
      try {
        yield { kind: 'event', event: { type: 'agent:text', data: {} } as NewEvent };
      } finally {
        reached.open();
        await new Promise(() => {});
      }
    });
    const run = await startDispatch(options({ agent: hanging, graceMs: 100 }));
    await reached.opened;
    clock.advance(100);
    expect((await run.ended).status).toBe('crashed');
  });
});

describe('a dispatch whose store fails', () => {
  function failingStore(failOn: (event: CapturedEvent) => boolean): DispatchStoreProvider {
    return changedStore((store) => ({
      async appendEvent(task, dispatchId, captured) {
        await turn();
        if (failOn(captured)) throw new Error('disk full');
        return store.appendEvent(task, dispatchId, captured);
      },
    }));
  }

  it('rejects with that error, after the agent was stopped and has ended', async () => {
    const { store, options } = prepare(failingStore(({ data }) => data.text === 'too much'));
    const ended: boolean[] = [];
    const talking = agent(async function* ({ signal }) {
      try {
        yield says('fits');
        yield says('too much');
        yield says('never asked for');
      } finally {
        ended.push(signal.aborted);
      }
    });
    const run = await startDispatch(options({ agent: talking }));
    await expect(run.ended).rejects.toThrow('disk full');
    expect(ended).toEqual([true]);
    expect(await store.getDispatchEnvelope(taskDir, 'D1')).toMatchObject({ status: 'running' });
    await expect(run.send('anybody there?')).rejects.toThrow(/D1 of worker has ended/);
  });

  it('rejects even if the prompt or the reason of an abort cannot be recorded', async () => {
    const prompted = prepare(failingStore(({ type }) => type === 'user:message'));
    await expect(runDispatch(prompted.options({ agent: yields(), prompt: 'Go' }))).rejects.toThrow(
      'disk full',
    );

    const aborted = prepare(failingStore(({ type }) => type === 'harness:abort'));
    const obeying = agent(async function* (request) {
      yield says('working');
      await stopped(request);
    });
    const run = await startDispatch(aborted.options({ agent: obeying }));
    run.abort();
    await expect(run.ended).rejects.toThrow('disk full');
  });

  it('rejects where the end cannot be written', async () => {
    const provider = changedStore((store) => ({
      updateDispatch(task, dispatchId, updates) {
        if (updates.completedAt) throw new Error('disk full');
        return store.updateDispatch(task, dispatchId, updates);
      },
    }));
    await expect(runDispatch(prepare(provider).options({ agent: yields() }))).rejects.toThrow('disk full');
  });
});

describe('the record of an error', () => {
  it('names its causes in the first line, each once, and the code of the nearest one that has any', () => {
    const socket = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const fetched = new TypeError('fetch failed\nTry again.', { cause: socket });
    expect(describeFailure(new Error('The model does not answer', { cause: fetched }))).toMatchObject({
      message: 'The model does not answer: fetch failed: connect ECONNREFUSED 127.0.0.1:1',
      code: 'ECONNREFUSED',
    });
    const stated = new Error(`fetch failed: ${socket.message}\nTwice.`, { cause: socket });
    expect(describeFailure(stated).message).toBe(stated.message);
    const round = new Error('round');
    expect(describeFailure(Object.assign(round, { cause: round })).message).toBe('round');
  });
});

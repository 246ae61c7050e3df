import type { AgentRunRequest, DispatchHost } from '@hansard/provider';
import { createDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate } from '../support/gate.ts';
import { agent, event, says, stopped, yields } from '../support/scripted-agent.ts';
import { prepare, settled, starts, staysWith, stores, taskDir, waits, worker } from './workers-scenario.ts';

describe.each(stores)('workers on a %s store', (_name, openStore) => {
  it('run side by side, each recorded before it starts, as children of the dispatch that started them', async () => {
    const meeting = { one: new Gate(), two: new Gate() };
    const seen: unknown[] = [];
    const prepared = prepare(
      {
        async *lead(_request, host) {
          const one = await host.startWorker(worker('one', { botId: 'lucy' }));
          const two = await host.startWorker(worker('two'));
          const ended = await Promise.all([one, two].map(({ dispatchId }) => host.awaitWorker(dispatchId)));
          yield says(ended.map(({ role, status }) => `${role} ${status}`).join());
        },
        // Neither ends before the other runs.
        async *one({ dispatchId }) {
          seen.push(await prepared.store.getDispatchEnvelope(taskDir, dispatchId), await prepared.log('one'));
          meeting.one.open();
          await meeting.two.opened;
          yield event('session:complete', { status: 'completed', costUsd: 0.25, structuredResult: { n: 1 } });
        },
        async *two() {
          meeting.two.open();
          await meeting.one.opened;
          yield event('session:complete', { status: 'completed', costUsd: 0.5 });
        },
      },
      await openStore(),
    );
    const { start, envelopes, log, store } = prepared;
    const ended = await (await start({ model: 'm', cwd: '/work', fidelity: 'full' })).ended;
    expect((await log('lead')).at(-1)?.data.text).toBe('one completed,two completed');
    const inherited = { parentDispatchId: 'LEAD', model: 'm', cwd: '/work', fidelity: 'full' };
    expect(seen).toEqual([
      expect.objectContaining({ role: 'one', status: 'running', botId: 'lucy', ...inherited }),
      [
        expect.objectContaining({
          type: 'user:message',
          data: { text: 'Be one.', source: { kind: 'agent', dispatchId: 'LEAD' } },
        }),
      ],
    ]);
    expect(await envelopes()).toMatchObject({
      one: { cost: 0.25, structuredResult: { n: 1 } },
      two: { cost: 0.5, ...inherited },
    });
    // A roll-up is a view: what a dispatch cost itself stays its own.
    expect(ended.cost).toBeNull();
    await store.close();
  });

  it('end with an aborted parent, also the workers of workers, each recorded with who did it', async () => {
    const deep = new Gate();
    const { start, statuses, envelopes, log, store } = prepare(
      {
        lead: staysWith('worker', 'other'),
        worker: staysWith('helper'),
        async *helper(request) {
          yield says('deep');
          deep.open();
          await stopped(request);
        },
        async *other(request) {
          yield says('working');
          await stopped(request);
        },
      },
      await openStore(),
    );
    const run = await start();
    await deep.opened;
    run.abort('wrong branch', 'user');
    await run.ended;
    expect(await statuses()).toEqual({
      lead: 'aborted',
      worker: 'aborted',
      helper: 'aborted',
      other: 'aborted',
    });
    const abortOf = async (role: string) =>
      (await log(role)).find(({ type }) => type === 'harness:abort')?.data;
    expect(await abortOf('lead')).toEqual({ reason: 'wrong branch', by: 'user' });
    for (const role of ['worker', 'other'])
      expect(await abortOf(role)).toEqual({
        by: 'LEAD',
        reason: 'the dispatch that started it was stopped (harness:abort: wrong branch)',
      });
    expect((await abortOf('helper'))?.by).toBe((await envelopes()).worker?.dispatchId);
    await store.close();
  });
});

describe('a parent that ends by itself', () => {
  it('is complete at once, and its run is over when its workers and theirs are', async () => {
    const gate = new Gate();
    const { start, statuses } = prepare({
      lead: starts('worker'),
      worker: starts('helper'),
      helper: waits(gate),
    });
    const run = await start();
    expect(await settled(run)).toBe(false);
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'completed', helper: 'running' });
    gate.open();
    expect((await run.ended).role).toBe('lead');
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'completed', helper: 'completed' });
  });

  it.each(['signal', 'abort'])('leaves workers that its %s still stops', async (how) => {
    const { start, statuses, log } = prepare({
      lead: starts('worker'),
      worker: starts('helper'),
      async *helper(request) {
        yield says('working');
        await stopped(request);
      },
    });
    const controller = new AbortController();
    const run = await start({ signal: controller.signal });
    expect(await settled(run)).toBe(false);
    if (how === 'signal') controller.abort('Ctrl-C');
    else run.abort('Ctrl-C', 'signal');
    await run.ended;
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'completed', helper: 'aborted' });
    expect((await log('helper')).at(-1)?.data).toEqual({ reason: 'Ctrl-C', by: 'signal' });
  });

  it('with a crash leaves them their own end, too', async () => {
    const gate = new Gate();
    const { start, statuses } = prepare({
      async *lead(_request, host) {
        await host.startWorker(worker('worker'));
        yield says('so far');
        throw new Error('lost its head');
      },
      worker: waits(gate),
    });
    const run = await start();
    await settled(run);
    gate.open();
    await run.ended;
    expect(await statuses()).toEqual({ lead: 'crashed', worker: 'completed' });
  });

  it('starts no more', async () => {
    let kept: DispatchHost | undefined;
    const { start, statuses } = prepare({
      async *lead(_request, host) {
        kept = host;
        yield says('bye');
      },
    });
    await (await start()).ended;
    await expect(kept?.startWorker(worker('late'))).rejects.toMatchObject({
      code: 'DISPATCH_ENDED',
      message: expect.stringMatching(/LEAD of lead is ending/),
    });
    expect(Object.keys(await statuses())).toEqual(['lead']);
  });
});

describe('a worker', () => {
  it('that crashes is crashed, and its parent continues', async () => {
    const { start, statuses, log } = prepare({
      async *lead(_request, host) {
        const { dispatchId } = await host.startWorker(worker('worker'));
        yield says((await host.awaitWorker(dispatchId)).status);
      },
      // biome-ignore lint/correctness/useYield: it has nothing to say
      async *worker() {
        throw new Error('lost its head');
      },
    });
    expect((await (await start()).ended).status).toBe('completed');
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'crashed' });
    expect((await log('lead')).map(({ type, data }) => data.text ?? type)).toEqual(['crashed']);
  });

  it('that is being started while its parent is aborted never runs', async () => {
    const creating = new Gate();
    const create = new Gate();
    const acted: string[] = [];
    const provider = changedStore((store) => ({
      async createDispatch(task, envelope) {
        if (envelope.role === 'worker') {
          creating.open();
          await create.opened;
        }
        await store.createDispatch(task, envelope);
      },
    }));
    const { start, statuses, log } = prepare(
      {
        async *lead(request, host) {
          void host.startWorker(worker('worker'));
          yield says('working');
          await stopped(request);
        },
        async *worker() {
          acted.push('worker');
          yield says('never');
        },
      },
      provider,
    );
    const run = await start();
    await creating.opened;
    run.abort('enough');
    expect(await settled(run)).toBe(false);
    create.open();
    await run.ended;
    expect(await statuses()).toEqual({ lead: 'aborted', worker: 'aborted' });
    expect(acted).toEqual([]);
    expect((await log('worker')).map(({ type }) => type)).toEqual(['user:message', 'harness:abort']);
  });

  it('is aborted by its parent alone, with those below it, and stays ended', async () => {
    const deep = new Gate();
    const statusesThen: string[] = [];
    const { start, statuses, log } = prepare({
      async *lead(_request, host) {
        const { dispatchId } = await host.startWorker(worker('worker'));
        await deep.opened;
        statusesThen.push((await host.abortWorker(dispatchId, 'not needed')).status);
        statusesThen.push((await statuses()).helper ?? '');
        statusesThen.push((await host.abortWorker(dispatchId, 'again')).status);
        yield says('done');
      },
      worker: staysWith('helper'),
      async *helper(request) {
        yield says('deep');
        deep.open();
        await stopped(request);
      },
    });
    expect((await (await start()).ended).status).toBe('completed');
    expect(statusesThen).toEqual(['aborted', 'aborted', 'aborted']);
    const aborts = (await log('worker')).filter(({ type }) => type === 'harness:abort');
    expect(aborts.map(({ data }) => data)).toEqual([{ reason: 'not needed', by: 'LEAD' }]);
  });

  it('is awaited only until the signal of its parent aborts, and continues', async () => {
    const gate = new Gate();
    const refused: string[] = [];
    const { start, statuses } = prepare({
      async *lead(_request, host) {
        const { dispatchId } = await host.startWorker(worker('worker'));
        const waiting = host.awaitWorker(dispatchId, AbortSignal.abort(new Error('no patience')));
        await waiting.catch((error) => refused.push(error.message));
        yield says((await host.getWorker(dispatchId)).status);
        gate.open();
      },
      worker: waits(gate),
    });
    await (await start()).ended;
    expect(refused).toEqual(['no patience']);
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'completed' });
  });

  it('is seen by the dispatch that started it, and no other dispatch is', async () => {
    const answers: unknown[] = [];
    const { start, store } = prepare({
      async *lead(_request, host) {
        const one = await host.startWorker(worker('one'));
        await host.awaitWorker(one.dispatchId);
        const two = await host.startWorker(worker('two'));
        await host.awaitWorker(two.dispatchId);
        answers.push((await host.listWorkers()).map(({ role, status }) => `${role} ${status}`));
        answers.push((await host.getRecentEvents(one.dispatchId, 1)).map(({ data }) => data.text));
        for (const id of ['LEAD', 'STRANGER'])
          for (const ask of [
            () => host.getWorker(id),
            () => host.getRecentEvents(id, 1),
            () => host.awaitWorker(id),
            () => host.abortWorker(id),
          ])
            answers.push(await ask().catch((error) => error.code));
        yield says('done');
      },
      one: () => yields(says('I am one')).run({} as never),
    });
    await createDispatch(store, taskDir, {
      role: 'stranger',
      dispatchId: 'STRANGER',
      parentDispatchId: 'LEAD',
    });
    expect((await (await start()).ended).status).toBe('completed');
    expect(answers).toEqual([
      ['one completed', 'two completed'],
      ['I am one'],
      ...Array(8).fill('STORE_DISPATCH_NOT_FOUND'),
    ]);
  });

  it('is the agent that it names, with the model and folder that it names', async () => {
    const requests: AgentRunRequest[] = [];
    const other = agent(async function* (request) {
      requests.push(request);
      yield says('I am another');
    });
    const refused: unknown[] = [];
    const { start, envelopes } = prepare({
      async *lead(_request, host) {
        expect(host.listAgents()).toEqual(['other']);
        await host.startWorker(worker('plain', { agent: 'other' }));
        await host.startWorker(
          worker('full', { agent: 'other', model: 'big', cwd: 'src', outputSchema: { type: 'object' } }),
        );
        for (const name of ['nobody', 'toString'])
          await host.startWorker(worker('x', { agent: name })).catch((error) => refused.push(error));
        yield says('done');
      },
    });
    const run = await start({
      model: 'm',
      cwd: '/work',
      workers: { agents: { other } },
      outputSchema: { title: 'mine' },
    });
    expect((await run.ended).status).toBe('completed');
    expect(await envelopes()).toMatchObject({
      // The model of one kind of agent means nothing to another.
      plain: { model: null, cwd: '/work' },
      full: { model: 'big', cwd: '/work/src' },
    });
    const schemas = requests.map(({ role, outputSchema }) => ({ role, outputSchema }));
    expect(schemas).toEqual([
      { role: 'plain', outputSchema: undefined },
      { role: 'full', outputSchema: { type: 'object' } },
    ]);
    expect(refused).toMatchObject(
      ['nobody', 'toString'].map((name) => ({
        code: 'DISPATCH_AGENT_NOT_FOUND',
        message: `There is no agent "${name}" for a worker; there are: other.`,
        details: { agent: name, agents: ['other'] },
      })),
    );
  });
});

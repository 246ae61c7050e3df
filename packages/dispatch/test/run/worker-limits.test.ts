import { createCommunicationHub, dispatchErrors, startDispatch } from '@hansard/dispatch';
import type { CommunicationHost } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { says, stopped, yields } from '../support/scripted-agent.ts';
import { prepare, type Script, settled, starts, waits, worker } from './workers-scenario.ts';

describe('limits of workers', () => {
  it('let that number run side by side, counting those of workers, and more when one has ended', async () => {
    const gate = new Gate();
    const below = new Gate();
    const refused: unknown[] = [];
    const { start, statuses } = prepare({
      async *lead(_request, host) {
        const one = await host.startWorker(worker('one'));
        await below.opened;
        await host.startWorker(worker('three')).catch((error) => refused.push(error));
        gate.open();
        await host.awaitWorker(one.dispatchId);
        await host.startWorker(worker('four'));
        yield says('done');
      },
      async *one(_request, host) {
        await host.startWorker(worker('two'));
        below.open();
        await gate.opened;
        yield says('done');
      },
      two: waits(gate),
    });
    const run = await start({ workers: { maxRunning: 2 } });
    expect((await run.ended).status).toBe('completed');
    expect(refused).toMatchObject([
      {
        code: 'DISPATCH_WORKER_LIMIT',
        message: expect.stringMatching(/^2 workers are running/),
        details: { running: 2, maxRunning: 2 },
      },
    ]);
    expect(dispatchErrors.is(refused[0], 'DISPATCH_WORKER_LIMIT')).toBe(true);
    expect(Object.keys(await statuses()).sort()).toEqual(['four', 'lead', 'one', 'two']);
  });

  it('give back the place of one that could not be started', async () => {
    let failures = 1;
    const provider = changedStore((store) => ({
      createDispatch(task, envelope) {
        if (envelope.role === 'worker' && failures-- > 0) throw new Error('disk full');
        return store.createDispatch(task, envelope);
      },
    }));
    const refused: string[] = [];
    const { start, statuses } = prepare(
      {
        async *lead(_request, host) {
          await host.startWorker(worker('worker')).catch((error) => refused.push(error.message));
          await host.startWorker(worker('worker'));
          yield says('done');
        },
      },
      provider,
    );
    await (await start({ workers: { maxRunning: 1 } })).ended;
    expect(refused).toEqual(['disk full']);
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'completed' });
  });

  it.each([
    [undefined, [true, true, false]],
    [{ maxDepth: 1 }, [true, false]],
    [{ maxDepth: 0 }, [false]],
  ])('let them start others so far down (%j)', async (limits, expected) => {
    const may: boolean[] = [];
    const further: Script = async function* (_request, host) {
      may.push(host?.mayStart === true);
      if (host?.mayStart === true) await host.startWorker(worker('worker'));
      yield says('done');
    };
    const { start } = prepare({ lead: further, worker: further });
    await (await start({ workers: limits ?? {} })).ended;
    expect(may).toEqual(expected);
  });

  it('do not exist for a dispatch that may have no workers', async () => {
    const hosts: unknown[] = [];
    const { alone } = prepare({
      async *lead(_request, host) {
        hosts.push(host);
        yield says('alone');
      },
    });
    await (await startDispatch(alone)).ended;
    expect(hosts).toEqual([undefined]);
  });

  it('hold each worker to its own, and a parent that waits for one is not silent', async () => {
    const { clock, start, statuses } = prepare({
      async *lead(_request, host) {
        const { dispatchId } = await host.startWorker(worker('worker'));
        await host.awaitWorker(dispatchId);
        yield says('done');
      },
      async *worker(request) {
        yield says('working');
        await stopped(request);
      },
    });
    const run = await start({ limits: { stallMs: 1_000 }, workers: { limits: { timeMs: 5_000 } } });
    await settled(run);
    clock.advance(4_999);
    await settled(run);
    expect(await statuses()).toEqual({ lead: 'running', worker: 'running' });
    clock.advance(1);
    expect((await run.ended).status).toBe('completed');
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'aborted' });
  });

  it('end a worker that is silent, not the parent that waits for it; then the parent’s silence counts', async () => {
    const { clock, start, statuses, log } = prepare({
      async *lead(request, host) {
        const { dispatchId } = await host.startWorker(worker('worker'));
        await host.awaitWorker(dispatchId);
        await stopped(request);
        yield says('stopped');
      },
      async *worker(request) {
        yield says('working');
        await stopped(request);
      },
    });
    const run = await start({ limits: { stallMs: 1_000 } });
    await settled(run);
    clock.advance(1_000);
    await settled(run);
    expect(await statuses()).toEqual({ lead: 'running', worker: 'aborted' });
    clock.advance(1_000);
    expect((await run.ended).status).toBe('aborted');
    expect((await log('worker')).map(({ type }) => type)).toContain('harness:stall');
  });

  it('are those of the parent where there are no others', async () => {
    const turns: unknown[] = [];
    const { start } = prepare({
      lead: starts('worker'),
      async *worker({ maxTurns }) {
        turns.push(maxTurns);
        yield says('done');
      },
    });
    await (await start({ limits: { turns: 7 } })).ended;
    expect(turns).toEqual([7]);
  });
});

describe('a store that fails for a worker', () => {
  const failing = (from: { readonly open: boolean }) =>
    changedStore((store) => ({
      appendEvent(task, dispatchId, captured) {
        if (from.open && captured.data.text === 'too much') throw new Error('disk full');
        return store.appendEvent(task, dispatchId, captured);
      },
    }));

  it('is an error in the log of the running parent, and what asking for the worker gives', async () => {
    const answers: string[] = [];
    const { start, log, statuses } = prepare(
      {
        async *lead(_request, host) {
          const { dispatchId } = await host.startWorker(worker('worker'));
          await host.awaitWorker(dispatchId).catch((error) => answers.push(error.message));
          await turn();
          for (const ask of [() => host.getWorker(dispatchId), () => host.awaitWorker(dispatchId)])
            await ask().catch((error) => answers.push(error.message));
          yield says('going on');
        },
        worker: () => yields(says('too much')).run({} as never),
      },
      failing({ open: true }),
    );
    expect((await (await start()).ended).status).toBe('completed');
    expect(answers).toEqual(['disk full', 'disk full', 'disk full']);
    expect(await log('lead')).toMatchObject([
      { type: 'harness:error', data: { message: expect.stringMatching(/worker worker \w+, .*disk full/) } },
      { type: 'agent:text' },
    ]);
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'running' });
  });

  it('is the error of the run where the parent has ended, because its caller must know', async () => {
    const gate = new Gate();
    const { start, statuses } = prepare(
      {
        lead: starts('worker', 'other'),
        async *worker() {
          await gate.opened;
          yield says('too much');
        },
        other: waits(gate),
      },
      failing({ open: true }),
    );
    const run = await start();
    expect(await settled(run)).toBe(false);
    gate.open();
    await expect(run.ended).rejects.toThrow('disk full');
    expect(await statuses()).toEqual({ lead: 'completed', worker: 'running', other: 'completed' });
  });

  it('for the parent ends the workers before the run rejects', async () => {
    const { start, statuses, log } = prepare(
      {
        async *lead(_request, host) {
          await host.startWorker(worker('worker'));
          yield says('too much');
        },
        async *worker(request) {
          yield says('working');
          await stopped(request);
        },
      },
      failing({ open: true }),
    );
    const run = await start();
    await expect(run.ended).rejects.toThrow('disk full');
    expect(await statuses()).toEqual({ lead: 'running', worker: 'aborted' });
    expect((await log('worker')).find(({ type }) => type === 'harness:abort')?.data).toEqual({
      reason: 'the store failed for the dispatch that started it',
      by: 'LEAD',
    });
  });
});

it('people who name no dispatch talk to the parent, not to its newest worker, until it has ended', async () => {
  const gate = new Gate();
  let people: CommunicationHost | undefined;
  const communication = createCommunicationHub([
    {
      contract: 1,
      start: (host) => {
        people = host;
      },
      eventRecorded: () => {},
    },
  ]);
  await communication.start();
  const heard = new Gate();
  const { start, log } = prepare({
    async *lead({ messages }, host) {
      await host.startWorker(worker('worker'));
      yield says('working');
      heard.open();
      for await (const message of messages) {
        yield says(`heard ${message.data.text}`);
        return;
      }
    },
    worker: waits(gate),
  });
  const run = await start({ communication });
  await heard.opened;
  expect(await people?.deliver({ text: 'hello' })).toBe(true);
  expect(await settled(run)).toBe(false);
  expect(await people?.deliver({ text: 'anybody?' })).toBe(true);
  gate.open();
  await run.ended;
  expect((await log('lead')).at(-1)?.data.text).toBe('heard hello');
  expect((await log('worker')).map(({ data }) => data.text)).toContain('anybody?');
  await communication.close();
});

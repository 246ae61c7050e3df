import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createCommunicationHub,
  type DispatchRun,
  openDispatchStore,
  type RunDispatchOptions,
  startDispatch,
} from '@hansard/dispatch';
import type {
  AgentActivity,
  AgentRunRequest,
  CommunicationHost,
  DispatchHost,
  DispatchStoreProvider,
  NewWorker,
} from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { changedStore } from './changed-store.ts';
import { Gate, turn } from './gate.ts';
import { ManualClock } from './manual-clock.ts';
import { agent, event, says, stopped, yields } from './scripted-agent.ts';
import { done, tools, use } from './scripted-tools.ts';

const taskDir = 'lab/tasks/route-models';

type Script = (request: AgentRunRequest, host: DispatchHost) => AsyncIterable<AgentActivity>;

/** Agents who do what the script of their role says, each with the host of its workers. */
function prepare(
  scripts: Readonly<Record<string, Script>>,
  provider: DispatchStoreProvider = createMemoryStore(),
) {
  const clock = new ManualClock();
  const store = openDispatchStore(provider, { clock });
  const hosts = new Map<string, DispatchHost>();
  const giveHost = tools({
    host({ dispatches, dispatchId }) {
      if (dispatches !== undefined) hosts.set(dispatchId, dispatches);
      return done('');
    },
  });
  const byRole = agent(async function* (request) {
    await use(request, 'host');
    yield* scripts[request.role]?.(request, hosts.get(request.dispatchId) as DispatchHost) ?? [];
  });
  const alone = { store, taskDir, clock, role: 'lead', dispatchId: 'LEAD', agent: byRole, tools: [giveHost] };
  const start = (more: Partial<RunDispatchOptions> = {}) => startDispatch({ ...alone, workers: {}, ...more });
  const envelopes = async () =>
    Object.fromEntries((await store.getDispatchEnvelopes(taskDir)).map((one) => [one.role, one]));
  const statuses = async () =>
    Object.fromEntries(Object.entries(await envelopes()).map(([role, { status }]) => [role, status]));
  const log = async (role: string) =>
    store.getDispatchEvents(taskDir, (await envelopes())[role]?.dispatchId ?? '');
  return { clock, store, alone, start, envelopes, statuses, log };
}

const worker = (role: string, more: Partial<NewWorker> = {}): NewWorker => ({
  role,
  prompt: `Be ${role}.`,
  ...more,
});

/** Starts workers and ends. */
const starts = (...roles: string[]): Script =>
  async function* (_request, host) {
    for (const role of roles) await host.startWorker(worker(role));
    yield says('started');
  };

/** Starts workers, then goes on until it is stopped. */
const staysWith = (...roles: string[]): Script =>
  async function* (request, host) {
    for (const role of roles) await host.startWorker(worker(role));
    yield says('working');
    await stopped(request);
  };

const waits = (gate: Gate): Script =>
  async function* () {
    yield says('working');
    await gate.opened;
    yield says('done');
  };

async function settled(run: DispatchRun): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  run.ended.then(settle, settle);
  for (let count = 0; count < 10; count += 1) await turn();
  return isSettled;
}

const stores: readonly (readonly [string, () => Promise<DispatchStoreProvider>])[] = [
  ['memory', async () => createMemoryStore()],
  [
    'jsonfile',
    async () => {
      const root = await mkdtemp(join(tmpdir(), 'hansard-workers-'));
      onTestFinished(() => rm(root, { recursive: true, force: true }));
      return openJsonFileStore({ root });
    },
  ],
];

describe.each(stores)('workers on a %s store', (_name, openStore) => {
  it('run side by side, each recorded before it starts, as children of who started them', async () => {
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
    await expect(kept?.startWorker(worker('late'))).rejects.toThrow(/LEAD is ending/);
    expect(Object.keys(await statuses())).toEqual(['lead']);
  });
});

describe('a worker', () => {
  it('that crashes is crashed, and its parent goes on', async () => {
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

  it('is awaited no longer than its parent likes, and goes on', async () => {
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

  it('is seen by who started it, and no other dispatch is', async () => {
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
    await store.createDispatch(taskDir, {
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
    const refused: string[] = [];
    const { start, envelopes } = prepare({
      async *lead(_request, host) {
        expect(host.listAgents()).toEqual(['other']);
        await host.startWorker(worker('plain', { agent: 'other' }));
        await host.startWorker(
          worker('full', { agent: 'other', model: 'big', cwd: 'src', outputSchema: { type: 'object' } }),
        );
        for (const name of ['nobody', 'toString'])
          await host.startWorker(worker('x', { agent: name })).catch((error) => refused.push(error.message));
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
    expect(refused).toEqual([
      'There is no agent "nobody" for a worker; there are: other.',
      'There is no agent "toString" for a worker; there are: other.',
    ]);
  });
});

describe('limits of workers', () => {
  it('let so many run side by side, counting those of workers, and more when one has ended', async () => {
    const gate = new Gate();
    const below = new Gate();
    const refused: string[] = [];
    const { start, statuses } = prepare({
      async *lead(_request, host) {
        const one = await host.startWorker(worker('one'));
        await below.opened;
        await host.startWorker(worker('three')).catch((error) => refused.push(error.message));
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
    expect(refused).toEqual([expect.stringMatching(/^2 workers run already/)]);
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
      may.push(host !== undefined);
      if (host !== undefined) await host.startWorker(worker('worker'));
      yield says('done');
    };
    const { start } = prepare({ lead: further, worker: further });
    await (await start({ workers: limits ?? {} })).ended;
    expect(may).toEqual(expected);
  });

  it('are not there for a dispatch that may have no workers', async () => {
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

  it('is the error of the run where the parent has ended, for who started it must know', async () => {
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

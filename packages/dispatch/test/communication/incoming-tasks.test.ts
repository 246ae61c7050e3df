import {
  createCommunicationHub,
  type IncomingTasks,
  openDispatchStore,
  startDispatch,
} from '@hansard/dispatch';
import type { AgentRunRequest, CommunicationHost, IncomingTask } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import type { CommunicationProblem } from '../../src/communication/communication-problem.ts';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, says, stopped } from '../support/scripted-agent.ts';

/** A hub with one provider, whose host begins tasks with an agent that does as `work` says. */
async function prepare(
  work: (request: AgentRunRequest) => Promise<void> = async () => {},
  options: Partial<IncomingTasks> = {},
  provider = createMemoryStore(),
) {
  const store = openDispatchStore(provider);
  const ended: string[] = [];
  const problems: CommunicationProblem[] = [];
  let host: CommunicationHost | undefined;
  let begun = 0;
  const hub = createCommunicationHub(
    [
      {
        contract: 1,
        start: (given) => {
          host = given;
        },
        eventRecorded: () => {},
        dispatchEnded: ({ envelope }) => void ended.push(`${envelope.dispatchId} ${envelope.status}`),
      },
    ],
    {
      onProblem: (problem) => problems.push(problem),
      incoming: {
        async begin({ prompt, task = 'new', source }) {
          begun += 1;
          const taskDir = `chat/tasks/${task}`;
          const run = await startDispatch({
            store,
            taskDir,
            role: 'agent',
            dispatchId: `D${begun}`,
            prompt,
            communication: hub,
            agent: agent(async function* (request) {
              yield says('working');
              await work(request);
              yield says('done');
            }),
            ...(source === undefined ? {} : { promptSource: source }),
          });
          return { ...run, taskDir };
        },
        ...options,
      },
    },
  );
  await hub.start();
  const start = (task: IncomingTask) => (host as CommunicationHost).start(task);
  const reason = (task: IncomingTask) =>
    start(task).then(
      () => 'begun',
      (error) => (error.code === 'DISPATCH_START_REFUSED' ? error.details.reason : error.message),
    );
  return {
    hub,
    store,
    start,
    reason,
    ended,
    problems,
    accepts: (id: string) => host?.accepts(id),
    begun: () => begun,
  };
}

describe('a task that a communication provider begins', () => {
  it('is a dispatch like others: recorded with its source, shown to the providers, and open for messages', async () => {
    const gate = new Gate();
    const { hub, store, start, ended, accepts } = await prepare(() => gate.opened);
    const source = { kind: 'external', what: 'service', name: '@ann in #lab' } as const;
    const place = await start({ prompt: 'Compare the models.', task: 'route', source });
    expect(place).toEqual({ taskDir: 'chat/tasks/route', dispatchId: 'D1' });
    expect(accepts('D1')).toEqual({ messages: true, abort: true });
    gate.open();
    while (ended.length === 0) await turn();
    await hub.close();
    expect(ended).toEqual(['D1 completed']);
    const [prompt] = await store.getDispatchEvents('chat/tasks/route', 'D1');
    expect(prompt?.data).toEqual({ text: 'Compare the models.', source });
    expect(await store.getDispatchEnvelope('chat/tasks/route', 'D1')).toMatchObject({
      title: 'Compare the models.',
      status: 'completed',
    });
  });

  it('is refused where the configuration does not allow it, which is the default', async () => {
    let host: CommunicationHost | undefined;
    const hub = createCommunicationHub([
      {
        contract: 1,
        start: (given) => {
          host = given;
        },
        eventRecorded: () => {},
      },
    ]);
    await hub.start();
    await expect(host?.start({ prompt: 'Go.' })).rejects.toMatchObject({
      code: 'DISPATCH_START_REFUSED',
      details: { reason: 'not_allowed' },
    });
    await hub.close();
  });

  it.each([[''], [' \n'], [undefined as never], [{} as never]])(
    'is refused without a prompt (%j), and nothing is begun',
    async (prompt) => {
      const { hub, reason, begun } = await prepare();
      expect(await reason({ prompt })).toBe('no_prompt');
      expect(begun()).toBe(0);
      await hub.close();
    },
  );

  it('is refused above the limit, which counts those that are being started, until one has ended', async () => {
    const gate = new Gate();
    const { hub, reason, ended } = await prepare(() => gate.opened, { maxRunning: 2 });
    const three = [1, 2, 3].map((count) => reason({ prompt: `Task ${count}.`, task: `t${count}` }));
    expect(await Promise.all(three)).toEqual(['begun', 'begun', 'limit']);
    gate.open();
    while (ended.length < 2) await turn();
    await turn();
    expect(await reason({ prompt: 'Again.', task: 't4' })).toBe('begun');
    await hub.close();
  });

  it('gives its place back if it could not be begun, with the error for the provider', async () => {
    const { hub, reason, problems } = await prepare(undefined, {
      maxRunning: 1,
      begin: async () => {
        throw new Error('no such agent');
      },
    });
    expect(await reason({ prompt: 'Go.' })).toBe('no such agent');
    expect(await reason({ prompt: 'Go.' })).toBe('no such agent');
    await hub.close();
    expect(problems).toEqual([]);
  });
});

describe('the shutdown of the hub', () => {
  it('aborts such dispatches, waits until they have ended and were shown, and begins no more', async () => {
    const { hub, store, start, reason, ended } = await prepare(async (request) => {
      await stopped(request);
    });
    await start({ prompt: 'Go.', task: 'one' });
    const beginning = start({ prompt: 'Go.', task: 'two' });
    const closing = hub.close();
    expect(await reason({ prompt: 'Too late.' })).toBe('closing');
    await beginning;
    await closing;
    expect(ended.sort()).toEqual(['D1 aborted', 'D2 aborted']);
    const events = await store.getDispatchEvents('chat/tasks/two', 'D2');
    expect(events.find(({ type }) => type === 'harness:abort')?.data).toEqual({
      reason: 'the harness is closing',
      by: 'harness',
    });
  });

  it('reports a dispatch whose store failed, and ends', async () => {
    let isBroken = false;
    const broken = changedStore((inner) => ({
      appendEvent(task, id, event) {
        if (isBroken) throw new Error('disk full');
        return inner.appendEvent(task, id, event);
      },
    }));
    const gate = new Gate();
    const { hub, start, problems } = await prepare(() => gate.opened, {}, broken as never);
    await start({ prompt: 'Go.' });
    isBroken = true;
    gate.open();
    await hub.close();
    await turn();
    expect(problems).toMatchObject([{ kind: 'task_failed', dispatchId: 'D1' }]);
  });
});

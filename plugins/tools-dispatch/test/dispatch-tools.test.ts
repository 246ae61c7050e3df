import { newEvent } from '@hansard/events';
import type { AgentRunRequest } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { idOf, runLead, says, type WorkerScript } from './run-lead.ts';

/** Works until it is stopped. */
const untilStopped: WorkerScript = async function* ({ signal }) {
  yield says('working');
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
};

const completes = (data: Parameters<typeof newEvent<'session:complete'>>[1]): WorkerScript =>
  async function* () {
    yield says('my last words');
    yield { kind: 'event', event: newEvent('session:complete', data) };
  };

describe('dispatch_agent', () => {
  it('answers at once with the id of a worker, who has what was asked for', async () => {
    const requests: AgentRunRequest[] = [];
    let id = '';
    const { envelopes, lead } = await runLead(
      async (use) => {
        const started = await use('dispatch_agent', {
          role: 'ts-dev',
          prompt: 'Build it.',
          model: 'small',
          cwd: '/work',
          bot_id: 'lucy',
          output_schema: { type: 'object' },
        });
        id = idOf(started);
        expect(started).toEqual({
          status: 'completed',
          text: `Started ts-dev. dispatchId: ${id}`,
          metadata: { dispatchId: id, status: 'running' },
        });
        await use('abort_dispatch', { dispatch_id: id });
      },
      {
        async *'ts-dev'(request) {
          requests.push(request);
          yield* untilStopped(request);
        },
      },
    );
    expect(envelopes.find(({ role }) => role === 'ts-dev')).toMatchObject({
      dispatchId: id,
      parentDispatchId: lead.dispatchId,
      botId: 'lucy',
    });
    expect(requests).toMatchObject([
      { prompt: 'Build it.', model: 'small', cwd: '/work', outputSchema: { type: 'object' } },
    ]);
  });

  it.each([
    [{ prompt: 'Go' }, 'input.role is missing'],
    [{ role: 'x', prompt: '' }, 'input.prompt'],
    [{ role: 'x', prompt: 'Go', speed: 1 }, 'speed'],
    ['Go', 'expected object'],
    [{ role: 'x', prompt: 'Go', agent: 'nobody' }, 'There are: other.'],
  ])('refuses %j with words that help, and starts nothing', async (input, words) => {
    const { envelopes } = await runLead(
      async (use) => {
        const outcome = await use('dispatch_agent', input);
        expect(outcome).toEqual({ status: 'error', text: expect.stringContaining(words) });
      },
      {},
      { workers: { agents: { other: { contract: 1, run: () => (async function* () {})() } } } },
    );
    expect(envelopes).toHaveLength(1);
  });

  it('says what to do where no more may run side by side', async () => {
    await runLead(
      async (use) => {
        const first = await use('dispatch_agent', { role: 'one', prompt: 'Go' });
        const second = await use('dispatch_agent', { role: 'two', prompt: 'Go' });
        expect(second).toEqual({
          status: 'error',
          text: expect.stringContaining('wait until one has ended'),
        });
        await use('abort_dispatch', { dispatch_id: idOf(first) });
      },
      { one: untilStopped },
      { workers: { maxRunning: 1 } },
    );
  });
});

describe('await_dispatch', () => {
  it('answers with status, cost and result of several, in the order of the call', async () => {
    await runLead(
      async (use) => {
        const one = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        const two = idOf(await use('dispatch_agent', { role: 'two', prompt: 'Go' }));
        const three = idOf(await use('dispatch_agent', { role: 'three', prompt: 'Go' }));
        expect(await use('await_dispatch', { dispatch_ids: [three, one, two, one] })).toEqual({
          status: 'completed',
          text: [
            `three ${three}: crashed\nerror lost its head\nresult: so far`,
            `one ${one}: completed, $0.25\nresult: All fine.`,
            `two ${two}: completed\nstructured result: {"files":2}`,
          ].join('\n\n'),
          metadata: {
            dispatches: [
              { dispatchId: three, status: 'crashed' },
              { dispatchId: one, status: 'completed' },
              { dispatchId: two, status: 'completed' },
            ],
          },
        });
        expect((await use('await_dispatch', { dispatch_ids: one })).metadata).toEqual({
          dispatchId: one,
          status: 'completed',
        });
      },
      {
        one: completes({ status: 'completed', result: 'All fine.', costUsd: 0.25 }),
        two: completes({ status: 'completed', result: 'as words', structuredResult: { files: 2 } }),
        async *three() {
          yield says('so far');
          throw new Error('lost its head');
        },
      },
    );
  });

  it('gives the last text of a worker without a result, shortened, with the length that was cut', async () => {
    await runLead(
      async (use) => {
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        const { text } = await use('await_dispatch', { dispatch_ids: [id] });
        expect(text).toMatch(/\nresult: x+ \[\d+ characters cut\]$/);
        expect(text.length).toBeLessThan(40_100);
      },
      {
        async *one() {
          yield says('x'.repeat(100_000));
        },
      },
    );
  });

  it('that its agent gives up leaves the worker running', async () => {
    await runLead(
      async (use) => {
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        const givenUp = AbortSignal.abort(new Error('no patience'));
        expect(await use('await_dispatch', { dispatch_ids: id }, givenUp)).toEqual({
          status: 'error',
          text: 'Error: no patience',
        });
        expect((await use('check_dispatch', { dispatch_id: id })).metadata).toMatchObject({
          status: 'running',
        });
        await use('abort_dispatch', { dispatch_id: id });
      },
      { one: untilStopped },
    );
  });
});

describe('check_dispatch', () => {
  it('reports the state of a worker and its last events, one per line', async () => {
    await runLead(
      async (use) => {
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Look\naround.' }));
        await use('await_dispatch', { dispatch_ids: id });
        const { text, metadata } = await use('check_dispatch', { dispatch_id: id });
        expect(metadata).toEqual({ dispatchId: id, status: 'completed' });
        const [status, head, ...events] = text.split('\n');
        expect([status, head]).toEqual([`one ${id}: completed, $0.50`, 'last events, quoted from its log:']);
        expect(events).toHaveLength(3);
        expect(events[0]).toMatch(/^\d\d:\d\d:\d\d message from agent \w+ Look.around\.$/);
        expect(events[1]).toMatch(/ text my last words$/);
        expect((await use('check_dispatch', { dispatch_id: id, events: 1 })).text.split('\n')).toHaveLength(
          3,
        );
        expect((await use('check_dispatch', { dispatch_id: id, events: 0 })).text).toBe(status);
      },
      { one: completes({ status: 'completed', costUsd: 0.5 }) },
    );
  });

  it('stays short whatever the worker wrote', async () => {
    await runLead(
      async (use) => {
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        await use('await_dispatch', { dispatch_ids: id });
        const { text } = await use('check_dispatch', { dispatch_id: id, events: 50 });
        expect(text.length).toBeLessThan(4_200);
        expect(text).toMatch(/\[\d+ older events left out\]/);
        expect(text).toContain('characters cut]');
      },
      {
        async *one() {
          for (let count = 0; count < 60; count += 1) yield says(`${count} ${'long '.repeat(2_000)}`);
        },
      },
    );
  });
});

describe('abort_dispatch', () => {
  it('stops a worker with a reason in its log, and one that has ended stays as it is', async () => {
    await runLead(
      async (use, { dispatchId }) => {
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        const aborted = {
          status: 'completed',
          text: `one ${id}: aborted`,
          metadata: { dispatchId: id, status: 'aborted' },
        };
        expect(await use('abort_dispatch', { dispatch_id: id, reason: 'found it' })).toEqual(aborted);
        expect(await use('abort_dispatch', { dispatch_id: id })).toEqual(aborted);
        const { text } = await use('await_dispatch', { dispatch_ids: id });
        expect(text).toContain(`abort by ${dispatchId} found it`);
      },
      { one: untilStopped },
    );
  });
});

describe('message_dispatch', () => {
  it('reaches a running worker, which answers its parent, and says which dispatch was written to', async () => {
    const { envelopes } = await runLead(
      async (use, { messages }) => {
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        expect(await use('message_dispatch', { to: id, text: 'Which one?' })).toEqual({
          status: 'completed',
          text: `Sent to ${id}.`,
          metadata: { to: id, messageId: expect.any(String) },
        });
        const { value } = await messages[Symbol.asyncIterator]().next();
        expect(value?.data).toEqual({ text: 'The first.', source: { kind: 'agent', dispatchId: id } });
      },
      {
        async *one({ messages, tools }) {
          await messages[Symbol.asyncIterator]().next();
          const tool = tools.find(({ definition }) => definition.name === 'message_dispatch');
          const { signal } = new AbortController();
          await tool?.call({ toolCallId: 'w1', input: { to: 'parent', text: 'The first.' }, signal });
          yield says('asked');
        },
      },
      // A worker at the deepest level can still write.
      { workers: { maxDepth: 1 } },
    );
    expect(envelopes.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  it('that cannot be delivered says why, and who can be written to', async () => {
    await runLead(
      async (use, { dispatchId }) => {
        const ended = idOf(await use('dispatch_agent', { role: 'two', prompt: 'Go' }));
        await use('await_dispatch', { dispatch_ids: ended });
        const refused = async (to: string) => {
          const { status, text } = await use('message_dispatch', { to, text: 'Hello.' });
          return `${status}: ${text}`;
        };
        expect(await refused('nobody')).toMatch(/^error: Not sent\. .*There is nobody to write to now\.$/);
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        const known = `You can write to: ${id} (one, worker).`;
        for (const to of ['nobody', ended, dispatchId, 'parent']) {
          expect(await refused(to), to).toMatch(
            /^error: Not sent\. The dispatch|^error: Not sent\. No dispatch/,
          );
          expect(await refused(to), to).toContain(known);
        }
        await use('abort_dispatch', { dispatch_id: id });
      },
      {
        one: untilStopped,
        async *two() {
          yield says('done');
        },
      },
    );
  });
});

describe('every tool', () => {
  it.each([
    ['check_dispatch', (id: string) => ({ dispatch_id: id })],
    ['await_dispatch', (id: string) => ({ dispatch_ids: id })],
    ['abort_dispatch', (id: string) => ({ dispatch_id: id })],
  ])('of which %s names an unknown worker says which there are', async (tool, input) => {
    await runLead(
      async (use) => {
        expect(await use(tool, input('nobody'))).toEqual({
          status: 'error',
          text: 'You have no worker "nobody". You have started none yet.',
        });
        const id = idOf(await use('dispatch_agent', { role: 'one', prompt: 'Go' }));
        const { text } = await use(tool, input('nobody'));
        expect(text).toBe(`You have no worker "nobody". Yours are: ${id} (one, running).`);
        await use('abort_dispatch', { dispatch_id: id });
      },
      { one: untilStopped },
    );
  });

  it.each(['dispatch_agent', 'check_dispatch', 'await_dispatch', 'abort_dispatch', 'message_dispatch'])(
    'such as %s says so where the agent can have no workers, and what is right where the input is wrong',
    async (tool) => {
      await runLead(
        async (use) => {
          expect(await use(tool, {})).toEqual({
            status: 'error',
            text: `${tool} works with workers, and this agent can have none: do the work yourself.`,
          });
        },
        {},
        { workers: { maxDepth: 0 } },
      );
      await runLead(async (use) => {
        const outcome = await use(tool, { wrong: true });
        expect(outcome.status).toBe('error');
        expect(outcome.text).toMatch(
          new RegExp(`^${tool} was called with the wrong input\\. .* It takes \\w+: `),
        );
      });
    },
  );
});

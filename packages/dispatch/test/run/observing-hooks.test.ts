import { openDispatchStore, type RunDispatchOptions, runDispatch, startDispatch } from '@hansard/dispatch';
import type { HookHost, HookObservation, HookProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { agent, calls, event, says, stopped } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';

type Observe = (observation: HookObservation, host: HookHost) => unknown;

function observer(name: string, observe: Observe): HookProvider {
  return { contract: 1, name, observe: async (observation, host) => void (await observe(observation, host)) };
}

function prepare() {
  const store = openDispatchStore(createMemoryStore());
  const base = { store, taskDir, role: 'worker', dispatchId: 'D1', prompt: 'Go.' };
  return {
    options: (more: Pick<RunDispatchOptions, 'agent'> & Partial<RunDispatchOptions>) => ({
      ...base,
      ...more,
    }),
    events: () => store.getDispatchEvents(taskDir, 'D1'),
  };
}

describe('an observing hook of a run', () => {
  it('observes what the agent received, did and said, and how the run ended', async () => {
    const { options } = prepare();
    const seen: string[] = [];
    const asked = agent(async function* () {
      yield says('I look.');
      yield calls('Read', 'a.txt');
      yield event('agent:tool_result', {
        toolCallId: 'call',
        tool: 'Read',
        metadata: {},
        status: 'completed',
      });
      yield says('It is empty.');
      throw new Error('no memory');
    });
    await runDispatch(
      options({
        agent: asked,
        hooks: [observer('Diary', ({ what, event: { type } }) => seen.push(`${what} ${type}`))],
      }),
    );
    expect(seen).toEqual([
      'message user:message',
      'utterance agent:text',
      'call agent:tool_call',
      'result agent:tool_result',
      'notification harness:error',
      'utterance agent:text',
    ]);
  });

  it('injects a message that the agent receives, with the hook as its source and the observed event as its cause', async () => {
    const { options, events } = prepare();
    const received: unknown[] = [];
    const asked = agent(async function* ({ messages }) {
      yield calls('Bash', 'rm -r .');
      for await (const message of messages) {
        received.push(message.data.text);
        return;
      }
    });
    const warner = observer('Warner', async ({ what, event: { agentId } }, host) => {
      expect(host.agents).toBeUndefined();
      if (what === 'call') await host.inform(agentId, 'Careful.');
    });
    await runDispatch(options({ agent: asked, hooks: [warner] }));
    expect(received).toEqual(['Careful.']);
    const log = await events();
    const call = log.find(({ type }) => type === 'agent:tool_call');
    expect(log.at(-1)).toMatchObject({
      type: 'user:message',
      cause: call?.id,
      data: { text: 'Careful.', source: { kind: 'system', hook: 'Warner' } },
    });
  });

  it('fails with a code where the agent takes no messages', async () => {
    const { options, events } = prepare();
    const deaf = {
      ...agent(async function* () {
        yield says('Hello.');
      }),
      takesMessages: false,
    };
    const pushy = observer('Pushy', ({ what }, host) =>
      what === 'message' ? host.inform(null, 'Hear me.') : null,
    );
    await runDispatch(options({ agent: deaf, hooks: [pushy] }));
    expect((await events()).find(({ type }) => type === 'harness:error')?.data).toMatchObject({
      code: 'DISPATCH_ENDED',
      hook: 'Pushy',
    });
  });

  it('cannot delay the abort of a run, and its failure is recorded when it hangs', async () => {
    const { options, events } = prepare();
    const clock = new ManualClock();
    const hanging = observer('Hanging', () => new Promise(() => {}));
    const idle = agent(async function* (request) {
      yield says('I wait.');
      await stopped(request);
    });
    const run = await startDispatch(options({ agent: idle, hooks: [hanging], hookTimeoutMs: 50, clock }));
    await clock.timersSet(1);
    clock.advance(50);
    await new Promise(setImmediate);
    run.abort('enough');
    expect(await run.ended).toMatchObject({ status: 'aborted' });
    const errors = (await events()).filter(({ type }) => type === 'harness:error');
    expect(errors.map(({ data }) => data.code)).toEqual(['DISPATCH_HOOK_TIMEOUT']);
  });
});

import { openDispatchStore, type RunDispatchOptions, startDispatch } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { AgentActivity, AgentProvider, AgentRunRequest } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { turn } from '../support/gate.ts';
import { stopped } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';
const startedAt = '2020-05-01T08:00:00.000Z';
const at = (seconds: number) => `2020-05-01T08:00:0${seconds}.000Z`;

/** An agent that plays a recording: a text at each of the seconds, and then what the script does. */
function recording(
  seconds: readonly number[],
  rest: (request: AgentRunRequest) => Promise<void> = async () => {},
): AgentProvider {
  return {
    contract: 1,
    recordedStart: () => startedAt,
    async *run(request) {
      for (const second of seconds) yield text(second);
      await rest(request);
    },
  };
}

function text(second: number): AgentActivity {
  const event = newEvent('agent:text', { text: `said at ${second}` }, { timestamp: at(second) });
  return { kind: 'event', event };
}

async function play(agent: AgentProvider, more: Partial<RunDispatchOptions> = {}) {
  const clock = new ManualClock();
  const store = openDispatchStore(createMemoryStore(), { clock });
  const run = await startDispatch({ store, taskDir, clock, role: 'worker', agent, ...more });
  const times = async () =>
    (await store.getDispatchEvents(taskDir, run.dispatchId)).map(({ type, timestamp }) => [type, timestamp]);
  return { clock, run, times };
}

describe('the dispatch of an agent that plays a recording', () => {
  it('starts when the recording starts, and is completed at its latest event', async () => {
    const { run } = await play(recording([1, 3, 2]));
    expect(await run.ended).toMatchObject({ status: 'completed', startedAt, completedAt: at(3) });
  });

  it('starts and ends at the start of a recording without events', async () => {
    const { run } = await play(recording([]));
    expect(await run.ended).toMatchObject({ startedAt, completedAt: startedAt });
  });

  it('has its prompt at the start, and messages and errors at the time that was reached', async () => {
    const { run, times } = await play(
      recording([1, 2], async (request) => {
        for await (const _ of request.messages) throw new Error('It broke.');
      }),
      { prompt: 'Route the models.' },
    );
    await turn();
    await run.send('Go on.');
    expect(await run.ended).toMatchObject({ status: 'crashed', startedAt, completedAt: at(2) });
    expect(await times()).toEqual([
      ['user:message', startedAt],
      ['agent:text', at(1)],
      ['agent:text', at(2)],
      ['user:message', at(2)],
      ['harness:error', at(2)],
    ]);
  });

  it('is held to its limit of time by the real clock, and the log has the time that was reached', async () => {
    const { clock, run, times } = await play(
      recording([4], async (request) => {
        await stopped(request);
      }),
      { limits: { timeMs: 1_000 } },
    );
    await turn();
    expect(await times()).toEqual([['agent:text', at(4)]]);
    clock.advance(1_000);
    expect(await run.ended).toMatchObject({ status: 'aborted', startedAt, completedAt: at(4) });
    expect((await times()).at(-1)).toEqual(['harness:timeout', at(4)]);
  });

  it('has the times of now where the recording has none', async () => {
    const agent: AgentProvider = { ...recording([]), recordedStart: async () => null };
    const { clock, run } = await play(agent);
    const now = new Date(clock.now()).toISOString();
    expect(await run.ended).toMatchObject({ startedAt: now, completedAt: now });
  });

  it('is not created where the agent cannot say when its recording starts', async () => {
    const store = openDispatchStore(createMemoryStore());
    const agent: AgentProvider = {
      ...recording([]),
      recordedStart: () => Promise.reject(new Error('The disk is gone.')),
    };
    await expect(startDispatch({ store, taskDir, role: 'worker', agent })).rejects.toThrow(
      'The disk is gone.',
    );
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

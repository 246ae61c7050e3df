import { handleStream, openDispatchStore, replayDispatch, startDispatch } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock, startOfTest } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { describeStreamProblem, type StreamProblem } from '../../src/streams/handle-stream.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, delta, says, yields } from '../support/scripted-agent.ts';
import { inWords } from '../support/stream-words.ts';

const taskDir = 'lab/tasks/route-models';

async function start(script: ReturnType<typeof agent>) {
  const clock = new ManualClock();
  const store = openDispatchStore(createMemoryStore(), { clock });
  const run = await startDispatch({ store, taskDir, clock, role: 'worker', dispatchId: 'D1', agent: script });
  return { clock, store, run };
}

const fiveLines = () => yields(...['a', 'b', 'c', 'd', 'e'].map(says));

describe('a handler of a stream', () => {
  it('that blocks for seconds does not slow a dispatch, and gets every event all the same', async () => {
    const gate = new Gate();
    const { run, clock } = await start(fiveLines());
    const handled: string[] = [];
    const done = handleStream(run.stream({ pageSize: 1 }), {
      async event(item) {
        await gate.opened;
        handled.push(inWords(item));
      },
    });
    const { completedAt } = await run.ended;
    expect(Date.parse(completedAt ?? '')).toBe(startOfTest);
    expect(handled).toEqual([]);
    clock.advance(10_000);
    gate.open();
    await done;
    expect(handled).toEqual(['0:a', '1:b', '2:c', '3:d', '4:e']);
  });

  it('that throws is reported, and the stream continues', async () => {
    const { run } = await start(fiveLines());
    const problems: StreamProblem[] = [];
    const handled: string[] = [];
    const handlers = {
      event(item: Parameters<typeof inWords>[0]) {
        if (inWords(item) === '1:b') throw new Error('no b, please');
        handled.push(inWords(item));
        return inWords(item) === '3:d' ? Promise.reject('nor d') : Promise.resolve();
      },
    };
    await handleStream(run.stream(), handlers, { onProblem: (problem) => problems.push(problem) });
    expect((await run.ended).status).toBe('completed');
    expect(handled).toEqual(['0:a', '2:c', '3:d', '4:e']);
    expect(problems.map(describeStreamProblem)).toEqual([
      'A stream handler threw for agent:text at position 1: Error: no b, please',
      'A stream handler threw for agent:text at position 3: nor d',
    ]);
  });

  it('gets deltas where it takes them; those it was too slow for are counted', async () => {
    const begin = new Gate();
    const gate = new Gate();
    const script = agent(async function* () {
      await begin.opened;
      for (let count = 0; count < 10; count += 1) yield delta(`${count}`);
      yield says('said');
    });
    const { run } = await start(script);
    const problems: StreamProblem[] = [];
    const handled: string[] = [];
    const done = handleStream(
      run.stream({ deltaLimit: 4 }),
      {
        event: (item) => void handled.push(inWords(item)),
        async delta({ text }) {
          await gate.opened;
          if (text === '9') throw new Error('enough');
          handled.push(`~${text}`);
        },
      },
      { onProblem: (problem) => problems.push(problem) },
    );
    begin.open();
    await run.ended;
    gate.open();
    await done;
    const got = handled.filter((word) => word.startsWith('~')).length;
    expect(handled.at(-1)).toBe('0:said');
    const dropped = problems.flatMap((problem) => (problem.kind === 'deltas_dropped' ? [problem.count] : []));
    expect(dropped).toHaveLength(1);
    expect(got + (dropped[0] ?? 0)).toBe(9);
    expect(problems.map(describeStreamProblem)).toEqual([
      expect.stringMatching(/^A stream handler is behind: \d deltas were left out/),
      'A stream handler threw for delta:text: Error: enough',
    ]);
  });

  it('is called the same way for a replay', async () => {
    const { run, store } = await start(fiveLines());
    const live: string[] = [];
    const replayed: string[] = [];
    await handleStream(run.stream(), { event: (item) => void live.push(inWords(item)) });
    const replay = replayDispatch(await store.openDispatch(taskDir, 'D1'));
    await handleStream(replay, { event: (item) => void replayed.push(inWords(item)), delta: () => {} });
    expect(replayed).toEqual(live);
    expect(live).toHaveLength(5);
  });

  it('that never comes back is left alone when the signal aborts', async () => {
    const stop = new AbortController();
    const never = new Gate();
    const { run } = await start(fiveLines());
    const done = handleStream(run.stream(), { event: () => never.opened }, { signal: stop.signal });
    await turn();
    stop.abort();
    await done;
    const late = handleStream(run.stream(), { event: () => never.opened }, { signal: stop.signal });
    await late;
  });

  it('rejects with the error of a stream that fails', async () => {
    const { store, run } = await start(fiveLines());
    await run.ended;
    const replay = replayDispatch(await store.openDispatch(taskDir, 'D1'));
    await store.deleteDispatch({ taskDir, dispatchId: 'D1' });
    await expect(handleStream(replay, { event() {} })).rejects.toMatchObject({
      code: 'STORE_DISPATCH_NOT_FOUND',
    });
  });
});

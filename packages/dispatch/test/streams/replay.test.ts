import { type DispatchLog, openDispatchStore, replayDispatch } from '@hansard/dispatch';
import { newEvent, type OutputPart, snapshot, toTimestamp } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import {
  appendEvent,
  appendEvents,
  createDispatch,
  ManualClock,
  startOfTest,
  updateDispatch,
} from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import type { ReplayOptions } from '../../src/streams/replay-dispatch.ts';
import { changedStore } from '../support/changed-store.ts';
import { turn } from '../support/gate.ts';
import { gather, inWords } from '../support/stream-words.ts';

const taskDir = 'lab/tasks/route-models';
const dispatchId = 'D1';

/** A stored dispatch with an event at each of these seconds of the log. */
async function recorded(
  seconds: readonly number[],
  store = openDispatchStore(createMemoryStore()),
): Promise<DispatchLog> {
  await createDispatch(store, taskDir, { role: 'worker', dispatchId });
  await appendEvents(
    store,
    taskDir,
    dispatchId,
    seconds.map((second) => ({
      ...newEvent('agent:text', { text: `${second}s` }),
      timestamp: toTimestamp(Date.UTC(2020, 0, 1) + second * 1_000),
    })),
  );
  return store.openDispatch(taskDir, dispatchId);
}

/** Plays in the background, noting when each event came, in seconds of the replay. */
function play(log: DispatchLog, options: ReplayOptions, clock = new ManualClock()) {
  const replay = replayDispatch(log, { clock, ...options });
  const words: string[] = [];
  const done = (async () => {
    for await (const item of replay) words.push(`${(clock.now() - startOfTest) / 1_000}: ${inWords(item)}`);
  })();
  const pass = async (seconds: number) => {
    await turn();
    for (let passed = 0; passed < seconds; passed += 0.25) {
      clock.advance(250);
      await turn();
    }
  };
  return { replay, words, done, clock, pass };
}

describe('replay', () => {
  it('yields the same events as the stream did, values included', async () => {
    const store = openDispatchStore(createMemoryStore());
    await createDispatch(store, taskDir, { role: 'worker', dispatchId });
    const log = await store.openDispatch(taskDir, dispatchId);
    const live = (async () => {
      const items = [];
      for await (const item of log.stream()) items.push(item);
      return items;
    })();
    const rows = new Map([['rows', new Set([1n])]]);
    for (let count = 0; count < 300; count += 1) {
      const parts: OutputPart[] = [snapshot(rows), snapshot(`${count}`)];
      rows.set(`${count}`, new Set());
      await appendEvent(store, taskDir, dispatchId, newEvent('agent:output', { parts }));
    }
    await updateDispatch(store, taskDir, dispatchId, { status: 'completed' });
    const replayed = [];
    for await (const item of replayDispatch(log)) replayed.push(item);
    expect(replayed).toHaveLength(300);
    expect(replayed).toEqual(await live);
  });

  it('as fast as possible never looks at the clock, and ends at the end of the log', async () => {
    const store = await recorded([0, 3_600, 86_400]);
    const { words, done, clock } = play(store, {});
    await done;
    expect(words).toEqual(['0: 0:0s', '0: 1:3600s', '0: 2:86400s']);
    expect(clock.timers).toBe(0);
  });

  it('at the original pace gives each event when it was due', async () => {
    const { words, done, pass } = play(await recorded([5, 6, 8, 8, 12]), { pace: 'original' });
    await pass(7);
    await done;
    expect(words).toEqual(['0: 0:5s', '1: 1:6s', '3: 2:8s', '3: 3:8s', '7: 4:12s']);
  });

  it('at a factor is faster by that factor', async () => {
    const twice = play(await recorded([0, 1, 4]), { pace: 2 });
    await twice.pass(2);
    await twice.done;
    expect(twice.words).toEqual(['0: 0:0s', '0.5: 1:1s', '2: 2:4s']);
    const half = play(await recorded([0, 1]), { pace: 0.5 });
    await half.pass(2);
    await half.done;
    expect(half.words).toEqual(['0: 0:0s', '2: 1:1s']);
  });

  it('shortens long silences to the longest that is wanted, at any factor', async () => {
    const { words, done, pass } = play(await recorded([0, 1, 1_001, 2_001]), { pace: 2, maxGapMs: 3_000 });
    await pass(7);
    await done;
    expect(words).toEqual(['0: 0:0s', '0.5: 1:1s', '3.5: 2:1001s', '6.5: 3:2001s']);
  });

  it('does not wait for an event that is older than the one before, and takes no longer for it in all', async () => {
    const { words, done, pass } = play(await recorded([10, 12, 3, 13]), { pace: 'original' });
    await pass(3);
    await done;
    expect(words).toEqual(['0: 0:10s', '2: 1:12s', '2: 2:3s', '3: 3:13s']);
  });

  it('begins after its cursor, without the gap before it', async () => {
    const { words, done, pass } = play(await recorded([0, 50, 51]), { pace: 'original', after: 0 });
    await pass(1);
    await done;
    expect(words).toEqual(['0: 1:50s', '1: 2:51s']);
  });

  it('does not drift with what its taker does meanwhile', async () => {
    const clock = new ManualClock();
    const replay = replayDispatch(await recorded([0, 1, 2, 3]), {
      clock,
      pace: 'original',
    });
    const came: number[] = [];
    const items = replay[Symbol.asyncIterator]();
    for (let count = 0; count < 4; count += 1) {
      const next = items.next();
      await turn();
      // Up to the next whole second; the first event waits for nothing.
      if (count > 0) clock.advance(300);
      await next;
      came.push((clock.now() - startOfTest) / 1_000);
      clock.advance(700);
    }
    expect(came).toEqual([0, 1, 2, 3]);
  });

  it('makes up for a taker that was late, and is on time again', async () => {
    const clock = new ManualClock();
    const replay = replayDispatch(await recorded([0, 1, 2, 10]), {
      clock,
      pace: 'original',
    });
    const items = replay[Symbol.asyncIterator]();
    await items.next();
    clock.advance(5_000);
    await items.next();
    await items.next();
    const last = items.next();
    await turn();
    clock.advance(4_999);
    await turn();
    expect(clock.timers).toBe(1);
    clock.advance(1);
    expect(await last).toMatchObject({ value: { position: 3 } });
  });

  it('keeps its pace where the clock is set back', async () => {
    const { words, done, pass, clock } = play(await recorded([0, 1, 2, 3]), { pace: 'original' });
    await pass(1);
    clock.setBack(3_600_000);
    await pass(2);
    await done;
    expect(words.map((word) => word.slice(word.indexOf(': ') + 2))).toEqual(['0:0s', '1:1s', '2:2s', '3:3s']);
  });

  it('stepwise gives one event for each step, and holds the rest', async () => {
    const { replay, words, done, pass } = play(await recorded([0, 3_600, 7_200]), {
      pace: 'original',
      paused: true,
    });
    await pass(2);
    expect(words).toEqual([]);
    replay.step();
    await turn();
    expect(words).toEqual(['2: 0:0s']);
    await pass(1);
    replay.step();
    replay.step();
    await done;
    expect(words).toEqual(['2: 0:0s', '3: 1:3600s', '3: 2:7200s']);
  });

  it('resumes after a pause with the remainder of the gap', async () => {
    const { replay, words, done, pass, clock } = play(await recorded([0, 4, 5]), { pace: 'original' });
    await pass(1);
    replay.pause();
    await pass(10);
    expect([replay.isPaused, words, clock.timers]).toEqual([true, ['0: 0:0s'], 0]);
    replay.resume();
    await pass(4);
    await done;
    expect(words).toEqual(['0: 0:0s', '14: 1:4s', '15: 2:5s']);
  });

  it('stands still in a pause also while its taker is busy', async () => {
    const clock = new ManualClock();
    const replay = replayDispatch(await recorded([0, 10, 11]), {
      clock,
      pace: 'original',
    });
    const items = replay[Symbol.asyncIterator]();
    await items.next();
    clock.advance(2_000);
    replay.pause();
    clock.advance(60_000);
    replay.pause();
    replay.resume();
    clock.advance(1_000);
    const second = items.next();
    await turn();
    clock.advance(6_999);
    await turn();
    expect(clock.timers).toBe(1);
    clock.advance(1);
    expect(await second).toMatchObject({ value: { position: 1 } });
    const third = items.next();
    await turn();
    clock.advance(1_000);
    expect(await third).toMatchObject({ value: { position: 2 } });
  });

  it('gives each event after as much time as the log has before it, in whatever pauses and at whatever pace', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      let state = seed;
      const random = () => {
        state = (state * 48_271) % 2_147_483_647;
        return state / 2_147_483_647;
      };
      const seconds = [0];
      while (seconds.length < 12) seconds.push((seconds.at(-1) ?? 0) + Math.floor(random() * 9));
      const factor = [0.5, 1, 2, 4][Math.floor(random() * 4)] ?? 1;
      const { replay, words, done, pass } = play(await recorded(seconds), { pace: factor });
      /** Seconds of the replay that were not paused, at each second of the clock. */
      const played = [0];
      while (words.length < seconds.length) {
        if (random() < 0.3) replay[replay.isPaused ? 'resume' : 'pause']();
        const before = played.at(-1) ?? 0;
        played.push(before + (replay.isPaused ? 0 : 1));
        await pass(1);
      }
      replay.resume();
      await done;
      for (const [index, word] of words.entries()) {
        const came = Number(word.slice(0, word.indexOf(':')));
        const whole = Math.floor(came);
        const step = (played[whole + 1] ?? 0) - (played[whole] ?? 0);
        const inReplay = (played[whole] ?? 0) + (came - whole) * step;
        expect(inReplay, `seed ${seed}, event ${index}`).toBe((seconds[index] ?? 0) / factor);
      }
    }
  });

  it('that is not paused skips the gap at a step, and continues from there', async () => {
    const { replay, words, done, pass } = play(await recorded([0, 100, 101]), { pace: 'original' });
    await pass(1);
    replay.step();
    await pass(1);
    await done;
    expect(words).toEqual(['0: 0:0s', '1: 1:100s', '2: 2:101s']);
  });

  it('ends when its signal aborts, before it began, in a silence and in a pause, and frees its timer', async () => {
    const log = await recorded([0, 100]);
    const early = play(log, { signal: AbortSignal.abort() });
    await early.done;
    expect(early.words).toEqual([]);
    for (const paused of [false, true]) {
      const stop = new AbortController();
      const { words, done, clock } = play(log, { pace: 'original', paused, signal: stop.signal });
      await turn();
      stop.abort();
      await done;
      expect(words).toHaveLength(paused ? 0 : 1);
      expect(clock.timers).toBe(0);
    }
  });

  it('can be left in a silence, and played anew', async () => {
    const { replay, done, pass, clock, words } = play(await recorded([0, 100]), { pace: 'original' });
    await pass(100);
    await done;
    const items = replay[Symbol.asyncIterator]();
    expect(await items.next()).toMatchObject({ value: { position: 0 } });
    const waiting = items.next();
    await turn();
    await items.return?.();
    expect(await waiting).toMatchObject({ done: true });
    expect(clock.timers).toBe(0);
    expect(words).toHaveLength(2);
  });

  it('holds a page at most, whatever the length of the log', async () => {
    const limits: (number | undefined)[] = [];
    const provider = changedStore((store) => ({
      readEvents(task, id, options) {
        limits.push(options?.limit);
        return store.readEvents(task, id, options);
      },
    }));
    const log = await recorded([0, 1, 2, 3, 4], openDispatchStore(provider));
    const { words, done } = gather(replayDispatch(log, { pageSize: 2 }).withDeltas());
    await done;
    expect(words).toHaveLength(5);
    expect(limits).toEqual([2, 2, 2, 2]);
  });

  it('is never shorter than the log without saying so', async () => {
    const store = openDispatchStore(createMemoryStore());
    const items = replayDispatch(await recorded([0, 1], store), { pageSize: 1 })[Symbol.asyncIterator]();
    await items.next();
    await store.close();
    await expect(items.next()).rejects.toMatchObject({ code: 'STORE_CLOSED' });
  });

  it('refuses numbers that make no sense', async () => {
    const log = await recorded([]);
    const wrong = (options: ReplayOptions) => () => replayDispatch(log, options);
    expect(wrong({ after: -2 })).toThrow(expect.objectContaining({ code: 'STORE_INVALID_CURSOR' }));
    for (const pace of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(wrong({ pace })).toThrow(/factor above 0/);
    expect(wrong({ maxGapMs: -1 })).toThrow(/maxGapMs/);
    expect(wrong({ maxGapMs: Number.NaN })).toThrow(/maxGapMs/);
    expect(wrong({ pageSize: 0 })).toThrow(TypeError);
  });
});

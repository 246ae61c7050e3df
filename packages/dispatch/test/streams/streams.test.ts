import { openDispatchStore, startDispatch } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { AgentProvider, DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvent, createDispatch, ManualClock, updateDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { LiveFeed } from '../../src/streams/live-feed.ts';
import { streamDispatch } from '../../src/streams/stream-dispatch.ts';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, delta, says, stopped, yields } from '../support/scripted-agent.ts';
import { gather, inWords } from '../support/stream-words.ts';

const taskDir = 'lab/tasks/route-models';
const dispatchId = 'D1';

function prepare(provider: DispatchStoreProvider = createMemoryStore()) {
  const clock = new ManualClock();
  const store = openDispatchStore(provider, { clock });
  const start = (agent: AgentProvider) =>
    startDispatch({ store, taskDir, clock, role: 'worker', dispatchId, agent });
  const say = (text: string) => appendEvent(store, taskDir, dispatchId, newEvent('agent:text', { text }));
  return { clock, store, start, say };
}

async function open(provider?: DispatchStoreProvider) {
  const prepared = prepare(provider);
  await createDispatch(prepared.store, taskDir, { role: 'worker', dispatchId });
  const end = () => updateDispatch(prepared.store, taskDir, dispatchId, { status: 'completed' });
  const log = await prepared.store.openDispatch(taskDir, dispatchId);
  return { ...prepared, end, log };
}

describe('stream() of a run', () => {
  it('yields events as they are appended', async () => {
    const gates = [new Gate(), new Gate()];
    const { start } = prepare();
    const run = await start(
      agent(async function* () {
        for (const [index, gate] of gates.entries()) {
          yield says(`line ${index}`);
          await gate.opened;
        }
      }),
    );
    const { words, done } = gather(run.stream());
    await turn();
    expect(words).toEqual(['0:line 0']);
    gates[0]?.open();
    await turn();
    expect(words).toEqual(['0:line 0', '1:line 1']);
    gates[1]?.open();
    await done;
    expect(words).toEqual(['0:line 0', '1:line 1']);
    expect((await run.ended).status).toBe('completed');
  });

  it('ends when the dispatch ends, with its last event, and without waiting for the clock', async () => {
    const { start, clock } = prepare();
    const run = await start(
      agent(async function* (request) {
        yield says('begun');
        await stopped(request);
      }),
    );
    const streams = [gather(run.stream()), gather(run.stream().withDeltas())];
    await turn();
    run.abort('enough');
    for (const { words, done } of streams) {
      await done;
      expect(words).toEqual(['0:begun', '1:harness:abort']);
    }
    await run.ended;
    expect(clock.timers).toBe(0);
  });

  it('of a run that is over gives all of it and ends', async () => {
    const { start } = prepare();
    const run = await start(yields(says('a'), delta('never kept'), says('b')));
    await run.ended;
    const { words, done } = gather(run.stream().withDeltas());
    await done;
    expect(words).toEqual(['0:a', '1:b']);
  });

  it('gives deltas only to readers that take them, each ahead of the events recorded after it', async () => {
    const gate = new Gate();
    const { start, store } = prepare();
    const run = await start(
      agent(async function* () {
        await gate.opened;
        yield delta('He');
        yield delta('llo');
        yield says('Hello');
        yield delta('Bye');
        yield says('Bye');
      }),
    );
    const stream = run.stream();
    const both = gather(stream.withDeltas());
    const onlyEvents = gather(stream);
    await turn();
    gate.open();
    await Promise.all([both.done, onlyEvents.done]);
    expect(both.words.indexOf('~llo')).toBeLessThan(both.words.indexOf('0:Hello'));
    expect(both.words.indexOf('~Bye')).toBeLessThan(both.words.indexOf('1:Bye'));
    expect(both.words.filter((word) => word.startsWith('~'))).toEqual(['~He', '~llo', '~Bye']);
    expect(onlyEvents.words).toEqual(['0:Hello', '1:Bye']);
    const stored = JSON.stringify(await store.getDispatchEvents(taskDir, dispatchId));
    expect(stored).not.toContain('delta');
  });

  it('rejects with the error of a store that fails, at once', async () => {
    const gate = new Gate();
    const full = new Error('the disk is full');
    const { start } = prepare(
      changedStore((store) => ({
        appendEvent(task, id, event) {
          if (event.data.text === 'lost') throw full;
          return store.appendEvent(task, id, event);
        },
      })),
    );
    const run = await start(
      agent(async function* () {
        yield says('kept');
        await gate.opened;
        yield says('lost');
      }),
    );
    const streams = [gather(run.stream()), gather(run.stream().withDeltas())];
    await turn();
    gate.open();
    for (const { words, done } of streams) {
      await expect(done).rejects.toBe(full);
      expect(words).toEqual(['0:kept']);
    }
    await expect(run.ended).rejects.toBe(full);
  });

  it('gives an interrupted taker nothing and throws nothing, whatever became of the run', async () => {
    const { start } = prepare();
    const run = await start(yields(says('a')));
    await run.ended;
    const { words, done } = gather(run.stream({ signal: AbortSignal.abort() }).withDeltas());
    await done;
    expect(words).toEqual([]);
  });
});

describe('stream() of a stored dispatch', () => {
  it('begins after its cursor and continues live, each iteration again', async () => {
    const { log, say, end } = await open();
    for (const text of ['a', 'b', 'c']) await say(text);
    const stream = log.stream({ after: 0 });
    const first = gather(stream);
    const second = gather(stream);
    await turn();
    await say('d');
    await end();
    await Promise.all([first.done, second.done]);
    expect(first.words).toEqual(['1:b', '2:c', '3:d']);
    expect(second.words).toEqual(first.words);
  });

  it('ends when another process ends the dispatch', async () => {
    const provider = createMemoryStore();
    const { log } = await open(provider);
    const { words, done } = gather(log.stream());
    await turn();
    const other = openDispatchStore(provider);
    await appendEvent(other, taskDir, dispatchId, newEvent('agent:text', { text: 'from afar' }));
    await updateDispatch(other, taskDir, dispatchId, { status: 'completed' });
    await done;
    expect(words).toEqual(['0:from afar']);
  });

  it('ends at once where the store cannot watch, without a look at the clock', async () => {
    const capabilities = { ...createMemoryStore().capabilities, watch: false };
    const { log, say, end } = await open(changedStore(() => ({ capabilities })));
    const { words, done } = gather(log.stream());
    await turn();
    await say('a');
    await turn();
    await end();
    await done;
    expect(words).toEqual(['0:a']);
  });

  it('misses no event that was appended while it learnt of the end', async () => {
    const gate = new Gate();
    const asked = new Gate();
    let isStreaming = false;
    const provider = changedStore((store) => ({
      async getDispatchEnvelope(task, id) {
        if (isStreaming) {
          asked.open();
          await gate.opened;
        }
        return store.getDispatchEnvelope(task, id);
      },
    }));
    const { log } = await open(provider);
    isStreaming = true;
    const { words, done } = gather(log.stream());
    await asked.opened;
    await provider.claimDispatch(taskDir, dispatchId);
    await provider.appendEvent(taskDir, dispatchId, {
      ...newEvent('agent:text', { text: 'last words' }),
      id: 'last',
      timestamp: '2026-03-01T09:00:00.000Z',
    });
    await provider.updateDispatch(taskDir, dispatchId, { status: 'completed' });
    gate.open();
    await done;
    expect(words).toEqual(['0:last words']);
  });

  it('gives a reader the deltas of a writer that claims the dispatch after the stream began', async () => {
    const { store, log } = await open();
    const { words, done } = gather(log.stream().withDeltas());
    await turn();
    const first = await store.openDispatch(log, { write: true });
    first.publish({ type: 'delta:text', text: 'one' });
    await turn();
    await first.release();
    const second = await store.openDispatch(log, { write: true });
    second.publish({ type: 'delta:text', text: 'two' });
    await turn();
    await second.end({ status: 'completed' });
    await done;
    expect(words).toEqual(['~one', '~two']);
  });

  it('ends with the error of its writer, whose successor has new streams', async () => {
    const { store, log } = await open();
    const { done } = gather(log.stream());
    const failing = await store.openDispatch(log, { write: true });
    const failed = expect(done).rejects.toThrow('disk full');
    failing.fail(new Error('disk full'));
    failing.abandon();
    await failed;
    const next = await store.openDispatch(log, { write: true });
    const { words, done: ended } = gather(log.stream());
    await next.append(newEvent('agent:text', { text: 'again' }));
    await next.end({ status: 'completed' });
    await ended;
    expect(words).toEqual(['0:again']);
  });

  it('takes deltas from the feed of the writer', async () => {
    const { log, end } = await open();
    const feed = new LiveFeed();
    const { words, done } = gather(streamDispatch(log, () => ({ feed, close() {} })).withDeltas());
    feed.publish({ type: 'delta:text', text: 'Hm' });
    await turn();
    await end();
    await done;
    expect(words).toEqual(['~Hm']);
  });

  it('leaves out and counts deltas that a slow taker has no room for, and never an event', async () => {
    const { log, say, end } = await open();
    const feed = new LiveFeed();
    const stream = streamDispatch(log, () => ({ feed, close() {} }), { deltaLimit: 3, pageSize: 2 });
    const items = stream.withDeltas()[Symbol.asyncIterator]();
    for (let count = 0; count < 10; count += 1) {
      feed.publish({ type: 'delta:text', text: `${count}` });
      await say(`event ${count}`);
    }
    await end();
    const words: string[] = [];
    for (let item = await items.next(); item.done !== true; item = await items.next())
      words.push(inWords(item.value));
    expect(words.slice(0, 2)).toEqual(['9 dropped', '~9']);
    expect(words.slice(2)).toEqual(Array.from({ length: 10 }, (_, index) => `${index}:event ${index}`));
  });

  it('frees what it holds at its end, and when it is left, begun or not, in the loop or while it waits', async () => {
    let watching = 0;
    const provider = changedStore((store) => ({
      async watch(scope, onChange) {
        const stop = await store.watch?.(scope, onChange);
        watching += 1;
        return () => {
          watching -= 1;
          stop?.();
        };
      },
    }));
    const { log, say, end } = await open(provider);
    await say('a');
    const feed = new LiveFeed();
    let subscriptions = 0;
    const subscribe = feed.subscribe.bind(feed);
    feed.subscribe = (limit, onDelta) => {
      const { take, close } = subscribe(limit, onDelta);
      let isClosed = false;
      subscriptions += 1;
      return {
        take,
        close() {
          if (!isClosed) subscriptions -= 1;
          isClosed = true;
          close();
        },
      };
    };
    const stream = streamDispatch(log, () => ({ feed, close() {} }));
    for await (const _ of stream.withDeltas()) {
      expect([watching, subscriptions]).toEqual([1, 1]);
      break;
    }
    expect([watching, subscriptions]).toEqual([0, 0]);

    const neverBegun = stream.withDeltas()[Symbol.asyncIterator]();
    await neverBegun.return?.();
    const items = stream.withDeltas()[Symbol.asyncIterator]();
    await items.next();
    const waiting = items.next();
    await turn();
    await items.return?.();
    expect(await waiting).toMatchObject({ done: true });
    expect([watching, subscriptions]).toEqual([0, 0]);

    await end();
    await gather(stream.withDeltas()).done;
    expect([watching, subscriptions]).toEqual([0, 0]);
  });

  it('ends when the store closes, and rejects for an unknown dispatch and invalid limits', async () => {
    const { store, log } = await open();
    const { done } = gather(log.stream().withDeltas());
    const gone = await createDispatch(store, taskDir, { role: 'worker' });
    const stream = (await store.openDispatch(taskDir, gone.dispatchId)).stream();
    await store.deleteDispatch({ ...gone, taskDir });
    await expect(gather(stream.withDeltas()).done).rejects.toMatchObject({
      code: 'STORE_DISPATCH_NOT_FOUND',
    });
    await store.close();
    await done;
    const wrong = (options: object) => () => log.stream(options);
    expect(wrong({ after: -2 })).toThrow(expect.objectContaining({ code: 'STORE_INVALID_CURSOR' }));
    expect(wrong({ pageSize: 0 })).toThrow(TypeError);
    expect(wrong({ deltaLimit: 0 })).toThrow(TypeError);
  });
});

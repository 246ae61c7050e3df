import { type Dispatch, type DispatchLog, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import type { ReadDispatchOptions } from '../../src/store/dispatch-log.ts';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { turn } from '../support/gate.ts';

const task = 'lab/tasks/route-models';

const say = (text: string): NewEvent => newEvent('agent:text', { text });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => say(`${index}`));

/** A dispatch with these events, as a reader of it has it while it is written. */
async function logOf(events: readonly NewEvent[], provider = createMemoryStore()) {
  const store = openDispatchStore(provider);
  const dispatch = await store.beginDispatch(task, { role: 'worker' });
  await dispatch.append(events);
  return { store, dispatch, log: await store.openDispatch(task, dispatch.dispatchId) };
}

/** What `events` gives, in words: `0:text`. */
async function wordsOf(log: DispatchLog, options?: ReadDispatchOptions): Promise<string[]> {
  const words: string[] = [];
  for await (const { position, event } of log.events(options))
    words.push(`${position}:${event.data.text ?? event.type}`);
  return words;
}

describe('the events of a dispatch', () => {
  it('come in order with their positions, after a cursor where one is given, whatever the page', async () => {
    const { log } = await logOf(['a', 'b', 'c', 'd', 'e'].map(say));
    const all = ['0:a', '1:b', '2:c', '3:d', '4:e'];
    expect(await wordsOf(log)).toEqual(all);
    for (const limit of [1, 2, 5, 100]) {
      for (let after = -1; after < 5; after += 1)
        expect(await wordsOf(log, { after, limit })).toEqual(all.slice(after + 1));
    }
  });

  it('are only those of the types that are wanted, at the positions that they have among all', async () => {
    const { log } = await logOf([
      say('a'),
      newEvent('harness:error', { message: 'no' }),
      say('b'),
      newEvent('agent:output', { parts: [] }),
      { type: 'game:turn', data: {} },
    ]);
    expect(await wordsOf(log, { types: ['agent:text'] })).toEqual(['0:a', '2:b']);
    expect(await wordsOf(log, { types: ['agent:*'] })).toEqual(['0:a', '2:b', '3:agent:output']);
    expect(await wordsOf(log, { types: ['game:turn', 'harness:*'], after: 0, limit: 1 })).toEqual([
      '1:harness:error',
      '4:game:turn',
    ]);
    expect(await wordsOf(log, { types: [] })).toEqual([]);
  });

  it('are read page by page as they are asked for, and no further where the reader leaves', async () => {
    const limits: (number | undefined)[] = [];
    const provider = changedStore((store) => ({
      readEvents(taskDir, dispatchId, options) {
        limits.push(options?.limit);
        return store.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    await dispatch.append(numbered(10));
    for await (const { position } of dispatch.events({ limit: 2 })) if (position === 3) break;
    expect(limits).toEqual([2, 2]);
  });

  it('can be read as whole pages, none of them empty', async () => {
    const { log, store, dispatch } = await logOf(numbered(5));
    const stored = await store.getDispatchEvents(task, dispatch.dispatchId);
    const pages = [];
    for await (const page of log.pages({ after: 0, limit: 3 })) pages.push(page);
    expect(pages).toEqual([
      { events: stored.slice(1, 4), first: 1, next: 3 },
      { events: stored.slice(4), first: 4, next: 4 },
    ]);
    for await (const page of log.pages({ after: 4 })) throw new Error(`a page from ${page.first}`);
  });

  it('include what is appended while they are read', async () => {
    const { log, dispatch } = await logOf([say('a')]);
    const words: string[] = [];
    for await (const { position, event } of log.events({ limit: 1 })) {
      words.push(`${position}:${event.data.text}`);
      if (position < 3) await dispatch.append(say(`after ${position}`));
    }
    expect(words).toEqual(['0:a', '1:after 0', '2:after 1', '3:after 2']);
  });

  it('are copies, which the reader may change', async () => {
    const { log } = await logOf([say('a')]);
    for await (const { event } of log.events()) (event.data as { text: string }).text = 'changed';
    expect(await wordsOf(log)).toEqual(['0:a']);
  });

  it('are the same to the object that writes them and after it was released', async () => {
    const { log, dispatch } = await logOf(numbered(3));
    expect(await wordsOf(dispatch)).toEqual(await wordsOf(log));
    await dispatch.release();
    expect(await wordsOf(dispatch, { after: 1 })).toEqual(['2:2']);
    expect(await dispatch.last(1)).toEqual(await log.last(1));
  });
});

describe('the last events of a dispatch', () => {
  it('are a page with their positions, shorter where there are fewer', async () => {
    const { log, store, dispatch } = await logOf(numbered(5));
    const stored = await store.getDispatchEvents(task, dispatch.dispatchId);
    expect(await log.last(2)).toEqual({ events: stored.slice(3), first: 3, next: 4 });
    expect(await log.last(50)).toEqual({ events: stored, first: 0, next: 4 });
    expect(await log.last(0)).toEqual({ events: [], first: 5, next: 4 });
  });

  it('are one read of the store, as is the number of events', async () => {
    const reads: unknown[] = [];
    const provider = changedStore((store) => ({
      readEvents(taskDir, dispatchId, options) {
        reads.push(options);
        return store.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    await dispatch.append(numbered(3_000));
    expect(await dispatch.count()).toBe(3_000);
    expect((await dispatch.last(2)).first).toBe(2_998);
    expect(reads).toEqual([{ last: 0 }, { last: 2 }]);
  });
});

describe('the number of events of a dispatch', () => {
  it.each([0, 1, 2, 3, 7, 8, 9, 1_000])('is %d where that is the number of events', async (count) => {
    const { log } = await logOf(numbered(count));
    expect(await log.count()).toBe(count);
  });

  it('is refused for a dispatch that was deleted', async () => {
    const { log, store, dispatch } = await logOf([]);
    await dispatch.release();
    await store.deleteDispatch(dispatch);
    expect(await codeOf(log.count())).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(await codeOf(log.last(1))).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(await codeOf(log.refresh())).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(await codeOf(wordsOf(log))).toBe('STORE_DISPATCH_NOT_FOUND');
  });
});

describe('a reader of a dispatch', () => {
  it('has the envelope as it was read last; the writer has the present one', async () => {
    const { log, dispatch } = await logOf([]);
    expect(log).toMatchObject({ taskDir: task, dispatchId: dispatch.dispatchId });
    await dispatch.update({ model: 'm' });
    expect(dispatch.envelope.model).toBe('m');
    expect(await dispatch.refresh()).toEqual(dispatch.envelope);
    expect(log.envelope.model).toBeNull();
    expect(await log.refresh()).toMatchObject({ model: 'm' });
    expect(log.envelope.model).toBe('m');
  });

  it('reports a wrong number and a wrong cursor', async () => {
    const { log } = await logOf(numbered(2));
    await expect(log.last(-1)).rejects.toThrow(TypeError);
    await expect(log.last(1.5)).rejects.toThrow(TypeError);
    await expect(wordsOf(log, { limit: 0 })).rejects.toThrow(TypeError);
    expect(await codeOf(wordsOf(log, { after: -2 }))).toBe('STORE_INVALID_CURSOR');
    expect(await codeOf(wordsOf(log, { after: 2 }))).toBe('STORE_INVALID_CURSOR');
    expect(() => log.follow({ after: -2 })).toThrow(
      expect.objectContaining({ code: 'STORE_INVALID_CURSOR' }),
    );
    expect(() => log.follow({ pageSize: 0 })).toThrow(TypeError);
  });

  it('follows what the writer appends from then on, after a marker', async () => {
    const { log, dispatch } = await logOf([say('a')]);
    const stop = new AbortController();
    const words: string[] = [];
    const done = (async () => {
      for await (const item of log.follow({ signal: stop.signal }))
        words.push(item.kind === 'event' ? `${item.position}:${item.event.data.text}` : 'caught up');
    })();
    await turn();
    await dispatch.append(say('b'));
    await dispatch.append([say('c'), say('d')]);
    await turn();
    expect(words).toEqual(['0:a', 'caught up', '1:b', '2:c', '3:d']);
    stop.abort();
    await done;
  });

  it('cannot write', async () => {
    const { log } = await logOf([]);
    expect((log as Partial<Dispatch>).append).toBeUndefined();
    expect(Symbol.asyncDispose in log).toBe(false);
  });
});

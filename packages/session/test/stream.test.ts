import { replayDispatch, type StreamItem } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { dispatchId, prepare, taskDir } from './prepare.ts';
import { model, says } from './scripted.ts';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) taken.push(item);
  return taken;
}

const speaking = model(({ onDelta }) => {
  onDelta?.({ type: 'delta:text', text: 'Hel' });
  onDelta?.({ type: 'delta:text', text: 'lo' });
  return says('Hello');
});

describe('stream() of a session', () => {
  it('yields events as they are appended, with deltas ahead of their message, until the session ends', async () => {
    const { create, store, events } = prepare();
    const { root, session } = await create({ model: speaking });
    const both = all(session.stream().withDeltas());
    const onlyEvents = all(session.stream());
    await root.harken('Speak.');
    await root.response();
    await root.observe([new Map([[1n, new Date(0)]])]);
    await session.close();

    const items: StreamItem[] = await both;
    const deltas = items.flatMap((item) => (item.kind === 'delta' ? [item.delta] : []));
    expect(deltas.map(({ text }) => text).join('')).toBe('Hello');
    const said = items.findIndex((item) => item.kind === 'event' && item.event.type === 'agent:text');
    expect(items.findLastIndex(({ kind }) => kind === 'delta')).toBeLessThan(said);
    expect(items[said]).toMatchObject({ event: { messageId: deltas[0]?.messageId } });

    const log = await events();
    expect(log.at(-1)?.type).toBe('session:complete');
    expect(await onlyEvents).toEqual(log.map((event, position) => ({ kind: 'event', position, event })));
    expect(await all(replayDispatch(await store.openDispatch(taskDir, dispatchId)))).toEqual(
      await onlyEvents,
    );
  });

  it('begins after its cursor, even after the session was loaded again', async () => {
    const { create, load, events } = prepare();
    const first = await create();
    await first.root.harken('One.');
    await first.session.close();
    const after = (await events()).length - 1;
    const { session, root } = await load();
    const items = all(session.stream({ after }));
    await root.harken('Two.');
    await session.close();
    expect((await items).map(({ event }) => event.data.text ?? event.type)).toEqual([
      'Two.',
      'session:complete',
    ]);
  });

  it('rejects with the error of a write that fails', async () => {
    const provider = createMemoryStore();
    const { create } = prepare(provider);
    const error = new Error('The disk is full.');
    const { root, session } = await create();
    const streams = [all(session.stream()), all(session.stream().withDeltas())];
    const outcomes = Promise.allSettled(streams);
    await root.harken('Kept.');
    provider.appendEvents = () => {
      throw error;
    };
    await expect(root.harken('Lost.')).rejects.toBe(error);
    expect(await outcomes).toEqual(streams.map(() => ({ status: 'rejected', reason: error })));
  });

  it('rejects with the error of an end that could not be written', async () => {
    const provider = createMemoryStore();
    const { create } = prepare(provider);
    const error = new Error('The disk is full.');
    provider.updateDispatch = () => {
      throw error;
    };
    const { session } = await create();
    const outcome = Promise.allSettled([all(session.stream())]);
    await expect(session.close()).rejects.toBe(error);
    expect(await outcome).toEqual([{ status: 'rejected', reason: error }]);
  });
});

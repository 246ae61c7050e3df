import { createCommunicationHub, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { Gate, turn } from '../support/gate.ts';
import { begin, say, task } from '../support/route-models.ts';
import { gather } from '../support/stream-words.ts';

describe('the publications of a dispatch', () => {
  it('are its start, each event as it was recorded, deltas and its end, each once', async () => {
    const published: string[] = [];
    const communication = createCommunicationHub([
      {
        contract: 1,
        dispatchStarted: ({ agents, envelope }) =>
          void published.push(`start ${envelope.status} ${agents?.map(({ name }) => name).join()}`),
        eventRecorded: ({ event }) => void published.push(`event ${event.data.text}`),
        deltaReceived: ({ delta }) => void published.push(`delta ${delta.text}`),
        dispatchEnded: ({ envelope }) => void published.push(`end ${envelope.status}`),
      },
    ]);
    await communication.start();
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await store.beginDispatch(task, { role: 'worker' }, { communication });
    dispatch.announce([
      { agentId: 'agent_002', name: 'Jill', languageModel: null, parentAgentId: null, state: 'active' },
    ]);
    await dispatch.append(say('a'));
    dispatch.publish({ type: 'delta:text', text: 'h' });
    await dispatch.append(dispatch.check([say('b'), say('c')]));
    const lost = dispatch.append({ type: 'agent:text', data: {} } as NewEvent);
    expect(await codeOf(lost)).toBe('EVENT_INVALID');
    await dispatch.end({ status: 'completed' });
    await communication.close();
    expect(published).toEqual([
      'start running Jill',
      'event a',
      'delta h',
      'event b',
      'event c',
      'end completed',
    ]);
  });

  it('exclude events that are not durable yet, and events that the store refused', async () => {
    const gate = new Gate();
    const published: unknown[] = [];
    const communication = createCommunicationHub([
      { contract: 1, eventRecorded: ({ event }) => void published.push(event.data.text) },
    ]);
    await communication.start();
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        await gate.opened;
        if (event.data.text === 'lost') throw new Error('disk full');
        return store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await store.beginDispatch(task, { role: 'worker' }, { communication });
    const writes = ['lost', 'kept'].map((text) => dispatch.append(say(text)));
    await turn();
    expect(published).toEqual([]);
    gate.open();
    await Promise.allSettled(writes);
    await communication.close();
    expect(published).toEqual(['kept']);
  });

  it('reaches a reader of the same process as a stream, deltas included', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const log = await store.openDispatch(task, dispatch.dispatchId);
    const readers = [gather(log.stream().withDeltas()), gather(dispatch.stream().withDeltas())];
    const onlyEvents = gather(log.stream());
    await turn();
    dispatch.publish({ type: 'delta:text', text: 'He' });
    await turn();
    await dispatch.append(say('Hello'));
    await dispatch.end({ status: 'completed' });
    for (const { words, done } of readers) {
      await done;
      expect(words).toEqual(['~He', '0:Hello']);
    }
    await onlyEvents.done;
    expect(onlyEvents.words).toEqual(['0:Hello']);
  });

  it('ends with the error of a recording that failed, for streams of before and after', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const log = await store.openDispatch(task, dispatch.dispatchId);
    const full = new Error('disk full');
    const before = [gather(log.stream()), gather(dispatch.stream().withDeltas())];
    await turn();
    dispatch.fail(full);
    dispatch.abandon();
    for (const { done } of before) await expect(done).rejects.toBe(full);
    await expect(gather(dispatch.stream()).done).rejects.toBe(full);
  });
});

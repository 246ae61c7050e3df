import { type DispatchEntry, type ListedDispatch, openDispatchStore } from '@hansard/dispatch';
import { storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { readRows, renderSessionView } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { begin, say, task } from '../support/route-models.ts';

const damaged = storeErrors.error('STORE_CORRUPT', 'The file d2.jsonl is damaged at byte 40.');

/** A store with a dispatch, one that cannot be read, and a task that cannot be listed. Names the calls that it gets. */
function storeWithDamage() {
  const calls: PropertyKey[] = [];
  const provider = changedStore((store) => ({
    async listDispatches(options) {
      const { dispatches } = await store.listDispatches(options);
      const unread = { envelope: null, lastActiveAt: null, error: damaged };
      const others = [
        { taskDir: task, dispatchId: 'd2', ...unread },
        { taskDir: 'lab/tasks/broken', dispatchId: null, ...unread },
      ];
      return { dispatches: [...dispatches, ...others], next: null };
    },
  }));
  const watched = new Proxy(provider, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        calls.push(key);
        return member.apply(target, args);
      };
    },
  });
  return { store: openDispatchStore(watched), calls };
}

async function listed(entries: AsyncIterable<DispatchEntry>): Promise<DispatchEntry[]> {
  const found: DispatchEntry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

function readable(entry: DispatchEntry | undefined): ListedDispatch {
  if (entry === undefined || 'error' in entry) throw new Error('an entry that can be read was expected');
  return entry;
}

describe('a listing', () => {
  it('has entries whose logs are read directly, after one check for those that cannot be read', async () => {
    const { store } = storeWithDamage();
    const dispatch = await begin(store);
    await dispatch.append([say('one'), say('two')]);
    const words: string[] = [];
    for await (const session of store.dispatches()) {
      if ('error' in session) words.push(`${session.taskDir} ${session.dispatchId}: ${session.error.code}`);
      else for await (const row of readRows(session.log)) words.push(JSON.stringify(row.content));
    }
    expect(words).toEqual([
      expect.stringContaining('one'),
      expect.stringContaining('two'),
      `${task} d2: STORE_CORRUPT`,
      'lab/tasks/broken undefined: STORE_CORRUPT',
    ]);
  });

  it('has entries that are references, wherever a dispatch is named', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const { dispatchId } = dispatch;
    const [one, two] = await dispatch.append([say('one'), say('two')]);
    await dispatch.end({ status: 'completed' });
    const { dispatches } = await store.listDispatches({ taskDir: task });
    const entry = readable(dispatches[0]);
    expect({ ...entry }).toMatchObject({ taskDir: task, dispatchId, lastActiveAt: two?.timestamp });
    expect(await store.getDispatchEnvelope(entry)).toEqual(entry.envelope);
    expect(await store.getDispatchEvents(entry)).toEqual([one, two]);
    expect(await store.getRecentEvents(entry, 1)).toEqual([two]);
    expect(await renderSessionView(store, entry)).toBe(await renderSessionView(store, task, dispatchId));
    expect((await store.openDispatch(entry)).envelope).toEqual(entry.envelope);
    expect(JSON.parse(JSON.stringify(entry))).toEqual({ ...entry });
  });

  it('opens nothing: a log is read when it is iterated, and not before', async () => {
    const { store, calls } = storeWithDamage();
    await (await begin(store)).append(say('one'));
    calls.length = 0;
    const entries = await listed(store.dispatches());
    const { log } = readable(entries[0]);
    const rows = readRows(log);
    expect([log.envelope.role, log.taskDir]).toEqual(['worker', task]);
    expect(calls).toEqual(['listDispatches']);
    await rows.next();
    expect(new Set(calls)).toEqual(new Set(['listDispatches', 'readEvents']));
    expect(readable(entries[0]).log).toBe(log);
  });

  it('reports the dispatches whose logs are used, and no others', async () => {
    const read: string[] = [];
    const store = openDispatchStore(createMemoryStore(), {
      onRead: ({ dispatchId }) => void read.push(dispatchId),
    });
    const one = await begin(store);
    await begin(store);
    const entries = await listed(store.dispatches());
    expect(read).toEqual([]);
    const used = readable(entries.find(({ dispatchId }) => dispatchId === one.dispatchId));
    expect([used.log, used.log]).toEqual([used.log, used.log]);
    expect(read).toEqual([one.dispatchId]);
  });

  it('has logs that fail after a deletion and after the store was closed', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    await dispatch.append(say('one'));
    await dispatch.end({ status: 'completed' });
    const entry = readable((await listed(store.dispatches()))[0]);
    await store.deleteDispatch(entry);
    expect(await codeOf(readRows(entry.log).next())).toBe('STORE_DISPATCH_NOT_FOUND');
    await store.close();
    expect(await codeOf(readRows(entry.log).next())).toBe('STORE_CLOSED');
    expect(await codeOf(entry.log.refresh())).toBe('STORE_CLOSED');
  });

  it('names a store that gives neither an envelope nor an error', async () => {
    const provider = changedStore(() => ({
      listDispatches: () => ({
        dispatches: [{ taskDir: task, dispatchId: 'd1', envelope: null, lastActiveAt: null }],
        next: null,
      }),
    }));
    const [entry] = await listed(openDispatchStore(provider).dispatches());
    expect(entry).toMatchObject({ dispatchId: 'd1', error: { code: 'STORE_CORRUPT' } });
  });
});

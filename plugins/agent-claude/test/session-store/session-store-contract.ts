import {
  foldSessionSummary,
  type SessionKey,
  type SessionStore,
  type SessionStoreEntry,
} from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';

export interface ContractOptions {
  /** Whether the store counts an entry whose uuid it has only once: the SDK says that adapters should. */
  readonly countsUuidsOnce: boolean;
}

const main: SessionKey = { projectKey: 'project', sessionId: 'session' };
const subAgent: SessionKey = { ...main, subpath: 'subagents/agent-1' };
const otherSubAgent: SessionKey = { ...main, subpath: 'subagents/agent-2' };

/**
 * What the Claude Agent SDK documents of every `SessionStore`: in `sdk.d.ts` 0.3.330, and as the behavioural contracts
 * of the conformance suite of its example adapters. `makeStore` gives a new, empty store each time.
 */
export function sessionStoreContract(
  name: string,
  makeStore: MakeStore,
  { countsUuidsOnce }: ContractOptions,
): void {
  describe(`a session store: ${name}`, () => {
    keepsWhatIsAppended(makeStore);
    keepsEntriesApart(makeStore, countsUuidsOnce);
    listsSessions(makeStore);
    deletesSessions(makeStore);
  });
}

type MakeStore = () => Promise<Required<SessionStore>>;

function keepsWhatIsAppended(makeStore: MakeStore): void {
  it('gives back what was appended, in that order, deeply equal', async () => {
    const store = await makeStore();
    const entries = [entry({ uuid: 'b', n: 1 }), entry({ uuid: 'a', n: 2 }), awkwardEntry()];
    await store.append(main, structuredClone(entries));
    expect(await store.load(main)).toEqual(entries);
  });

  it('gives null for a session, and for a part of one, that was never written', async () => {
    const store = await makeStore();
    expect(await store.load(main)).toBeNull();
    await store.append(main, [entry({ uuid: 'x' })]);
    expect(await store.load({ ...main, sessionId: 'another' })).toBeNull();
    expect(await store.load({ ...main, subpath: 'subagents/agent-none' })).toBeNull();
  });

  it('keeps the order of the calls', async () => {
    const store = await makeStore();
    await store.append(main, [entry({ uuid: 'z', n: 1 })]);
    await store.append(main, [entry({ uuid: 'a', n: 2 }), entry({ uuid: 'm', n: 3 })]);
    await store.append(main, [entry({ uuid: 'b', n: 4 })]);
    expect(numbers(await store.load(main))).toEqual([1, 2, 3, 4]);
  });

  it('keeps the order of calls that nobody waits for', async () => {
    const store = await makeStore();
    const order = Array.from({ length: 20 }, (_, n) => n);
    await Promise.all(order.map((n) => store.append(main, [entry({ uuid: `uuid-${n}`, n })])));
    expect(numbers(await store.load(main))).toEqual(order);
  });

  it('takes an empty batch as nothing', async () => {
    const store = await makeStore();
    await store.append(main, [entry({ uuid: 'a' })]);
    await store.append(main, []);
    expect(await store.load(main)).toEqual([entry({ uuid: 'a' })]);
  });
}

function keepsEntriesApart(makeStore: MakeStore, countsUuidsOnce: boolean): void {
  it('keeps the parts of a session apart from the session', async () => {
    const store = await makeStore();
    await store.append(main, [entry({ uuid: 'u', of: 'main' })]);
    await store.append(subAgent, [entry({ uuid: 'u', of: 'agent-1' })]);
    expect(await store.load(main)).toEqual([entry({ uuid: 'u', of: 'main' })]);
    expect(await store.load(subAgent)).toEqual([entry({ uuid: 'u', of: 'agent-1' })]);
  });

  it('keeps sessions and projects apart', async () => {
    const store = await makeStore();
    const keys = ['A', 'B'].flatMap((projectKey) =>
      ['s1', 's2'].map((sessionId) => ({ projectKey, sessionId })),
    );
    await Promise.all(keys.map((key) => store.append(key, [entry({ uuid: 'same', ...key })])));
    for (const key of keys) expect(await store.load(key)).toEqual([entry({ uuid: 'same', ...key })]);
    expect(await ids(store, 'A')).toEqual(['s1', 's2']);
  });

  it('appends entries without a uuid each time', async () => {
    const store = await makeStore();
    const title = { type: 'custom-title', customTitle: 'The title' };
    await store.append(main, [title, title]);
    await store.append(main, [title]);
    expect(await store.load(main)).toEqual([title, title, title]);
  });

  it.runIf(countsUuidsOnce)('counts an entry with a uuid once, however often it comes', async () => {
    const store = await makeStore();
    const [first, second, third] = [1, 2, 3].map((n) => entry({ uuid: `uuid-${n}`, n }));
    await store.append(main, [first, second, first] as SessionStoreEntry[]);
    await store.append(main, [second, third] as SessionStoreEntry[]);
    await store.append(main, [{ ...first, n: 'changed' }] as SessionStoreEntry[]);
    expect(await store.load(main)).toEqual([first, second, third]);
  });
}

function listsSessions(makeStore: MakeStore): void {
  it('lists the sessions of a project with the time of their last write, and no parts', async () => {
    const store = await makeStore();
    const begun = Date.now();
    await store.append({ projectKey: 'project', sessionId: 'a' }, [entry({})]);
    await store.append({ projectKey: 'project', sessionId: 'b' }, [entry({})]);
    await store.append({ projectKey: 'project', sessionId: 'b', subpath: 'subagents/agent-1' }, [entry({})]);
    await store.append({ projectKey: 'other', sessionId: 'c' }, [entry({})]);
    expect(await ids(store, 'project')).toEqual(['a', 'b']);
    for (const { mtime } of await store.listSessions('project')) {
      expect(Number.isInteger(mtime)).toBe(true);
      expect(mtime).toBeGreaterThanOrEqual(begun);
    }
    expect(await store.listSessions('never-written')).toEqual([]);
  });

  it('gives a later write a later or equal mtime, even if its entries are older', async () => {
    const store = await makeStore();
    await store.append(main, [entry({ timestamp: '2026-06-01T00:00:00.000Z' })]);
    const [before] = await store.listSessions('project');
    await store.append(main, [entry({ timestamp: '2020-01-01T00:00:00.000Z' })]);
    const [after] = await store.listSessions('project');
    expect(after?.mtime).toBeGreaterThanOrEqual(before?.mtime ?? Number.POSITIVE_INFINITY);
  });

  it('keeps the summary that the SDK folds, and lists it with the mtime of the session', async () => {
    const store = await makeStore();
    const batches = [
      [entry({ timestamp: '2026-01-01T00:00:00.000Z', customTitle: 'first', cwd: '/srv/app' })],
      [entry({ timestamp: '2026-01-01T00:00:02.000Z', customTitle: 'second', gitBranch: 'main' })],
    ];
    for (const batch of batches) await store.append(main, batch);
    await store.append(subAgent, [entry({ customTitle: 'of a sub-agent' })]);
    await store.append({ projectKey: 'other', sessionId: 'elsewhere' }, [entry({})]);
    const [summary, ...more] = await store.listSessionSummaries('project');
    expect(more).toEqual([]);
    const [listed] = await store.listSessions('project');
    expect(summary).toEqual({
      sessionId: 'session',
      mtime: listed?.mtime,
      data: foldSessionSummary(undefined, main, batches.flat()).data,
    });
    expect(summary?.data).toMatchObject({ customTitle: 'second', cwd: '/srv/app', gitBranch: 'main' });
    expect(await store.listSessionSummaries('never-written')).toEqual([]);
    await store.delete(main);
    expect(await store.listSessionSummaries('project')).toEqual([]);
  });

  it('lists the parts of a session, and not the session itself', async () => {
    const store = await makeStore();
    await store.append(main, [entry({})]);
    expect(await store.listSubkeys(main)).toEqual([]);
    await store.append(subAgent, [entry({})]);
    await store.append({ ...main, subpath: 'subagents/workflows/run/agent-2' }, [entry({})]);
    await store.append({ ...main, sessionId: 'other', subpath: 'subagents/agent-x' }, [entry({})]);
    expect((await store.listSubkeys(main)).sort()).toEqual([
      'subagents/agent-1',
      'subagents/workflows/run/agent-2',
    ]);
    expect(await store.listSubkeys({ projectKey: 'project', sessionId: 'never-written' })).toEqual([]);
  });
}

function deletesSessions(makeStore: MakeStore): void {
  it('deletes a session with all its parts, and nothing else', async () => {
    const store = await makeStore();
    const otherSession = { ...main, sessionId: 'other' };
    const otherProject = { ...main, projectKey: 'other' };
    await store.delete(main);
    for (const key of [main, subAgent, otherSubAgent, otherSession, otherProject])
      await store.append(key, [entry({ uuid: 'u' })]);
    await store.delete(main);
    for (const key of [main, subAgent, otherSubAgent]) expect(await store.load(key)).toBeNull();
    for (const key of [otherSession, otherProject]) expect(await store.load(key)).toHaveLength(1);
    expect(await store.listSubkeys(main)).toEqual([]);
    expect(await ids(store, 'project')).toEqual(['other']);
  });

  it('deletes one part of a session alone', async () => {
    const store = await makeStore();
    for (const key of [main, subAgent, otherSubAgent]) await store.append(key, [entry({ uuid: 'u' })]);
    await store.delete(subAgent);
    expect(await store.load(subAgent)).toBeNull();
    expect(await store.load(otherSubAgent)).toHaveLength(1);
    expect(await store.load(main)).toHaveLength(1);
    expect(await store.listSubkeys(main)).toEqual(['subagents/agent-2']);
  });

  it('begins anew when a deleted session is written again', async () => {
    const store = await makeStore();
    await store.append(main, [entry({ uuid: 'a', customTitle: 'old' }), entry({ uuid: 'b' })]);
    await store.delete(main);
    await store.append(main, [entry({ uuid: 'a', n: 2 })]);
    expect(await store.load(main)).toEqual([entry({ uuid: 'a', n: 2 })]);
    const [summary] = await store.listSessionSummaries('project');
    expect(summary?.data).not.toHaveProperty('customTitle');
  });
}

/** An entry; what its type is does not matter to a store. */
export function entry(fields: Record<string, unknown>): SessionStoreEntry {
  return { type: 'x', ...fields };
}

function awkwardEntry(): SessionStoreEntry {
  return JSON.parse(
    '{"type":"Odd type! 9","nested":{"a":[1,-0.5,null,true,{"b":{}}],"":"empty key"},"__proto__":{"x":1},' +
      '"text":"NUL \\u0000 line \\u2028 half \\ud83d emoji 🧪","timestamp":"not a time","data":{"id":"e","cause":"c"}}',
  ) as SessionStoreEntry;
}

function numbers(entries: SessionStoreEntry[] | null): unknown[] | undefined {
  return entries?.map(({ n }) => n);
}

async function ids(store: Required<SessionStore>, projectKey: string): Promise<string[]> {
  return (await store.listSessions(projectKey)).map(({ sessionId }) => sessionId).sort();
}

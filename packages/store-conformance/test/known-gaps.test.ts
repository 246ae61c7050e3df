import { describe, expect, it, vi } from 'vitest';
import { defineStoreConformance, runStoreConformance, type StoreUnderTest } from '../src/index.ts';
import { createModelStore } from '../src/model/model-store.ts';
import { modelCapabilities, openModel } from './open-model.ts';

const id = 'tasks/replaced';
const gaps = { [id]: 'records are merged' };
const good: StoreUnderTest = { capabilities: modelCapabilities, create: openModel };
const broken: StoreUnderTest = {
  ...good,
  create: () => ({ store: { ...createModelStore(), findTask: () => null }, dispose: () => {} }),
};

type Body = (context?: unknown) => Promise<void>;

/** The tests that `defineStoreConformance` defines, by title. */
function testsOf(store: StoreUnderTest): ReadonlyMap<string, Body> {
  const tests = new Map<string, Body>();
  defineStoreConformance({
    ...store,
    name: 'a store',
    describe: (_, body) => body(),
    it: (title, body) => tests.set(title, body),
  });
  return tests;
}

function testOf(store: StoreUnderTest, start: string): readonly [title: string, body: Body] {
  const found = [...testsOf(store)].find(([title]) => title.startsWith(start));
  if (found === undefined) throw new Error(`No test begins with ${start}.`);
  return found;
}

describe('a known gap', () => {
  it('is a passed test while the store has it, and its title has the reason', async () => {
    const [title, body] = testOf({ ...broken, knownGaps: gaps }, id);
    expect(title).toContain('(known gap: records are merged)');
    await body();
    const [result] = await runStoreConformance({ ...broken, knownGaps: gaps }, [id]);
    expect(result).toMatchObject({ status: 'gap', reason: 'records are merged', error: expect.any(Error) });
  });

  it('is a failure when the store no longer has it', async () => {
    const [, body] = testOf({ ...good, knownGaps: gaps }, id);
    await expect(body()).rejects.toThrow(`${id} passes. Remove it from knownGaps`);
  });

  it('must be the id of a case that applies', async () => {
    for (const unknown of ['tasks/replacd', 'search/limit'])
      await expect(runStoreConformance({ ...good, knownGaps: { [unknown]: 'x' } })).rejects.toThrow(unknown);
  });
});

describe('a case that does not end', () => {
  const waits: StoreUnderTest = {
    ...good,
    caseLimitMs: 500,
    create: () => ({
      store: { ...createModelStore(), findTask: () => new Promise<never>(() => {}) },
      dispose: () => {},
    }),
  };

  it('has failed after its limit, and the next case runs', async () => {
    const results = await runStoreConformance(waits, [id, 'pages/walk']);
    const byId = new Map(results.map((result) => [result.id, result]));
    expect(byId.get(id)?.error).toEqual(new Error('The case did not end within 500 ms.'));
    expect(byId.get('pages/walk')?.status).toBe('passed');
  });

  it('has failed if only the store does not close', async () => {
    const store = () => ({ ...createModelStore(), close: () => new Promise<never>(() => {}) });
    const create = () => ({ store: store(), dispose: () => {} });
    const [result] = await runStoreConformance({ ...waits, create }, [id]);
    expect(result).toMatchObject({ status: 'failed', error: expect.any(Error) });
  });
});

describe('a case that cannot run', () => {
  const start = 'killed/while-creating';

  it('is skipped with its reason by a runner that can skip', async () => {
    const skip = vi.fn();
    await testOf(good, start)[1]({ skip });
    expect(skip).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^killed\/while-creating was skipped: the fixture has no `elsewhere`/),
    );
  });

  it('is a warning of the process with another runner', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await testOf(good, start)[1]();
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(start), 'StoreConformanceWarning');
    warn.mockRestore();
  });
});

describe('cases that run beside each other', () => {
  it('let one that measures the memory of the process run alone', async () => {
    const seen: string[] = [];
    const caseOf = (name: string) => {
      const create = () => {
        const fixture = openModel();
        seen.push(`${name} begins`);
        return { ...fixture, dispose: () => void seen.push(`${name} ends`) };
      };
      return (start: string) => testOf({ ...good, create }, start)[1]();
    };
    await Promise.all([
      caseOf('one')(id),
      caseOf('another')('sizes/many-tasks'),
      caseOf('the measuring one')('sizes/memory'),
      caseOf('a later one')(id),
    ]);
    expect([...seen.slice(0, 2)].sort()).toEqual(['another begins', 'one begins']);
    expect(seen.slice(4)).toEqual([
      'the measuring one begins',
      'the measuring one ends',
      'a later one begins',
      'a later one ends',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '../src/index.ts';
import { faultMutants } from './mutants/faults.ts';
import { logIn, withPositions } from './mutants/mutant.ts';
import { Machine, onMachine } from './reference/machine.ts';
import { createReferenceStore, referenceCapabilities } from './reference/reference-store.ts';
import { emptyWorld, inMemory } from './reference/world.ts';

type Change = (typeof faultMutants)[number][2];

/** The reference store on a machine whose calls fail, with this change. */
function storeWith(change: Change): StoreUnderTest {
  return {
    capabilities: { ...referenceCapabilities, durability: 'disk' },
    seed: 7,
    create: () => {
      const world = emptyWorld();
      const medium = inMemory(world);
      const machine = new Machine(world);
      const open = () => {
        const good = createReferenceStore(medium);
        return withPositions(onMachine(good, machine), change(good, machine, world), logIn(world));
      };
      return {
        store: open(),
        reopen: open,
        faults: machine.faults,
        losePower: () => machine.losePower(),
        displace: () => {
          machine.isDisplaced = true;
        },
        dispose: () => {},
      };
    },
  };
}

const caseIds = storeConformanceCases.flatMap(({ id }) =>
  /^(faults|power|displaced)\//.test(id) ? [id] : [],
);

describe('a store that', () => {
  it.each(faultMutants)('%s fails %s', async (_, caseId, change) => {
    const [result] = await runStoreConformance(storeWith(change), [caseId]);
    expect(result?.status).toBe('failed');
    expect(String(result?.error)).not.toMatch(/^(?:Type|Range|Reference)Error/);
  });

  it('has no fault passes the same cases', async () => {
    const results = await runStoreConformance(
      storeWith(() => ({})),
      caseIds,
    );
    expect(results.map(({ id, status, error }) => [id, status, error])).toEqual(
      caseIds.map((id) => [id, 'passed', null]),
    );
  });
});

describe('the cases with faults', () => {
  it('each have a mutant', () => {
    const named = new Set(faultMutants.map(([, caseId]) => caseId));
    expect(caseIds.filter((id) => !named.has(id))).toEqual([]);
  });

  it.each(caseIds)('are skipped with a reason for a fixture without the hook: %s', async (caseId) => {
    const { create, ...store } = storeWith(() => ({}));
    const without = async () => {
      const { store: opened, reopen, dispose } = await create();
      return { store: opened, ...(reopen && { reopen }), dispose };
    };
    const [result] = await runStoreConformance({ ...store, create: without }, [caseId]);
    expect(result).toMatchObject({
      status: 'skipped',
      reason: expect.stringMatching(/^the fixture has no `/),
    });
  });
});

import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '@hansard/store-conformance';
import type { Processes } from '@hansard/store-kit';
import { ManualClock } from '@hansard/testing';
import { expect, it } from 'vitest';
import { jsonFileStoreCapabilities, openJsonFileStore } from '../src/index.ts';
import { ProcessKernel } from './simulation/process-kernel.ts';

/** The store on the disk of the simulation, which knows what is synced. `opened` is the durability with which it is opened. */
const storeUnderTest = (opened: 'process' | 'disk'): StoreUnderTest => ({
  capabilities: { ...jsonFileStoreCapabilities, durability: 'disk' },
  create: () => {
    const clock = new ManualClock();
    let boots = 1;
    const kernel = new ProcessKernel(new Float64Array(2), () => {
      throw new Error('The steps are not counted.');
    });
    kernel.accept({ changes: [], steps: Number.POSITIVE_INFINITY, fault: null });
    const open = () => {
      const own = { pid: 1, host: 'simulated', startTime: '1', bootId: `${boots}`, pidNamespace: 'one' };
      const processes: Processes = {
        current: () => own,
        isRunning: ({ bootId }) => bootId === own.bootId,
        whyUnchecked: () => null,
      };
      const { files } = kernel;
      return openJsonFileStore(
        { root: '/store', durability: opened },
        { files, clock, processes, pause: (ms) => clock.advance(ms), mostLinks: 60_000 },
      );
    };
    return {
      store: open(),
      reopen: open,
      losePower: (seed) => {
        boots += 1;
        kernel.end();
        kernel.accept({
          changes: [{ kind: 'power loss', seed }],
          steps: Number.POSITIVE_INFINITY,
          fault: null,
        });
      },
      dispose: () => {},
    };
  },
});

const cases = storeConformanceCases.filter(({ id }) => id.startsWith('power/'));

it.each(cases)('$id: $title', async ({ id }) => {
  const [result] = await runStoreConformance(storeUnderTest('disk'), [id]);
  expect([result?.error, result?.status]).toEqual([null, 'passed']);
});

it('a store that does not wait for the disk fails each of them', async () => {
  const ids = cases.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(1);
  const results = await runStoreConformance(storeUnderTest('process'), ids);
  expect(results.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 'failed']));
});

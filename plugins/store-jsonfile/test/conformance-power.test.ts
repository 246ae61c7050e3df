import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '@hansard/store-conformance';
import type { Processes } from '@hansard/store-kit';
import { ManualClock } from '@hansard/testing';
import { expect, it } from 'vitest';
import type { Files } from '../src/files.ts';
import { jsonFileStoreCapabilities, openJsonFileStore } from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, makeEvent, taskDir } from './sample.ts';
import { ProcessKernel, systemError } from './simulation/process-kernel.ts';

/** A machine with the disk of the simulation, which knows what is synced. */
function simulatedMachine() {
  const clock = new ManualClock();
  let boots = 1;
  const kernel = new ProcessKernel(new Float64Array(2), () => {
    throw new Error('The steps are not counted.');
  });
  kernel.accept({ changes: [], steps: Number.POSITIVE_INFINITY, fault: null });
  const open = (durability: 'process' | 'disk', replaced: Partial<Files> = {}) => {
    const own = { pid: 1, host: 'simulated', startTime: '1', bootId: `${boots}`, pidNamespace: 'one' };
    const processes: Processes = {
      current: () => own,
      isRunning: ({ bootId }) => bootId === own.bootId,
      whyUnchecked: () => null,
    };
    const files = { ...kernel.files, ...replaced };
    return openJsonFileStore(
      { root: '/store', durability },
      {
        files,
        clock,
        processes,
        pause: (ms) => clock.advance(ms),
        mostLinks: 60_000,
        fileSystemOf: () => null,
      },
    );
  };
  const losePower = (seed: number) => {
    boots += 1;
    kernel.end();
    kernel.accept({
      changes: [{ kind: 'power loss', seed }],
      steps: Number.POSITIVE_INFINITY,
      fault: null,
    });
  };
  return { open, losePower, files: kernel.files };
}

/** `opened` is the durability with which the store is opened. */
const storeUnderTest = (opened: 'process' | 'disk'): StoreUnderTest => ({
  capabilities: { ...jsonFileStoreCapabilities, durability: 'disk' },
  create: () => {
    const { open, losePower } = simulatedMachine();
    return { store: open(opened), reopen: () => open(opened), losePower, dispose: () => {} };
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

it('after its creator could not sync the name of a dispatch, the next owner does before it writes', () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const { open, losePower, files } = simulatedMachine();
    const folders = new Set<number>();
    const failing: Partial<Files> = {
      open: (path, flags) => {
        const fd = files.open(path, flags);
        if (path.endsWith('/dispatches')) folders.add(fd);
        return fd;
      },
      sync: (fd) => {
        if (folders.has(fd)) throw systemError('EIO', 'fsync', 'dispatches');
        files.sync(fd);
      },
    };
    const creator = open('disk', failing);
    expect(codeOf(() => creator.createDispatch(taskDir, makeEnvelope('d1')))).toBe('STORE_UNAVAILABLE');
    creator.close();
    const owner = open('disk');
    owner.claimDispatch(taskDir, 'd1');
    owner.appendEvent(taskDir, 'd1', makeEvent(1));
    losePower(seed);
    expect(open('disk').getDispatchEvents(taskDir, 'd1'), `seed ${seed}`).toEqual([makeEvent(1)]);
  }
});

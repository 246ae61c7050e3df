import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '@hansard/store-conformance';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../src/files.ts';
import { jsonFileStoreCapabilities, openJsonFileStore } from '../src/index.ts';
import { thisSystem } from '../src/store-system.ts';
import { censusOf } from './census.ts';
import { failingFiles } from './failing-files.ts';

const dispatchFileOf = (root: string, { taskDir, dispatchId }: { taskDir: string; dispatchId: string }) =>
  join(root, taskDir, 'dispatches', `${dispatchId}.json`);

/** Long enough for a process that shares two cores with many others to show in time that it runs. */
const leaseMs = 1_500;

/** The store with what the kit needs to open it in other processes and to damage its files. */
const store: StoreUnderTest = {
  capabilities: jsonFileStoreCapabilities,
  leaseMs,
  create: () => {
    const root = mkdtempSync(join(tmpdir(), 'hansard-jsonfile-'));
    const { files, faults } = failingFiles(systemFiles);
    const open = () => openJsonFileStore({ root, leaseMs }, { ...thisSystem, files });
    return {
      store: open(),
      reopen: open,
      elsewhere: { module: join(import.meta.dirname, 'processes/open-store.ts'), args: [root, leaseMs] },
      damage: (taskDir, dispatchId) => {
        const file = join(root, taskDir, 'dispatches', `${dispatchId}.json`);
        return { bytes: readFileSync(file), write: (bytes) => writeFileSync(file, bytes) };
      },
      faults,
      displace: (way, taskDir, dispatchId) => {
        const file = join(root, taskDir, 'dispatches', `${dispatchId}.json`);
        if (way === 'replaced') copyFileSync(file, `${file}.copy`);
        renameSync(file, `${file}.moved`);
        if (way === 'replaced') renameSync(`${file}.copy`, file);
      },
      misplace: (from, to) => {
        const file = dispatchFileOf(root, to);
        mkdirSync(dirname(file), { recursive: true });
        copyFileSync(dispatchFileOf(root, from), file);
      },
      census: () => censusOf(root),
      dispose: () => rmSync(root, { recursive: true, force: true }),
    };
  },
};

const { integrity } = jsonFileStoreCapabilities;
const cases = storeConformanceCases.filter(
  ({ id, needs }) =>
    /^(killed|processes|damage|faults|displaced|misplaced)\//.test(id) &&
    (integrity === 'checksum' || !needs.includes('integrity')),
);

async function keeps({ id }: { readonly id: string }): Promise<void> {
  const [result] = await runStoreConformance(store, [id]);
  expect([result?.error, ['passed', 'skipped']]).toEqual([null, expect.arrayContaining([result?.status])]);
}

const areOfProcesses = ({ id }: { readonly id: string }) => /^(killed|processes)\//.test(id);

// Most of them wait for other processes and their leases, so they run beside each other.
describe.concurrent('with other processes', () => {
  it.each(cases.filter(areOfProcesses))('$id: $title', keeps);
});

it.each(cases.filter((one) => !areOfProcesses(one)))('$id: $title', keeps);

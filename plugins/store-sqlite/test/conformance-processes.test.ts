import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreCapabilities } from '@hansard/provider';
import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '@hansard/store-conformance';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../src/index.ts';
import { censusOf } from './census.ts';

const capabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'dispatch',
  search: 'index',
  watch: true,
  deleteDispatch: true,
  rewrite: true,
  integrity: 'checksum',
};

/** Long enough for a process that shares two cores with many others to show in time that it runs. */
const leaseMs = 1_500;

/**
 * The store with what the kit needs to open it in other processes, and to damage the file of the database. SQLite copies its log into
 * that file and removes it when the store is closed, so damage of the log is tested in `integrity/cut-log.test.ts`.
 */
const store: StoreUnderTest = {
  capabilities,
  leaseMs,
  create: () => {
    const folder = mkdtempSync(join(tmpdir(), 'hansard-sqlite-'));
    const path = join(folder, 'hansard.sqlite');
    const open = () => openSqliteStore({ path, leaseMs });
    return {
      store: open(),
      reopen: open,
      elsewhere: { module: join(import.meta.dirname, 'processes/open-store.ts'), args: [path, leaseMs] },
      damage: () => {
        const lengths = readFileSync(`${path}-lengths`);
        return {
          bytes: readFileSync(path),
          isShared: true,
          write: (bytes) => {
            for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
            writeFileSync(`${path}-lengths`, lengths);
            writeFileSync(path, bytes);
          },
        };
      },
      displace: (way) => {
        if (way === 'replaced') copyFileSync(path, `${path}.copy`);
        renameSync(path, `${path}.moved`);
        if (way === 'replaced') renameSync(`${path}.copy`, path);
      },
      census: () => censusOf(path),
      dispose: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

const cases = storeConformanceCases.filter(({ id }) => /^(killed|processes|damage|displaced)\//.test(id));

async function keeps({ id }: { readonly id: string }): Promise<void> {
  const [result] = await runStoreConformance(store, [id]);
  if (result?.error) throw result.error;
  expect(['passed', 'skipped']).toContain(result?.status);
}

const areOfProcesses = ({ id }: { readonly id: string }) => /^(killed|processes)\//.test(id);

// Most of them wait for other processes and their leases, so they run beside each other.
describe.concurrent('with other processes', () => {
  it.each(cases.filter(areOfProcesses))('$id: $title', keeps);
});

it.each(cases.filter((one) => !areOfProcesses(one)))('$id: $title', { timeout: 300_000 }, keeps);

import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreCapabilities } from '@hansard/provider';
import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '@hansard/store-conformance';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../src/index.ts';

const capabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'dispatch',
  search: true,
  watch: true,
  deleteDispatch: true,
  integrity: 'checksum',
};

/** Short, so that the cases in which a process stops wait little for it. */
const leaseMs = 600;

/**
 * The store with what the kit needs to open it in other processes. Damage of its file is tested in `integrity/`: the kit expects that
 * a store with damaged bytes opens, and a database whose header is damaged does not.
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
      displace: (way) => {
        if (way === 'replaced') copyFileSync(path, `${path}.copy`);
        renameSync(path, `${path}.moved`);
        if (way === 'replaced') renameSync(`${path}.copy`, path);
      },
      dispose: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

const cases = storeConformanceCases.filter(
  ({ id, needs }) => /^(killed|processes|damage|displaced)\//.test(id) && !needs.includes('integrity'),
);

it.each(cases)('$id: $title', async ({ id }) => {
  const [result] = await runStoreConformance(store, [id]);
  expect([result?.error, ['passed', 'skipped']]).toEqual([null, expect.arrayContaining([result?.status])]);
});

import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreCapabilities } from '@hansard/provider';
import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '@hansard/store-conformance';
import { expect, it } from 'vitest';
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

/** Short, so that the cases in which a process stops wait little for it. */
const leaseMs = 600;

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

it.each(cases)('$id: $title', { timeout: 300_000 }, async ({ id }) => {
  const [result] = await runStoreConformance(store, [id]);
  if (result?.error) throw result.error;
  expect(['passed', 'skipped']).toContain(result?.status);
});

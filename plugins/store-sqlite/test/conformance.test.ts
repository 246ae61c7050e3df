import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  defineStoreConformance,
  runStoreConformance,
  type StoreUnderTest,
  storeConformanceCases,
} from '@hansard/store-conformance';
import { bytesIn } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../src/index.ts';
import { censusOf } from './census.ts';

const storeWith = (durability: 'process' | 'disk'): StoreUnderTest => ({
  capabilities: {
    durability,
    writers: 'dispatch',
    search: 'index',
    watch: true,
    deleteDispatch: true,
    rewrite: true,
    integrity: 'checksum',
  },
  create: () => {
    const folder = mkdtempSync(join(tmpdir(), 'hansard-sqlite-conformance-'));
    const path = join(folder, 'hansard.sqlite');
    const open = () => openSqliteStore({ path, durability });
    return {
      store: open(),
      reopen: open,
      census: () => censusOf(path),
      bytes: () => bytesIn(folder),
      misplace: (from, to) => {
        const database = new DatabaseSync(path);
        database
          .prepare('DELETE FROM dispatches WHERE task_dir = ? AND dispatch_id = ?')
          .run(to.taskDir, to.dispatchId);
        database
          .prepare(
            'UPDATE dispatches SET task_dir = ?, dispatch_id = ? WHERE task_dir = ? AND dispatch_id = ?',
          )
          .run(to.taskDir, to.dispatchId, from.taskDir, from.dispatchId);
        database.close();
      },
      dispose: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});

defineStoreConformance({ name: 'store-sqlite', describe, it, ...storeWith('process') });

// The cases of a loss of power run beside this file.
it.each(
  storeConformanceCases.filter(({ id, atEachDurability }) => atEachDurability && !id.startsWith('power/')),
)('store-sqlite with durability disk keeps $id: $title', async ({ id }) => {
  const [result] = await runStoreConformance(storeWith('disk'), [id]);
  expect([result?.error, result?.status]).toEqual([null, 'passed']);
});

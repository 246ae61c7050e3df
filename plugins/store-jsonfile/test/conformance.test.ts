import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defineStoreConformance,
  runStoreConformance,
  type StoreUnderTest,
  storeConformanceCases,
} from '@hansard/store-conformance';
import { bytesIn } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { jsonFileStoreCapabilities, openJsonFileStore } from '../src/index.ts';
import { censusOf } from './census.ts';

const storeWith = (durability: 'process' | 'disk'): StoreUnderTest => ({
  capabilities: { ...jsonFileStoreCapabilities, durability },
  create: () => {
    const root = mkdtempSync(join(tmpdir(), 'hansard-jsonfile-'));
    return {
      store: openJsonFileStore({ root, durability }),
      reopen: () => openJsonFileStore({ root, durability }),
      census: () => censusOf(root),
      bytes: () => bytesIn(root),
      dispose: () => rmSync(root, { recursive: true, force: true }),
    };
  },
});

defineStoreConformance({ name: 'store-jsonfile', describe, it, ...storeWith('process') });

// The cases of a loss of power run beside this file.
it.each(
  storeConformanceCases.filter(({ id, atEachDurability }) => atEachDurability && !id.startsWith('power/')),
)('store-jsonfile with durability disk keeps $id: $title', async ({ id }) => {
  const [result] = await runStoreConformance(storeWith('disk'), [id]);
  expect([result?.error, result?.status]).toEqual([null, 'passed']);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineStoreConformance } from '@hansard/store-conformance';
import { describe, it } from 'vitest';
import { jsonFileStoreCapabilities, openJsonFileStore } from '../src/index.ts';

for (const durability of ['process', 'disk'] as const) {
  defineStoreConformance({
    name: `store-jsonfile with durability ${durability}`,
    describe,
    it,
    capabilities: { ...jsonFileStoreCapabilities, durability },
    create: () => {
      const root = mkdtempSync(join(tmpdir(), 'hansard-jsonfile-'));
      return {
        store: openJsonFileStore({ root, durability }),
        reopen: () => openJsonFileStore({ root, durability }),
        dispose: () => rmSync(root, { recursive: true, force: true }),
      };
    },
  });
}

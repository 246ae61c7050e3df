import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineStoreConformance } from '@hansard/store-conformance';
import { describe, it } from 'vitest';
import { openSqliteStore } from '../src/index.ts';

for (const durability of ['process', 'disk'] as const) {
  defineStoreConformance({
    name: `store-sqlite (durability ${durability})`,
    describe,
    it,
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
      const open = () => openSqliteStore({ path: join(folder, 'hansard.sqlite'), durability });
      return { store: open(), reopen: open, dispose: () => rmSync(folder, { recursive: true, force: true }) };
    },
  });
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { defineStoreConformance } from '@hansard/store-conformance';
import { exampleStoreCapabilities, openExampleStore } from '../dist/index.js';

defineStoreConformance({
  name: 'store-example',
  describe,
  it,
  capabilities: exampleStoreCapabilities,
  create() {
    const root = mkdtempSync(join(tmpdir(), 'store-example-'));
    return {
      store: openExampleStore({ root }),
      reopen: () => openExampleStore({ root }),
      dispose: () => rmSync(root, { recursive: true }),
    };
  },
});

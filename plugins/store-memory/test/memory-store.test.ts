import { defineStoreConformance } from '@hansard/store-conformance';
import { describe, expect, it } from 'vitest';
import manifest from '../plugin.json' with { type: 'json' };
import plugin, { createMemoryStore, memoryStoreCapabilities } from '../src/index.ts';

defineStoreConformance({
  name: 'store-memory',
  describe,
  it,
  capabilities: memoryStoreCapabilities,
  create: () => ({ store: createMemoryStore(), dispose: () => {} }),
});

describe('the plugin', () => {
  it('has the id and the type of its manifest, and creates an empty store', async () => {
    expect(plugin).toMatchObject({ id: manifest.id, provides: manifest.provides });
    const store = await plugin.create({}, { baseDir: '.', signal: new AbortController().signal });
    expect(await store.listTasks()).toEqual([]);
  });
});

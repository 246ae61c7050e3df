import { runStoreConformance } from '@hansard/store-conformance';
import { describe, expect, it } from 'vitest';
import { memoryStoreCapabilities } from '../src/index.ts';
import type { MemoryStore } from '../src/memory-store.ts';
import { brokenStores } from './broken-stores.ts';

async function failedCases(create: () => MemoryStore, only: readonly string[]): Promise<string[]> {
  const results = await runStoreConformance(
    {
      capabilities: memoryStoreCapabilities,
      create: () => ({ store: create(), dispose: () => {} }),
      seed: 7,
    },
    only,
  );
  return results.filter(({ error }) => error !== null).map(({ id }) => id);
}

describe('the kit', () => {
  it.each(brokenStores)('notices a store that $fault', async ({ caseIds, create }) => {
    expect((await failedCases(create, caseIds)).sort()).toEqual([...caseIds].sort());
  });
});

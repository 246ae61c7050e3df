import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { openSqliteStore } from '@hansard/store-sqlite';
import { onTestFinished } from 'vitest';

export const providers: Readonly<Record<string, () => DispatchStoreProvider>> = {
  'store-memory': createMemoryStore,
  'store-jsonfile': () => openJsonFileStore({ root: newFolder() }),
  'store-sqlite': () => openSqliteStore({ path: join(newFolder(), 'hansard.sqlite') }),
};

/** A folder that is gone when the test is over. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-session-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The store of a folder, closed when the test is over. */
export function openFolder(root: string): DispatchStore {
  return closedAtEnd(openDispatchStore(openJsonFileStore({ root })));
}

export function closedAtEnd<T extends { close(): unknown }>(store: T): T {
  onTestFinished(() => void store.close());
  return store;
}

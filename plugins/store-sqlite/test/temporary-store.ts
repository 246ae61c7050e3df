import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dispatchId, envelope, taskDir } from '@hansard/testing/store-samples';
import { onTestFinished } from 'vitest';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../src/index.ts';

/** The path of a database that does not exist yet, in a folder that is removed when the test ends. */
export function temporaryPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'hansard.sqlite');
}

/** Opens a store that is closed when the test ends. */
export function openStore(path: string, options: Omit<SqliteStoreOptions, 'path'> = {}): SqliteStore {
  const store = openSqliteStore({ path, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A store that has claimed the dispatch of an existing database. */
export function openClaimed(path: string, options: Omit<SqliteStoreOptions, 'path'> = {}): SqliteStore {
  const store = openStore(path, options);
  store.claimDispatch(taskDir, dispatchId);
  return store;
}

/** A store with one dispatch. */
export function storeWithDispatch(path = temporaryPath()): SqliteStore {
  const store = openStore(path);
  store.createDispatch(taskDir, envelope());
  return store;
}

/** The code of the error that `work` throws, or `none`. */
export function codeOf(work: () => unknown): string {
  try {
    work();
    return 'none';
  } catch (error) {
    return (error as { code?: string }).code ?? 'no code';
  }
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** Something to wait for, instead of sleeping. */
export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

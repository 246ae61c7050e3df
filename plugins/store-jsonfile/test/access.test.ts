import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJsonFileStore } from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import { makeEvent, makeRoot, taskDir } from './sample.ts';

const task = {
  slug: 'maps',
  name: 'Maps',
  project: 'lab',
  status: 'open',
  created: '2026-03-01T09:30:00.000Z',
};

/** The permissions of everything below a new root, after every kind of write. */
function permissionsWith(access?: 'private' | 'shared'): { files: Set<number>; folders: Set<number> } {
  const root = join(makeRoot(), 'store');
  const store = openJsonFileStore({ root, ...(access && { access }) });
  store.putTask(taskDir, task);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.appendEvent(taskDir, 'd1', makeEvent(1));
  store.updateDispatch(taskDir, 'd1', { structuredResult: 'x'.repeat(10_000) });
  const found = { files: new Set<number>(), folders: new Set([statSync(root).mode & 0o777]) };
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    (entry.isDirectory() ? found.folders : found.files).add(mode);
  }
  store.close();
  return found;
}

describe.skipIf(process.platform === 'win32')('the files and folders of a store', () => {
  it('are created for their owner only', () => {
    expect(permissionsWith()).toEqual({ files: new Set([0o600]), folders: new Set([0o700]) });
    expect(permissionsWith('private')).toEqual(permissionsWith());
  });

  it('have the permissions of the umask with shared access', () => {
    const umask = process.umask();
    expect(permissionsWith('shared')).toEqual({
      files: new Set([0o666 & ~umask]),
      folders: new Set([0o777 & ~umask]),
    });
  });
});

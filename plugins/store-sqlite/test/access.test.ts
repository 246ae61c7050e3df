import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStore } from '../src/index.ts';
import { storeWithDispatch, temporaryPath } from './temporary-store.ts';

function modesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder);
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  return Object.fromEntries([
    ['.', modeOf(folder)],
    ...names.map((name) => [name, modeOf(join(folder, name))]),
  ]);
}

describe.skipIf(process.platform === 'win32')('the files of a database', () => {
  it.each([
    ['private', '700', '600'],
    ['shared', '755', '644'],
  ] as const)(
    'created with the access %s have the modes %s and %s, its logs too',
    (access, ofFolder, ofFile) => {
      const umask = process.umask(0o022);
      onTestFinished(() => void process.umask(umask));
      const folder = join(dirname(temporaryPath()), 'new');
      const store = openSqliteStore({ path: join(folder, 'hansard.sqlite'), access });
      onTestFinished(() => store.close());
      store.createDispatch(taskDir, envelope());
      store.appendEvents(taskDir, dispatchId, growingEvents(3));
      expect(modesIn(folder)).toEqual({
        '.': ofFolder,
        'hansard.sqlite': ofFile,
        'hansard.sqlite-lengths': ofFile,
        'hansard.sqlite-shm': ofFile,
        'hansard.sqlite-wal': ofFile,
      });
    },
  );

  it('that exist keep their modes, and new ones beside them get that of the database', () => {
    const path = temporaryPath();
    const folder = dirname(path);
    chmodSync(folder, 0o750);
    mkdirSync(join(folder, 'own'));
    const store = storeWithDispatch(path);
    expect(modesIn(folder)).toMatchObject({
      '.': '750',
      'hansard.sqlite': '600',
      'hansard.sqlite-wal': '600',
    });
    store.close();
    chmodSync(path, 0o660);
    const later = openSqliteStore({ path });
    onTestFinished(() => later.close());
    later.claimDispatch(taskDir, dispatchId);
    expect(modesIn(folder)).toMatchObject({ 'hansard.sqlite': '660', 'hansard.sqlite-wal': '660' });
  });
});

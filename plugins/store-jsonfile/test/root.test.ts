import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeRoot, openStore, taskDir } from './sample.ts';

describe('the root of a store', () => {
  it('is created by the first write; reading creates nothing', () => {
    const folder = makeRoot();
    const root = join(folder, 'logs', 'store');
    const store = openStore(root);
    expect(store.listTasks()).toEqual([]);
    expect(store.findTask(taskDir)).toBe(null);
    expect(store.getDispatchEnvelopes(taskDir)).toEqual([]);
    expect(store.getDispatchEnvelope(taskDir, 'd1')).toBe(null);
    expect(codeOf(() => store.getDispatchEvents(taskDir, 'd1'))).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(readdirSync(folder)).toEqual([]);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    expect(existsSync(dispatchFile(root, 'd1'))).toBe(true);
  });

  it('may be reached through a link, including before it exists', () => {
    const folder = makeRoot();
    mkdirSync(join(folder, 'disk'));
    symlinkSync(join(folder, 'disk'), join(folder, 'link'));
    const store = openStore(join(folder, 'link', 'store'));
    store.createDispatch(taskDir, makeEnvelope('d1'));
    expect(existsSync(dispatchFile(join(folder, 'disk', 'store'), 'd1'))).toBe(true);
  });

  it.each(['', 'below'])(
    'that is a file, or is in the place of one, is refused and not read as empty: file/%s',
    (rest) => {
      const file = join(makeRoot(), 'file');
      writeFileSync(file, '');
      expect(codeOf(() => openStore(join(file, rest)))).toBe('STORE_UNAVAILABLE');
    },
  );
});

import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSystemOf } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

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

const kinds: readonly (readonly [string, number, boolean])[] = [
  ['NFS', 0x6969, true],
  ['SMB', 0x517b, true],
  ['SMB', 0xff534d42, true],
  // As a signed number.
  ['SMB', 0xfe534d42 | 0, true],
  ['9p', 0x01021997, true],
  ['Ceph', 0x00c36400, true],
  ['Lustre', 0x0bd00bd0, true],
  ['GPFS', 0x47504653, true],
  ['FUSE', 0x65735546, false],
  ['ext4', 0xef53, false],
  ['overlay', 0x794c7630, false],
  ['tmpfs', 0x01021994, false],
];

describe('a root on', () => {
  it.each(kinds)('%s (%i) is refused at the first claim: %s', (name, type, isRemote) => {
    const root = makeRoot();
    const local = openStore(root);
    local.createDispatch(taskDir, makeEnvelope('d1'));
    local.appendEvent(taskDir, 'd1', makeEvent(1));
    local.releaseDispatch(taskDir, 'd1');
    const asked: string[] = [];
    const fileSystemOf = (path: string) => {
      asked.push(path);
      return type;
    };
    const store = openStore(root, {}, { fileSystemOf });
    expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(1);
    expect(asked).toEqual([]);
    const claims = [
      () => store.claimDispatch(taskDir, 'd1'),
      () => store.createDispatch(taskDir, makeEnvelope('d2')),
      () => store.rewriteDispatch(taskDir, 'd1', { envelope: (one) => one, event: (one) => one }),
    ];
    for (const claim of claims)
      if (isRemote) expect(claim).toThrow(new RegExp(`is on ${name}, .*leaseMs. above 60000`));
      else claim();
    expect(asked).toHaveLength(isRemote ? claims.length : 1);
    if (isRemote) expect(local.findClaim(taskDir, 'd1')).toBeNull();

    const patient = openStore(root, { leaseMs: 60_001 }, { fileSystemOf: () => type });
    store.releaseDispatch(taskDir, 'd1');
    patient.claimDispatch(taskDir, 'd1');
  });

  it('a folder that does not exist yet has the file system of the folder above it', () => {
    expect(fileSystemOf(join(makeRoot(), 'not', 'there', 'yet'))).toBe(fileSystemOf(makeRoot()));
  });
});

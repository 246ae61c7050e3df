import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeErrors } from '@hansard/provider';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  assertDispatchPath,
  linkIfFree,
  orMissing,
  realPath,
  taskFolderBelow,
  toFileError,
  withFile,
} from '../src/index.ts';

function makeRoot(): string {
  const root = mkdtempSync(join(realPath(tmpdir()), 'hansard-store-kit-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

const invalid = expect.objectContaining({ code: 'STORE_INVALID_PATH' });

describe('taskFolderBelow', () => {
  it('is the folder of the task, whether it exists or not', () => {
    const root = makeRoot();
    expect(taskFolderBelow(root, 'a/b')).toBe(join(root, 'a', 'b'));
  });

  it('refuses a name that would leave the root', () => {
    expect(() => taskFolderBelow(makeRoot(), '../a')).toThrow(invalid);
  });

  it('refuses a symbolic link that leads out of the root, including one in the inner folder', () => {
    const root = makeRoot();
    const outside = makeRoot();
    symlinkSync(outside, join(root, 'linked'));
    mkdirSync(join(root, 'task'));
    symlinkSync(outside, join(root, 'task', 'dispatches'));
    expect(() => taskFolderBelow(root, 'linked/a')).toThrow(invalid);
    expect(taskFolderBelow(root, 'task')).toBe(join(root, 'task'));
    expect(() => taskFolderBelow(root, 'task', 'dispatches')).toThrow(outside);
  });

  it('takes a symbolic link that stays in the root', () => {
    const root = makeRoot();
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'linked'));
    expect(taskFolderBelow(root, 'linked/a')).toBe(join(root, 'linked', 'a'));
  });

  it('refuses a folder beside the root whose name begins in the same way', () => {
    const root = makeRoot();
    const sibling = `${root}-other`;
    mkdirSync(sibling);
    onTestFinished(() => rmSync(sibling, { recursive: true }));
    symlinkSync(sibling, join(root, 'linked'));
    expect(() => taskFolderBelow(root, 'linked')).toThrow(invalid);
  });
});

describe('assertDispatchPath', () => {
  it('refuses an invalid task and an invalid id', () => {
    expect(() => assertDispatchPath('a/b', 'd1')).not.toThrow();
    expect(() => assertDispatchPath('../b', 'd1')).toThrow(invalid);
    expect(() => assertDispatchPath('a/b', '../d1')).toThrow(invalid);
  });
});

describe('orMissing', () => {
  it('is null for a missing file, and for a file in the place of its folder unless only ENOENT is asked for', () => {
    const file = join(makeRoot(), 'file');
    writeFileSync(file, 'text');
    expect(orMissing(() => readFileSync(file, 'utf8'))).toBe('text');
    expect(orMissing(() => readFileSync(`${file}.x`))).toBeNull();
    expect(orMissing(() => readFileSync(join(file, 'x')))).toBeNull();
    expect(() => orMissing(() => readFileSync(join(file, 'x')), ['ENOENT'])).toThrow('ENOTDIR');
  });
});

describe('linkIfFree', () => {
  it('gives a file a second name once, and leaves a name that is taken as it is', () => {
    const root = makeRoot();
    for (const name of ['a', 'b']) writeFileSync(join(root, name), name);
    expect(linkIfFree(join(root, 'a'), join(root, 'c'))).toBe(true);
    expect(linkIfFree(join(root, 'b'), join(root, 'c'))).toBe(false);
    expect(readFileSync(join(root, 'c'), 'utf8')).toBe('a');
  });
});

describe('the error of a file operation', () => {
  it('is STORE_UNAVAILABLE with the file, the reason and the cause', () => {
    const folder = makeRoot();
    const read = () => withFile('read', '/unused', () => readFileSync(folder));
    expect(read).toThrow(
      expect.objectContaining({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/^Could not read .*EISDIR.*Check the disk/),
        details: { file: '/unused', reason: 'EISDIR' },
        cause: expect.objectContaining({ code: 'EISDIR' }),
      }),
    );
  });

  it.each([
    [true, ['EAGAIN', 'EBUSY', 'EINTR', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETIMEDOUT']],
    [false, ['EACCES', 'EDQUOT', 'EFBIG', 'EIO', 'EISDIR', 'ENOSPC', 'EPERM', 'EROFS', 'ESTALE']],
  ])('is transient (%s) by what removes its reason', (isTransient, codes) => {
    for (const code of codes) {
      const cause = Object.assign(new Error(code), { code, syscall: 'open' });
      const error = toFileError(cause, 'read', '/a');
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', isTransient, details: { reason: code } });
    }
  });

  it('is STORE_INVALID_PATH for a name that the file system cannot have', () => {
    const file = join(makeRoot(), 'x'.repeat(300));
    expect(() => withFile('create', file, () => writeFileSync(file, ''))).toThrow(invalid);
  });

  it('stays as it is if it has a code of the contract, or is a mistake in a program', () => {
    const errors = [storeErrors.error('STORE_CLOSED', 'Closed.'), new TypeError('not a function')];
    for (const error of errors) expect(toFileError(error, 'read', '/a')).toBe(error);
  });
});

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  createLease,
  encodeLease,
  hasExpired,
  leaseRefused,
  parseLease,
  unlockCommand,
} from '../src/index.ts';

const own = createLease();
const exited = () => ({
  ...own,
  owner: { ...own.owner, pid: spawnSync(process.execPath, ['-e', '']).pid, startTime: '1' },
});

describe('a lease', () => {
  it('is the same after it was stored as text', () => {
    expect(parseLease(encodeLease(own))).toEqual(own);
  });

  it('has a token of its own for each opening of a store', () => {
    expect(createLease().token).not.toBe(own.token);
  });

  it.each([
    ['an empty file', ''],
    ['text that is not JSON', '{"pid":'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an owner without a host', JSON.stringify({ ...own.owner, host: undefined, token: 'a' })],
    ['an owner without a process number', JSON.stringify({ ...own.owner, pid: '7', token: 'a' })],
    ['no token', JSON.stringify(own.owner)],
    ['a token that could leave a folder', JSON.stringify({ ...own.owner, token: '../a' })],
    ['no lease', JSON.stringify({ ...own.owner, token: 'a' })],
    ['a lease that is not a time', JSON.stringify({ ...own.owner, leaseMs: '9', token: 'a' })],
    ['a lease of no time', JSON.stringify({ ...own.owner, leaseMs: 0, token: 'a' })],
    ['a token that is too long', JSON.stringify({ ...own.owner, token: 'a'.repeat(65) })],
  ])('is null for %s', (_, text) => {
    expect(parseLease(text)).toBeNull();
  });

  it('is over when its process has exited, and not before', () => {
    expect(hasExpired(own)).toBe(false);
    expect(hasExpired(exited())).toBe(true);
  });

  it('is not over if its process cannot be checked', () => {
    const lease = exited();
    expect(hasExpired({ ...lease, owner: { ...lease.owner, host: 'elsewhere' } })).toBe(false);
  });
});

describe('the refusal of a claim', () => {
  const refuse = (lease: typeof own, expiresInMs?: number) =>
    leaseRefused(lease, {
      what: 'Dispatch d1',
      howToRelease: `run ${unlockCommand('lab/maps', 'd1')}`,
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      details: { dispatchId: 'd1' },
    });

  it('names the owner, says how to release its lease, and has both in its details', () => {
    const error = refuse({ ...own, owner: { ...own.owner, host: 'elsewhere' } });
    expect(error.code).toBe('STORE_LOCKED');
    expect(error.message).toMatch(
      new RegExp(
        `^Dispatch d1 belongs to process ${process.pid} on elsewhere \\(another host, .*\\)\\. ` +
          'Wait until it is released\\. If that process no longer runs, run hansard store unlock lab/maps/d1\\.$',
      ),
    );
    expect(error.details).toEqual({
      dispatchId: 'd1',
      expiresInMs: null,
      owner: expect.stringContaining(`process ${process.pid} on elsewhere`),
    });
  });

  it('says so if the owner is another opening in the same process', () => {
    expect(refuse(own).message).toContain(`another open store of this process (${process.pid})`);
  });

  it('says when the claim expires, if that is known', () => {
    const error = refuse(own, 12_400);
    expect(error.message).toContain('Its claim expires in 13 s if its owner does not renew it. Wait');
    expect(error.details).toMatchObject({ expiresInMs: 12_400 });
  });

  it('names a command that a shell reads as it is meant', () => {
    const task = "it's a/task";
    const command = unlockCommand(task, 'd1').replace('hansard store unlock', "printf '%s|'");
    expect(spawnSync('sh', ['-c', command], { encoding: 'utf8' }).stdout).toBe(`${task}/d1|`);
  });
});

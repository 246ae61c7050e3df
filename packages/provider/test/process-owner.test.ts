import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { currentProcess, describeOwner, isRunning } from '../src/process-owner.ts';

describe('isRunning', () => {
  const me = currentProcess();

  it('is true of this process', () => {
    expect(isRunning(me)).toBe(true);
    expect(describeOwner(me)).toContain(String(process.pid));
  });

  it('is false of a process that ended', () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    expect(isRunning({ ...me, pid, startTime: null })).toBe(false);
  });

  it.runIf(me.startTime !== null)('is false of an earlier process with the same number', () => {
    expect(isRunning({ ...me, startTime: '1' })).toBe(false);
  });

  it('is true of a process on another host, which cannot be asked', () => {
    expect(isRunning({ pid: 999_999_999, host: `not-${me.host}`, startTime: null })).toBe(true);
  });
});

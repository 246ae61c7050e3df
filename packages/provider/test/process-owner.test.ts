import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
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

  it.runIf(me.startTime !== null)(
    'is false of a process that was killed and that its parent has not noticed yet',
    async () => {
      // The shell starts a child and becomes a `sleep`, which never asks for the end of that child.
      const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 20'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      try {
        const [line] = await once(parent.stdout, 'data');
        const zombie = { ...me, pid: Number(String(line).trim()), startTime: null };
        await vi.waitFor(() => expect(isRunning(zombie)).toBe(false), { timeout: 5_000, interval: 10 });
        expect(() => process.kill(zombie.pid, 0)).not.toThrow();
      } finally {
        parent.kill('SIGKILL');
      }
    },
  );

  it.runIf(me.startTime !== null)('is false of an earlier process with the same number', () => {
    expect(isRunning({ ...me, startTime: '1' })).toBe(false);
  });

  it('is true of a process on another host, which cannot be asked', () => {
    expect(isRunning({ pid: 999_999_999, host: `not-${me.host}`, startTime: null })).toBe(true);
  });
});

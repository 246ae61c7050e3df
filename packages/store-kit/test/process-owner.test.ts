import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { currentProcess, describeOwner, isRunning, type ProcessOwner } from '../src/lease.ts';

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
      // The shell starts a child and becomes a `sleep`, which never asks for the end of that child. The child lives until then.
      const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 20'], {
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

  describe('is true of a process that cannot be asked, and its description says why, where the process', () => {
    const gone = { ...me, pid: 999_999_999 };

    it.each<[string, Partial<ProcessOwner>, string]>([
      ['is on another host', { host: `not-${me.host}` }, 'another host'],
      ['belongs to another boot of the machine', { bootId: 'another' }, 'another boot of the machine'],
      ['is in another PID namespace', { pidNamespace: 'pid:[1]' }, 'another PID namespace'],
    ])('%s', (_, changes, reason) => {
      const owner = { ...gone, ...changes };
      expect(isRunning(owner)).toBe(true);
      expect(describeOwner(owner)).toContain(`(${reason}`);
    });

    it('was recorded by a version that recorded neither boot nor PID namespace', () => {
      const { bootId, pidNamespace, ...recorded } = gone;
      expect(isRunning(recorded as ProcessOwner)).toBe(true);
      expect(describeOwner(recorded as ProcessOwner)).toContain('boot or PID namespace is not recorded');
    });
  });

  it('is false of a process with this boot and PID namespace that is gone, which needs no explanation', () => {
    const gone = { ...me, pid: 999_999_999 };
    expect(isRunning(gone)).toBe(false);
    expect(describeOwner(gone)).toBe(`process 999999999 on ${me.host}`);
  });
});

describe.runIf(process.platform === 'linux')('the record of a process on Linux', () => {
  it('names the boot and the PID namespace, and is the same each time', () => {
    expect(currentProcess()).toEqual({
      pid: process.pid,
      host: expect.any(String),
      startTime: expect.stringMatching(/^\d+$/),
      bootId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      pidNamespace: expect.stringMatching(/^pid:\[\d+\]$/),
    });
    expect(currentProcess()).toEqual(currentProcess());
  });
});

describe('the record of a process on macOS', () => {
  it('names the boot by its time, which is asked for once, when it is needed', async () => {
    const sysctl = vi.fn(() => '{ sec = 1772357400, usec = 123456 } Sun Mar  1 09:30:00 2026\n');
    vi.doMock('node:child_process', () => ({ execFileSync: sysctl }));
    vi.resetModules();
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    onTestFinished(() => {
      platform.mockRestore();
      vi.doUnmock('node:child_process');
      vi.resetModules();
    });
    const owners = await import('../src/lease.ts');
    expect(sysctl).not.toHaveBeenCalled();
    const owner = owners.currentProcess();
    expect(owner).toMatchObject({ bootId: '1772357400', pidNamespace: null });
    expect(owners.isRunning({ ...owner, pid: 999_999_999 })).toBe(false);
    expect(owners.isRunning({ ...owner, pid: 999_999_999, bootId: '1772357399' })).toBe(true);
    expect(sysctl).toHaveBeenCalledTimes(1);
  });
});

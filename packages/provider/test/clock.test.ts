import { spawnSync } from 'node:child_process';
import { systemClock } from '@hansard/provider';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

describe('the system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const thirtyDays = 30 * 24 * 60 * 60 * 1_000;

  it('waits for delays longer than a timer of Node can hold', () => {
    const action = vi.fn();
    systemClock.after(thirtyDays, action);
    vi.advanceTimersByTime(thirtyDays - 1);
    expect(action).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(action).toHaveBeenCalledOnce();
  });

  it('calls off a delay, also when a part of it has passed', () => {
    const action = vi.fn();
    const cancel = systemClock.after(thirtyDays, action);
    vi.advanceTimersByTime(thirtyDays - 1);
    cancel();
    vi.advanceTimersByTime(thirtyDays);
    expect(action).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps the process running while a timer waits, unless the caller does not want that', () => {
    const script = (options: string) =>
      `import { systemClock } from '@hansard/provider';
       systemClock.after(100, () => console.log('called'), ${options});`;
    const run = (options: string) =>
      spawnSync(
        process.execPath,
        ['--conditions=@hansard/source', '--input-type=module', '-e', script(options)],
        { cwd: import.meta.dirname, encoding: 'utf8' },
      ).stdout;
    expect(run('{}')).toBe('called\n');
    expect(run('{ keepsProcess: false }')).toBe('');
  });
});

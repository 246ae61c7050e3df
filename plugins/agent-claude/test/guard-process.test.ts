import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { guardProcess } from '../src/guard-process.ts';

const source = fileURLToPath(new URL('../src/guard-process.ts', import.meta.url));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`The process ${pid} is still there.`);
    await nextTurn();
  }
}

describe.skipIf(process.platform === 'win32')('a guarded process', () => {
  it.each([
    ['ends', 'exec sleep 600'],
    ['that ignores the request ends by force', "trap '' TERM; exec sleep 600"],
  ])('%s when the one that started it is killed', async (_, script) => {
    const program = `
      import { spawn } from 'node:child_process';
      import { guardProcess } from ${JSON.stringify(source)};
      const child = spawn('/bin/sh', ['-c', ${JSON.stringify(script)}], { stdio: 'ignore', detached: true });
      guardProcess(child);
      console.log(child.pid);
      setInterval(() => {}, 1000);`;
    const starter = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = (await once(starter.stdout.setEncoding('utf8'), 'data')).map(Number);
    expect(isAlive(pid ?? 0)).toBe(true);
    starter.kill('SIGKILL');
    await untilGone(pid ?? 0);
  });

  it('is left alone when the guard is called off', async () => {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    const callOff = guardProcess(child);
    callOff();
    // A guard that took it for the end would have ended it before the next process is done.
    await once(spawn('sleep', ['0.2']), 'exit');
    expect(isAlive(child.pid ?? 0)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

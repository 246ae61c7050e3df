import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type DispatchEnvelope, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { currentProcess } from '@hansard/store-kit';
import { appendEvent, createDispatch } from '@hansard/testing';
import { expect, it } from 'vitest';
import { commandLine, demoStream } from './command-line.ts';

it('run reports the status of each dispatch that a process left running', async () => {
  using line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const taskDir = 'research/tasks/route-models';
  for (const dispatchId of ['DONE', 'LOST'])
    await createDispatch(store, taskDir, { role: 'worker', dispatchId });
  const done = newEvent('session:complete', { status: 'completed', costUsd: 0.25 });
  await appendEvent(store, taskDir, 'DONE', done);
  await store.close();
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  for (const name of ['DONE.lock.3', 'LOST.lock.2']) {
    const lock = join(line.cwd, '.projects', taskDir, 'dispatches', name);
    writeFileSync(
      lock,
      JSON.stringify({ ...currentProcess(), pid, startTime: '1', leaseMs: 10_000, token: 'gone' }),
    );
  }

  const run = ['run', demoStream('hook-deny'), '--task', 'research/route-models', '--json'];
  const { code, err } = await line.hansard(...run);
  expect(code).toBe(0);
  expect(err).toContain(
    'worker DONE was left running by a process that has exited; its status is now completed',
  );
  expect(err).toContain(
    'worker LOST was left running by a process that has exited; its status is now crashed',
  );
  const listed = (await line.hansard('ls', 'research/route-models', '--json')).json() as DispatchEnvelope[];
  expect(listed.filter(({ role }) => role === 'worker')).toMatchObject([
    { dispatchId: 'LOST', status: 'crashed', cost: null },
    { dispatchId: 'DONE', status: 'completed', cost: 0.25 },
  ]);
});

it('run in a sandbox leaves a dispatch alone whose writer it cannot see, such as the one that started it', async () => {
  using line = commandLine();
  const root = join(line.cwd, '.projects');
  const store = openDispatchStore(openJsonFileStore({ root }));
  const taskDir = 'research/tasks/route-models';
  const parent = await createDispatch(store, taskDir, { role: 'lead', dispatchId: 'PARENT' });
  await store.close();
  const outside = {
    ...currentProcess(),
    pid: 999_999_999,
    pidNamespace: 'pid:[1]',
    leaseMs: 10_000,
    token: 'outside',
  };
  writeFileSync(join(root, taskDir, 'dispatches/PARENT.lock.2'), JSON.stringify(outside));

  const run = ['run', demoStream('hook-deny'), '--task', 'research/route-models', '--json'];
  const { code, err } = await line.hansard(...run);
  expect([code, err]).toEqual([0, '']);
  await using after = openDispatchStore(openJsonFileStore({ root }));
  expect(await after.getDispatchEnvelope(taskDir, 'PARENT')).toEqual(parent);
  expect(await after.getDispatchEvents(taskDir, 'PARENT')).toEqual([]);
});

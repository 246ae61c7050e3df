import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dispatchId, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished } from 'vitest';
import { openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

/** The ways to start a program in a PID namespace of its own. The machine may allow none of them. */
const ways = [
  ['--pid', '--fork', '--kill-child', '--mount-proc'],
  ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'],
];
const allowed = ways.find((way) => spawnSync('unshare', [...way, 'true']).status === 0);

interface Script {
  readonly child: ChildProcess;
  readonly lines: AsyncIterableIterator<string>;
}

/** Starts a script of `processes/`, which is killed when the test ends. */
function start(args: readonly string[], ...prefix: readonly string[]): Script {
  const [name = '', ...rest] = args;
  const script = join(import.meta.dirname, 'processes', `${name}.ts`);
  const node = [process.execPath, '--conditions=@hansard/source', script, ...rest];
  const [command = '', ...all] = [...prefix, ...node];
  const child = spawn(command, all, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

it('a process in another PID namespace is refused, and the writer that it cannot check loses nothing', async (test) => {
  if (allowed === undefined) test.skip('this machine does not allow `unshare --pid`');
  const path = temporaryPath();
  storeWithDispatch(path).close();
  const writer = start(['append-until-stopped', path, '1000000', dispatchId]);
  let acknowledged = 0;
  const moreEvents = async (count: number) => {
    for (const until = acknowledged + count; acknowledged < until; acknowledged += 1)
      expect((await writer.lines.next()).done).toBe(false);
  };
  await moreEvents(20);
  const other = start(['append-one', path, dispatchId], 'unshare', ...(allowed ?? []));
  expect((await other.lines.next()).value).toMatch(/^STORE_LOCKED .*\(another PID namespace/);
  await moreEvents(200);
  const ended = once(writer.child, 'exit');
  writer.child.kill('SIGKILL');
  for await (const _ of writer.lines) acknowledged += 1;
  await ended;
  const store = openStore(path);
  const events = store.getDispatchEvents(taskDir, dispatchId);
  expect(events).toEqual(growingEvents(events.length));
  expect(events.length).toBeGreaterThanOrEqual(acknowledged);
  store.claimDispatch(taskDir, dispatchId);
  store.appendEvent(taskDir, dispatchId, textEvent('f'));
  expect(store.getRecentEvents(taskDir, dispatchId, 1)).toEqual([textEvent('f')]);
});

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { dispatchFile, makeEvent, makeRoot, openStore, readDocument, taskDir } from './sample.ts';

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
function start(name: string, root: string, length: string, ...prefix: readonly string[]): Script {
  const script = join(import.meta.dirname, 'processes', `${name}.ts`);
  const node = [process.execPath, '--conditions=@hansard/source', script, root, taskDir, 'd1', length];
  const [command = '', ...args] = [...prefix, ...node];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

it('a process in another PID namespace is refused, and the writer that it cannot check loses nothing', async (test) => {
  if (allowed === undefined) test.skip('this machine does not allow `unshare --pid`');
  const root = makeRoot();
  const prepared = openStore(root);
  prepared.createDispatch(taskDir, makeEnvelope('d1'));
  prepared.close();

  const writer = start('append-events', root, '50');
  let acknowledged = Number((await writer.lines.next()).value.slice('ack '.length));
  const other = start('take-lock', root, '', 'unshare', ...(allowed ?? []));
  expect((await other.lines.next()).value).toBe('ready');
  other.child.stdin?.write('go\n');
  expect((await other.lines.next()).value).toBe('STORE_LOCKED');

  for (let line = 0; line < 5; line += 1)
    acknowledged = Number((await writer.lines.next()).value.slice('ack '.length));
  const ended = once(writer.child, 'exit');
  writer.child.kill('SIGKILL');
  for await (const line of writer.lines) acknowledged = Number(line.slice('ack '.length));
  await ended;
  const store = openStore(root);
  store.claimDispatch(taskDir, 'd1');
  const events = store.getDispatchEvents(taskDir, 'd1');
  expect(events.map(({ data }) => data.number)).toEqual(events.map((_, at) => at + 1));
  expect(events.length).toBeGreaterThanOrEqual(acknowledged);
  store.appendEvent(taskDir, 'd1', { ...makeEvent(1), id: '~' });
  expect(readDocument(dispatchFile(root, 'd1')).events).toHaveLength(events.length + 1);
});

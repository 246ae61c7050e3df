import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { startScript } from './processes/start-script.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openStore, readDocument, taskDir } from './sample.ts';

/** The ways to start a program in a PID namespace of its own. The machine may allow none of them. */
const ways = [
  ['--pid', '--fork', '--kill-child', '--mount-proc'],
  ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'],
];
const allowed = ways.find((way) => spawnSync('unshare', [...way, 'true']).status === 0);

/** A folder with a dispatch that is running and not claimed. */
function prepare(): string {
  const root = makeRoot();
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.close();
  return root;
}

const toCount = (line: string) => Number(line.slice('ack '.length));

it('a process in another PID namespace is refused while the writer runs, which loses nothing', async (test) => {
  if (allowed === undefined) test.skip('this machine does not allow `unshare --pid`');
  const root = prepare();
  const leaseMs = 2_000;
  const writer = startScript('append-events', [root, taskDir, 'd1', '50', `${leaseMs}`]);
  let acknowledged = toCount(await writer.nextLine());
  const args = [root, taskDir, 'd1', '', `${leaseMs}`];
  const other = startScript('take-lock', args, ['unshare', ...(allowed ?? [])]);
  expect(await other.nextLine()).toBe('ready');
  for (const begun = performance.now(); performance.now() - begun < leaseMs * 1.3; ) {
    other.child.stdin?.write('go\n');
    expect(await other.nextLine()).toBe('STORE_LOCKED');
    acknowledged = toCount(await writer.nextLine());
  }

  const ended = once(writer.child, 'exit');
  writer.child.kill('SIGKILL');
  for (const line of await writer.restOfLines()) acknowledged = toCount(line);
  await ended;
  const store = openStore(root);
  store.claimDispatch(taskDir, 'd1');
  const events = store.getDispatchEvents(taskDir, 'd1');
  expect(events.map(({ data }) => data.number)).toEqual(events.map((_, at) => at + 1));
  expect(events.length).toBeGreaterThanOrEqual(acknowledged);
  store.appendEvent(taskDir, 'd1', { ...makeEvent(1), id: '~' });
  expect(readDocument(dispatchFile(root, 'd1')).events).toHaveLength(events.length + 1);
});

it('the claim of a process that was killed in another PID namespace is free after a lease', async (test) => {
  if (allowed === undefined) test.skip('this machine does not allow `unshare --pid`');
  const root = prepare();
  const leaseMs = 500;
  const args = [root, taskDir, 'd1', '50', `${leaseMs}`];
  const writer = startScript('append-events', args, ['unshare', ...(allowed ?? [])]);
  let acknowledged = toCount(await writer.nextLine());
  writer.child.kill('SIGKILL');
  for (const line of await writer.restOfLines()) acknowledged = toCount(line);
  const store = openStore(root, { leaseMs });
  const begun = performance.now();
  expect(codeOf(() => store.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
  expect(store.findClaim(taskDir, 'd1')).toMatchObject({ state: 'unknown', isOwn: false });
  await vi.waitFor(() => store.claimDispatch(taskDir, 'd1'), { timeout: 20_000, interval: 20 });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(leaseMs);
  expect(store.getDispatchEvents(taskDir, 'd1').length).toBeGreaterThanOrEqual(acknowledged);
  store.appendEvent(taskDir, 'd1', { ...makeEvent(1), id: '~' });
});

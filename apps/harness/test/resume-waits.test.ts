import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandFromSource } from './command-line.ts';
import { type DurableStore, durableStores } from './durable-stores.ts';
import { files, type RecordedStore, recordStore, task } from './every-command/recorded-store.ts';

/** The ways to start a program in a PID namespace of its own. The machine may allow none of them. */
const ways = [
  ['--pid', '--fork', '--kill-child', '--mount-proc'],
  ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'],
];
const allowed = ways.find((way) => spawnSync('unshare', [...way, 'true']).status === 0);

/** A process that has claimed the dispatch that `resume` resumes, started through a command such as `unshare`. */
async function startOwner(
  { line, latest }: RecordedStore,
  { name }: DurableStore,
  prefix: readonly string[],
  leaseMs = 15_000,
): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'claim-owner.ts');
  const node = [process.execPath, '--conditions=@hansard/source', script];
  const place = [line.cwd, name, 'chat/tasks/talk', latest.dispatchId, `${leaseMs}`];
  const [command = '', ...args] = [...prefix, ...node, ...place];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  expect(value).toBe('claimed');
  return child;
}

interface Waiting {
  readonly child: ChildProcess;
  /** What the command has written to standard error. */
  errors(): string;
  readonly ended: Promise<number | null>;
}

/** `hansard chat --resume` as a process, as soon as it says that it waits. */
async function startWaiting({ line, latest }: RecordedStore): Promise<Waiting> {
  const args = ['chat', files.longerScenario, '--resume', `${task}/${latest.dispatchId}`, '--quiet'];
  const child = spawn(process.execPath, [...commandFromSource, ...args], {
    cwd: line.cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 50_000,
    killSignal: 'SIGKILL',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let errors = '';
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      errors += chunk;
      if (/waiting for up to \d+ s\n/.test(errors)) resolve();
    });
    ended.then((code) => reject(new Error(`resume ended with ${code} before it waited: ${errors}`)));
  });
  return { child, errors: () => errors, ended };
}

const eventsOf = async ({ line, latest }: RecordedStore) =>
  (await line.hansard('show', `${task}/${latest.dispatchId}`, '--raw', '--json')).out;

/** The lease of the command is long, so that only Ctrl-C can end the wait in the time of a test. */
const config = ({ name }: DurableStore, leaseMs: number) => ({
  store: {
    plugin: name === 'SQLite' ? '@hansard/store-sqlite' : '@hansard/store-jsonfile',
    config: { leaseMs },
  },
});

async function expectWaitUntilCtrlC(recorded: RecordedStore, owner: RegExp): Promise<void> {
  const before = await eventsOf(recorded);
  const { child, errors, ended } = await startWaiting(recorded);
  expect(errors()).toMatch(
    /^hansard: Dispatch \S+ belongs to process \d+.* Its claim expires in \d+ s if its owner does not renew it\. .*hansard store unlock chat\/tasks\/talk\/\S+\nhansard: waiting for up to \d+ s\n$/,
  );
  expect(errors()).toMatch(owner);
  const interruptedAt = performance.now();
  child.kill('SIGINT');
  expect(await ended).toBe(1);
  expect(performance.now() - interruptedAt).toBeLessThan(10_000);
  expect(errors()).toMatch(/hansard: STORE_LOCKED: Dispatch \S+ belongs to process \d+/);
  expect(await eventsOf(recorded)).toBe(before);
}

/** Long enough for a process to start and say that it waits. */
const leaseMs = 8_000;

describe.each(durableStores)(
  'hansard chat --resume in the $name store, beside a process in another PID namespace',
  (store) => {
    it('says whose claim it waits for and how long, and Ctrl-C ends it at once', {
      timeout: 120_000,
    }, async ({ skip }) => {
      if (allowed === undefined) skip('this machine does not allow `unshare --pid`');
      const recorded = await recordStore(config(store, 55_000));
      using _ = recorded.line;
      await startOwner(recorded, store, ['unshare', ...(allowed ?? [])]);
      await expectWaitUntilCtrlC(recorded, /another PID namespace/);
    });

    it('resumes when the lease of a process that was killed has expired', async ({ skip }) => {
      if (allowed === undefined) skip('this machine does not allow `unshare --pid`');
      const recorded = await recordStore(config(store, leaseMs));
      using _ = recorded.line;
      const owner = await startOwner(recorded, store, ['unshare', ...(allowed ?? [])], leaseMs);
      const gone = new Promise((resolve) => owner.once('exit', resolve));
      owner.kill('SIGKILL');
      await gone;
      const { ended } = await startWaiting(recorded);
      expect(await ended).toBe(0);
      expect(await eventsOf(recorded)).toContain('One more thing.');
    });
  },
);

it('hansard chat --resume waits in the same way for a process of another host', {
  timeout: 120_000,
}, async () => {
  const [store] = durableStores;
  const recorded = await recordStore(config(store, 55_000));
  using _ = recorded.line;
  const owner = await startOwner(recorded, store, []);
  const gone = new Promise((resolve) => owner.once('exit', resolve));
  owner.kill('SIGKILL');
  await gone;
  const [heartbeat = ''] = globSync('.projects/.writers/*.json', { cwd: recorded.line.cwd });
  const path = join(recorded.line.cwd, heartbeat);
  const lease = JSON.parse(readFileSync(path, 'utf8'));
  // Written in place: the lock is a link to it.
  writeFileSync(
    path,
    JSON.stringify({ ...lease, host: 'elsewhere.example', bootId: null, pidNamespace: null }),
  );
  await expectWaitUntilCtrlC(recorded, /elsewhere\.example/);
});

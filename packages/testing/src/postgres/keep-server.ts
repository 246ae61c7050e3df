/**
 * Keeps one PostgreSQL server for a test. It stops the server and removes the folder when its standard input ends, including when the
 * test process is killed. Arguments: the folder, the programs `initdb` and `postgres`, settings of the server.
 *
 * Reads one command per line, and answers each with a line: `kill` (SIGKILL to the server and all its processes), `start` (after a kill),
 * `standby` (kills it and starts it as a standby). The first line that it prints is the port of the server.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [folder = '', initdb = '', postgres = '', ...settings] = process.argv.slice(2);
const home = join(folder, 'server');
/** PostgreSQL refuses to run as root. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const data = join(home, 'data');
const env = { PATH: process.env.PATH, LANG: 'C', TZ: 'UTC' };

/** `secured` needs its password and `encrypted` needs TLS; everybody else is trusted. */
const accessRules = [
  'host all secured 127.0.0.1/32 scram-sha-256',
  'hostnossl all encrypted 127.0.0.1/32 reject',
  'host all all 127.0.0.1/32 trust',
];

function create(): void {
  mkdirSync(home, { mode: 0o700 });
  if (unprivileged.uid !== undefined) chownSync(home, unprivileged.uid, unprivileged.gid);
  const options = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(initdb, options, { ...unprivileged, env, stdio: 'pipe' });
  own('pg_hba.conf', `${accessRules.join('\n')}\n`);
  for (const name of ['server.crt', 'server.key'])
    own(name, readFileSync(join(import.meta.dirname, name), 'utf8'));
}

function own(name: string, text: string): void {
  const path = join(data, name);
  writeFileSync(path, text, { mode: 0o600 });
  if (unprivileged.uid !== undefined) chownSync(path, unprivileged.uid, unprivileged.gid);
}

/** Resolves with the process when it accepts connections, with null if it exited before. */
function start(port: number): Promise<ChildProcess | null> {
  const given = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${home}`];
  const all = [...given, 'ssl=on', 'fsync=off', 'shared_buffers=32MB', 'max_connections=200', ...settings];
  const options = all.flatMap((setting) => ['-c', setting]);
  const server = spawn(postgres, ['-D', data, ...options], {
    ...unprivileged,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return new Promise((resolve) => {
    server.stderr?.on('data', (text) => {
      if (/ready to accept (read-only )?connections/.test(String(text))) resolve(server);
    });
    server.on('exit', () => resolve(null));
  });
}

async function startUntilReady(
  choosePort: () => number | Promise<number>,
): Promise<readonly [ChildProcess, number]> {
  // A port may have been taken meanwhile, and the processes of a killed server need a moment to exit.
  for (let tries = 0; tries < 100; tries += 1) {
    const port = await choosePort();
    const server = await start(port);
    if (server !== null) return [server, port];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('The server does not start.');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) resolve();
    server.once('exit', () => resolve());
    server.kill(signal);
  });
}

/** Kills the server with all its processes: one that serves a connection can otherwise commit what it has begun. */
async function killAll(server: ChildProcess): Promise<void> {
  const others = childrenOf(server.pid ?? 0);
  await end(server, 'SIGKILL');
  for (const pid of others) signal(pid, 'SIGKILL');
  for (let tries = 0; tries < 100 && others.some((pid) => signal(pid, 0)); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

function childrenOf(pid: number): number[] {
  const text =
    process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      : execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
  return text.trim().split(/\s+/).map(Number);
}

/** Whether there is such a process. */
function signal(pid: number, which: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, which);
  } catch {
    return false;
  }
}

process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
let server: ChildProcess | null = null;
try {
  create();
  const [first, port] = await startUntilReady(freePort);
  server = first;
  writeSync(1, `${port}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'kill' || line === 'standby') await killAll(server);
    if (line === 'standby') own('standby.signal', '');
    if (line === 'start' || line === 'standby') [server] = await startUntilReady(() => port);
    writeSync(1, 'done\n');
  }
} finally {
  // SIGQUIT: at once, without a checkpoint.
  if (server !== null) await end(server, 'SIGQUIT');
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

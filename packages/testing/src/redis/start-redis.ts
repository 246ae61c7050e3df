import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A Redis server of its own for one test file: loopback only, on a free port, in a temporary folder. */
export interface TestRedis {
  readonly port: number;
  url(user?: string, password?: string): string;
  /** SIGKILL. What it has not written to its disk is lost. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with its data, on the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Each answer is on the disk before it is sent. */
const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** Where the server keeps its data: in memory where there is room, so that it does not wait for a disk. A container can have little. */
function fastFolder(): string {
  const inMemory = '/dev/shm';
  const leastFree = 4e9;
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= leastFree ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Such as `7.0.15`; null if this machine has no `redis-server` that a store can use. */
export function redisVersion(): string | null {
  try {
    const text = execFileSync('redis-server', ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    const version = /\bv=(\S+)/.exec(text)?.[1] ?? '';
    return Number(version.split('.')[0]) >= 7 ? version : null;
  } catch {
    return null;
  }
}

export async function startRedis(settings: readonly string[] = durable): Promise<TestRedis> {
  const folder = mkdtempSync(join(fastFolder(), 'hansard-redis-'));
  const port = await freePort();
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  let stop = await startProcess([...fixed, ...settings], port);
  return {
    port,
    url: (user = '', password = '') =>
      `redis://${password === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    kill: () => stop(),
    start: async () => {
      stop = await startProcess([...fixed, ...settings], port);
    },
    stop: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A shell kills the server when its standard input ends, including when the test process is killed. */
async function startProcess(args: readonly string[], port: number): Promise<() => Promise<void>> {
  const program = 'redis-server "$@" </dev/null >&2 & read _; kill -9 $!; wait $!';
  const child = spawn('sh', ['-c', program, 'sh', ...args], {
    // Not in the process group of the tests, so that Ctrl-C in a terminal reaches the tests only.
    ...{ stdio: ['pipe', 'ignore', 'pipe'], detached: true },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let log = '';
  const isReady = () => log.includes('Ready to accept connections');
  child.stderr?.on('data', (text) => {
    if (!isReady()) log += String(text);
  });
  for (let tries = 0; !isReady(); tries += 1) {
    if (tries === 3_000) throw new Error(`The Redis server on port ${port} does not start: ${log}`);
    await pause(10);
  }
  return async () => {
    child.stdin?.end();
    await exited;
  };
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

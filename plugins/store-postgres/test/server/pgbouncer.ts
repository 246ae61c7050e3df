import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Pgbouncer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Such as `1.18.0`; null if this machine has no pgbouncer. */
export function pgbouncerVersion(): string | null {
  try {
    return (
      /PgBouncer (\S+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' }))?.[1] ?? null
    );
  } catch {
    return null;
  }
}

/** From this version on it knows the prepared statements of its clients. */
export function knowsPreparedStatements(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || minor >= 21;
}

/** Starts a pgbouncer in transaction mode in front of a server. */
export async function startPgbouncer(serverPort: number): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-pgbouncer-'));
  const port = await freePort();
  const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(
    settings,
    `[databases]
postgres = host=127.0.0.1 port=${serverPort} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
max_prepared_statements = 100
`.replace(knowsPreparedStatements(pgbouncerVersion() ?? '') ? '' : 'max_prepared_statements = 100\n', ''),
  );
  // As the server, it refuses to run as root.
  const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (unprivileged.uid !== undefined)
    for (const path of [folder, settings, users]) chownSync(path, unprivileged.uid, unprivileged.gid);
  const child = spawn('pgbouncer', [settings], { ...unprivileged, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let log = '';
    child.stderr.on('data', (text) => {
      log += String(text);
      if (log.includes('process up')) resolve();
    });
    void exited.then(() => reject(new Error(`pgbouncer has exited: ${log}`)));
  });
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
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

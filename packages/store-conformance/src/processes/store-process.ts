import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { StoreCapabilities } from '@hansard/provider';
import type { CaseContext } from '../run/case-context.ts';
import { lacksMeans, skipCase } from '../run/conformance-case.ts';
import { type RaceOutcome, type Reply, type Request, sizeOfBatch } from './serve-store.ts';

const runsFromSource = import.meta.url.endsWith('.ts');
const program = fileURLToPath(new URL(runsFromSource ? '../bin.ts' : './bin.js', import.meta.url));
const patience = 30_000;

/** Another process that has opened the store of a case. */
export class StoreProcess {
  readonly #child: ChildProcess;
  readonly #replies: AsyncIterableIterator<string>;
  readonly #exit: Promise<unknown>;
  readonly #count: CaseContext['count'];

  /** `prefix` is a program that starts another one, such as `unshare`. */
  constructor(context: CaseContext, prefix: readonly string[] = []) {
    const { capabilities, elsewhere } = context;
    if (elsewhere === undefined)
      lacksMeans(
        claimOf(capabilities),
        'the fixture has no `elsewhere`, which opens the store in another process',
      );
    const conditions = runsFromSource ? ['--conditions=@hansard/source'] : [];
    const store = [String(elsewhere.module), JSON.stringify(elsewhere.args)];
    const [command = '', ...args] = [
      ...prefix,
      process.execPath,
      ...conditions,
      program,
      '--open-store',
      ...store,
    ];
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    // A request to a process that was killed fails by its missing reply.
    this.#child.stdin?.on('error', () => {});
    this.#count = context.count;
    this.#exit = once(this.#child, 'exit');
    const { stdout } = this.#child;
    if (stdout === null) throw new TypeError('The process has no output.');
    this.#replies = createInterface({ input: stdout })[Symbol.asyncIterator]();
    context.atEnd(async () => void (await this.#end()));
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Waits until the store is open. */
  async opened(): Promise<this> {
    const reply = await this.next();
    if (reply === null || !('ready' in reply))
      throw new Error(`Another process could not open the store: ${JSON.stringify(reply)}`);
    return this;
  }

  send(request: Request): void {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
  }

  /** The outcome of a method: `answer`, or the code of its error and the message. */
  async call(method: string, ...args: readonly unknown[]): Promise<Reply | null> {
    this.send({ method, args });
    return this.next();
  }

  /** The next line of the process; null after its last one. */
  async next(): Promise<Reply | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`Another process did not answer within ${patience} ms.`)),
        patience,
      );
    });
    try {
      const { done, value } = await Promise.race([this.#replies.next(), late]);
      if (done) return null;
      const reply = JSON.parse(value) as Reply;
      if ('acknowledged' in reply) this.#count('acknowledgedEvents', sizeOfBatch(reply.acknowledged));
      if ('error' in reply && reply.error === 'STORE_LOCKED') this.#count('refused');
      return reply;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads its lines until it has acknowledged `batches` batches more. */
  async acknowledge(batches: number): Promise<void> {
    for (let count = 0; count < batches; count += 1) {
      const reply = await this.next();
      if (reply === null || !('acknowledged' in reply))
        throw new Error(`An append failed: ${JSON.stringify(reply)}`);
    }
  }

  /** Tries `attempts` times to claim a dispatch, append a batch and release it, as fast as it can. */
  async race(place: readonly [string, string], prefix: string, attempts: number): Promise<RaceOutcome> {
    let appended: readonly number[] = [];
    let refused = 0;
    let unclaimed = 0;
    // A reply after a few attempts, so that a busy machine is not taken for a process that does not answer.
    for (let first = 0; first < attempts; first += 20) {
      this.send({ raceFor: place, prefix, first, attempts: Math.min(20, attempts - first) });
      const reply = await this.next();
      if (reply === null || !('raced' in reply)) throw new Error(`A write failed: ${JSON.stringify(reply)}`);
      appended = [...appended, ...reply.raced.appended];
      refused += reply.raced.refused;
      unclaimed += reply.raced.unclaimed;
    }
    for (const index of appended) this.#count('acknowledgedEvents', sizeOfBatch(index));
    this.#count('refused', refused);
    return { appended, refused, unclaimed };
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (signal === 'SIGSTOP') this.#count('stops');
    this.#child.kill(signal);
  }

  /** Kills the process and waits for its end. Returns the number of batches that it has acknowledged: the last index and one. */
  async kill(): Promise<number> {
    this.#count('kills');
    return this.#end();
  }

  /** Ends its input, and fails if the process does not exit by itself within `limitMs` milliseconds. */
  async endsByItself(limitMs: number): Promise<void> {
    this.#child.stdin?.end();
    const hasExited = await Promise.race([this.#exit, pause(limitMs, null, { ref: false })]);
    if (hasExited === null)
      throw new Error(`A process whose store was closed did not end within ${limitMs} ms.`);
  }

  async #end(): Promise<number> {
    this.#child.kill('SIGKILL');
    let acknowledged = 0;
    for (let reply = await this.next(); reply !== null; reply = await this.next())
      if ('acknowledged' in reply) acknowledged = reply.acknowledged + 1;
    await this.#exit;
    return acknowledged;
  }
}

/** What only other processes can show. */
function claimOf({ durability, writers }: StoreCapabilities): string {
  const kept = `durability: '${durability}' (the end of a process)`;
  return writers === 'dispatch' ? `${kept} and writers: 'dispatch' (other processes)` : kept;
}

/** Starts another process for the store of a case, and waits until the store is open. */
export async function startProcess(context: CaseContext, prefix?: readonly string[]): Promise<StoreProcess> {
  return new StoreProcess(context, prefix).opened();
}

/** How to start a program in a PID namespace of its own. Skips the case on a machine that allows no way. */
export function inAnotherNamespace(): readonly string[] {
  const ways = [
    ['--pid', '--fork', '--kill-child', '--mount-proc'],
    ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ];
  const allowed = ways.find((way) => spawnSync('unshare', [...way, 'true']).status === 0);
  return allowed === undefined
    ? skipCase('this machine does not allow `unshare --pid`')
    : ['unshare', ...allowed];
}

/** How to start a program that writes no file beyond `blocks` blocks of 512 or 1,024 bytes. */
export function withSmallDisk(blocks: number): readonly string[] {
  if (spawnSync('sh', ['-c', 'ulimit -f 100']).status !== 0) skipCase('this machine has no `ulimit -f`');
  return ['sh', '-c', `ulimit -f ${blocks}; exec "$@"`, 'sh'];
}

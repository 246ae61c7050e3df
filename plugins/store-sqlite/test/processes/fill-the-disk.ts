/**
 * Creates a store on a disk of each size, appends until the disk is full, frees space, appends to the same store, and reads with
 * another one. Prints a line of JSON for each size. Arguments: the way to limit the disk, its folder, and the sizes in KB.
 * `tmpfs` mounts one, so this process must be allowed to; `limit` sets the size of the files that this process may write.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CapturedEvent } from '@hansard/events';
import { dispatchId, envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { openSqliteStore } from '../../src/index.ts';

export interface FilledDisk {
  readonly size: number;
  /** The code of the error of the first write, or `none`. */
  readonly created: string;
  /** The code of the first append that failed. */
  readonly stoppedBy: string;
  readonly acknowledged: number;
  /** The code of the failed write when it is repeated after space was freed, or `none`. */
  readonly retried: string;
  readonly closed: string;
  /** The code of the store that is opened after that. */
  readonly reopened: string;
  /** Whether that store reads exactly the acknowledged events. */
  readonly isWhole: boolean;
}

const disks: Readonly<
  Record<string, (folder: string) => { fill(kilobytes: number): void; freeSpace(): void; leave(): void }>
> = {
  tmpfs: (folder) => ({
    fill: (kilobytes) => run('mount', '-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder),
    freeSpace: () => run('mount', '-o', 'remount,size=16m', folder),
    leave: () => run('umount', folder),
  }),
  limit: () => ({
    fill: (kilobytes) => run('prlimit', '--pid', String(process.pid), `--fsize=${kilobytes * 1024}:`),
    freeSpace: () => run('prlimit', '--pid', String(process.pid), '--fsize=unlimited:'),
    leave: () => {},
  }),
};

function run(command: string, ...words: string[]): void {
  execFileSync(command, words, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function codeOf(work: () => void): string {
  try {
    work();
    return 'none';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const events = Array.from({ length: 300 }, (_, position) =>
  textEvent(`e${String(position).padStart(6, '0')}`, `${position} `.repeat(600)),
);

const [kind = '', folder = '', ...sizes] = process.argv.slice(2);
const disk = disks[kind]?.(folder);
if (disk === undefined) throw new Error(`Unknown kind of disk: ${kind}.`);
for (const size of sizes.map(Number)) {
  mkdirSync(folder, { recursive: true });
  disk.fill(size);
  const path = join(folder, 'hansard.sqlite');
  const acknowledged: CapturedEvent[] = [];
  const store = openSqliteStore({ path });
  const create = () => store.createDispatch(taskDir, envelope());
  const append = () => {
    for (const event of events.slice(acknowledged.length)) {
      store.appendEvent(taskDir, dispatchId, event);
      acknowledged.push(event);
    }
  };
  const created = codeOf(create);
  const stoppedBy = created === 'none' ? codeOf(append) : 'none';
  const count = acknowledged.length;
  disk.freeSpace();
  const retried = codeOf(() => {
    if (created !== 'none') create();
    append();
  });
  const closed = codeOf(() => store.close());
  let isWhole = false;
  const reopened = codeOf(() => {
    const reader = openSqliteStore({ path });
    isWhole = isDeepStrictEqual(reader.getDispatchEvents(taskDir, dispatchId), acknowledged);
    reader.close();
  });
  disk.leave();
  rmSync(folder, { recursive: true });
  const found: FilledDisk = {
    size,
    created,
    stoppedBy,
    acknowledged: count,
    retried,
    closed,
    reopened,
    isWhole,
  };
  writeSync(1, `${JSON.stringify(found)}\n`);
}

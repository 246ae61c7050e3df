import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FilledDisk } from './processes/fill-the-disk.ts';
import { dispatchId, envelope, taskDir } from './sample-data.ts';
import { codeOf, openStore, temporaryPath } from './temporary-store.ts';

/** From less than a database needs to more than its first events need, in KB. */
const sizes = Array.from({ length: 64 }, (_, index) => 4 * (index + 1));

/** Mounts that nobody else sees, and that are gone with the process; also for users who may have them in a namespace of theirs. */
const inNamespace = ['unshare', '--user', '--map-root-user', '--mount'];

function canRun(...[command = '', ...words]: readonly string[]): boolean {
  return spawnSync(command, words, { stdio: 'ignore' }).status === 0;
}

const kinds = [
  {
    kind: 'tmpfs',
    start: inNamespace,
    isPossible: canRun(...inNamespace, 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', '/mnt'),
  },
  { kind: 'limit', start: [], isPossible: canRun('prlimit', '--version') },
];

function fillDisks(kind: string, start: readonly string[]): FilledDisk[] {
  const script = join(import.meta.dirname, 'processes/fill-the-disk.ts');
  const folder = join(dirname(temporaryPath()), 'disk');
  const [command = '', ...words] = [
    ...start,
    process.execPath,
    ...['--conditions=@hansard/source', '--disable-warning=ExperimentalWarning', script, kind, folder],
    ...sizes.map(String),
  ];
  const lines = execFileSync(command, words, { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as FilledDisk);
}

describe.each(kinds)('a disk of 4 to 256 KB that is filled (as a $kind)', ({ kind, start, isPossible }) => {
  it.skipIf(!isPossible)(
    'fails the first write or a later append with STORE_UNAVAILABLE, appends again once there is room, and keeps what was acknowledged',
    { timeout: 60_000 },
    () => {
      const disks = fillDisks(kind, start);
      expect(disks.map(({ size }) => size)).toEqual(sizes);
      const wrong = disks.filter(
        ({ created, stoppedBy, retried, closed, reopened, isWhole }) =>
          ![created, stoppedBy].includes('STORE_UNAVAILABLE') ||
          [retried, closed, reopened].some((code) => code !== 'none') ||
          !isWhole,
      );
      expect(wrong).toEqual([]);
      // Both of it: the first write failed on the smallest, and some could take events.
      expect(disks[0]?.created).toBe('STORE_UNAVAILABLE');
      expect(disks.at(-1)?.acknowledged).toBeGreaterThan(0);
    },
  );
});

describe('a new database of which not all reached the disk', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([0, 4096, 8192])('is not put in its place where %d bytes did', (length) => {
    const close = DatabaseSync.prototype.close;
    const closing = vi.spyOn(DatabaseSync.prototype, 'close').mockImplementation(function (
      this: DatabaseSync,
    ) {
      const file = this.location();
      close.call(this);
      if (file?.endsWith('.new')) truncateSync(file, length);
    });
    const path = temporaryPath();
    const store = openStore(path);
    const create = () => store.createDispatch(taskDir, envelope());
    expect(codeOf(create)).toBe('STORE_UNAVAILABLE');
    expect(create).toThrow(`${path} could not be made`);
    expect(readdirSync(dirname(path))).toEqual([]);
    closing.mockRestore();
    create();
    expect(store.getDispatchEnvelope(taskDir, dispatchId)).toEqual(envelope());
  });
});

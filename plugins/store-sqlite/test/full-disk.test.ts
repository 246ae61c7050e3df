import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dispatchId, envelope, taskDir } from '@hansard/testing/store-samples';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FilledDisk } from './processes/fill-the-disk.ts';
import { codeOf, openStore, temporaryPath } from './temporary-store.ts';

/** Sizes in KB, from less than a database needs to more than its first events need. */
const sizes = Array.from({ length: 64 }, (_, index) => 4 * (index + 1));

/** Mounts that only the process sees and that end with it, including in a user namespace where the system allows one. */
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
    'makes the first write or a later append STORE_UNAVAILABLE, appends again when there is free space, and keeps acknowledged events',
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
      // Both cases occur: the first write failed on the smallest disk, and some disks took events.
      expect(disks[0]?.created).toBe('STORE_UNAVAILABLE');
      expect(disks.at(-1)?.acknowledged).toBeGreaterThan(0);
    },
  );
});

describe('a new database that the disk did not keep completely', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([0, 4096, 8192])('is not put at its path if the disk kept %d bytes', (length) => {
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
    expect(create).toThrow(`${path} could not be created`);
    expect(readdirSync(dirname(path))).toEqual([]);
    closing.mockRestore();
    create();
    expect(store.getDispatchEnvelope(taskDir, dispatchId)).toEqual(envelope());
  });
});

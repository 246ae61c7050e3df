import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { type DurableStore, durableStores, recordedIn, typed } from './durable-stores.ts';

const unlock = ['store', 'unlock', 'a/one/D1FIRST'] as const;
const dispatch = { taskDir: 'a/tasks/one', dispatchId: 'D1FIRST' };

/** A process that has claimed D1FIRST until the test ends. */
async function startOwner({ cwd }: CommandLine, { name }: DurableStore) {
  const script = join(import.meta.dirname, 'claim-owner.ts');
  const child = spawn(
    process.execPath,
    ['--conditions=@hansard/source', script, cwd, name, dispatch.taskDir, dispatch.dispatchId],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 30_000,
      killSignal: 'SIGKILL',
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => (await lines.next()).value ?? 'the process has ended';
  expect(await nextLine()).toBe('claimed');
  return {
    pid: child.pid,
    /** Appends an event with this id; the outcome. */
    append(id: string): Promise<string> {
      child.stdin.write(`${id}\n`);
      return nextLine();
    },
  };
}

async function idsIn(line: CommandLine): Promise<string[]> {
  const { code, out } = await line.hansard('show', 'a/one/D1FIRST', '--raw', '--json');
  expect(code).toBe(0);
  return out
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row).id);
}

describe.each(durableStores)('hansard store unlock in the $name store', (store) => {
  it('says that a dispatch is not claimed, as text and as JSON', async () => {
    using line = await recordedIn(store);
    expect(await line.hansard(...unlock)).toEqual(
      expect.objectContaining({ code: 0, out: 'Session D1FIRST of a/one is not claimed.\n', err: '' }),
    );
    const asJson = await line.hansard(...unlock, '--json');
    expect([asJson.code, asJson.json()]).toEqual([0, [{ ...dispatch, claim: null, isBroken: false }]]);
  });

  it('refuses an unknown dispatch', async () => {
    using line = await recordedIn(store);
    const { code, err } = await line.hansard('store', 'unlock', 'a/one/NONE', '--yes');
    expect([code, err]).toEqual([1, expect.stringContaining('a/one has no session NONE')]);
  });

  it('shows the owner, and changes nothing without an answer or after no', async () => {
    using line = await recordedIn(store);
    const owner = await startOwner(line, store);
    const described = `Session D1FIRST of a/one belongs to process ${owner.pid} on `;

    const refused = await line.hansard(...unlock);
    expect([refused.code, refused.out]).toEqual([2, '']);
    for (const text of [described, 'That process is running.', 'not a terminal', 'Add --yes'])
      expect(refused.err).toContain(text);
    expect(await owner.append('E1')).toBe('appended');

    const no = await typed(line, unlock, 'n');
    expect([no.code, no.out]).toEqual([0, 'Session D1FIRST of a/one is unchanged.\n']);
    expect(no.err).toContain(described);
    expect(no.err).toContain('Release it? [y/N]');
    expect(await owner.append('E2')).toBe('appended');
    expect((await idsIn(line)).slice(3)).toEqual(['E1', 'E2']);
  });

  it.each([
    ['--yes', (line: CommandLine) => line.hansard(...unlock, '--yes')],
    ['the answer yes', (line: CommandLine) => typed(line, unlock, 'y')],
  ])('after %s, the owner is refused and nothing that it writes is in the log', async (_, answer) => {
    using line = await recordedIn(store);
    const owner = await startOwner(line, store);
    expect(await owner.append('BEFORE')).toBe('appended');

    const { code, out, err } = await answer(line);
    expect([code, out]).toEqual([0, 'Session D1FIRST of a/one is free.\n']);
    expect(err).toContain(`belongs to process ${owner.pid} on `);

    for (const id of ['AFTER1', 'AFTER2']) expect(await owner.append(id)).toBe('STORE_LOCKED');
    expect((await idsIn(line)).slice(3)).toEqual(['BEFORE']);
    expect(await line.hansard(...unlock)).toMatchObject({
      code: 0,
      out: expect.stringContaining('is not claimed'),
    });
    expect(await line.hansard('store', 'verify')).toMatchObject({ code: 0 });
  });

  it('prints the claim that it ended as JSON', async () => {
    using line = await recordedIn(store);
    const owner = await startOwner(line, store);
    const { code, json } = await line.hansard('store', 'unlock', 'a/one/FIRST', '--yes', '--json');
    const claim = {
      owner: expect.stringContaining(`process ${owner.pid} on `),
      isOwn: false,
      state: 'running',
      expiresInMs: null,
    };
    expect([code, json()]).toEqual([0, [{ ...dispatch, claim, isBroken: true }]]);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { expect, it, onTestFinished } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const token = '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';
const taskDir = 'b/tasks/two';
const dispatchId = 'D1';

/** An ended dispatch with a secret in each of three events, whose copy a killed process has left beside it. */
async function killedCopy(): Promise<CommandLine & { readonly copy: string }> {
  const line = commandLine();
  const root = join(line.cwd, '.projects');
  {
    await using store = openDispatchStore(openJsonFileStore({ root }));
    await using dispatch = await store.beginDispatch(taskDir, {
      role: 'worker',
      dispatchId,
      fidelity: 'full',
    });
    // The copy is written in parts of a megabyte.
    const text = `${token} ${'and many more words '.repeat(30_000)}`;
    await dispatch.append([1, 2, 3].map(() => newEvent('agent:text', { text })));
    await dispatch.end({ status: 'completed' });
  }
  const script = join(import.meta.dirname, 'stop-in-rewrite.ts');
  const args = ['--conditions=@hansard/source', script, root, taskDir, dispatchId, '3'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  const copies = globSync('.projects/**/.*.tmp', { cwd: line.cwd });
  expect(copies).toEqual([expect.stringMatching(/\.D1\.2\.tmp$/)]);
  const copy = join(line.cwd, String(copies[0]));
  expect(readFileSync(copy, 'utf8')).toContain(token);
  return Object.assign(line, { copy });
}

/** The files of the store that contain the secret. */
function withSecret({ cwd }: CommandLine): string[] {
  const files = globSync('.projects/**/*', { cwd, exclude: [] }).concat(globSync('.projects/**/.*', { cwd }));
  return files.filter((file) => {
    const path = join(cwd, file);
    return statSync(path).isFile() && readFileSync(path, 'utf8').includes(token);
  });
}

it('the copy of a killed process is named by verify and scan-secrets, and redact removes it', async () => {
  using line = await killedCopy();
  const named = `${line.copy}, a copy that a process did not finish: \`hansard secrets redact\` removes it.`;
  const verified = await line.hansard('store', 'verify');
  expect(verified.code).toBe(0);
  expect(verified.out).toContain(`Not verified: ${named}`);
  expect(verified.out).toMatch(/all whole; 1 place not verified\.\n$/);
  const scanned = await line.hansard('secrets', 'scan', 'b/two/D1');
  expect([scanned.code, scanned.out]).toEqual([4, expect.stringContaining(`Not scanned: ${named}`)]);
  expect((await line.hansard('secrets', 'redact', '--yes')).code).toBe(0);
  expect(withSecret(line)).toEqual([]);
  const again = await line.hansard('secrets', 'scan');
  expect([again.code, again.out]).toEqual([0, '1 session, 4 events: no secret.\n']);
  expect((await line.hansard('store', 'verify')).out).toMatch(/: all whole\.\n$/);
});

it('a copy that is found when no secret is left in the log is not ignored', async () => {
  using line = await killedCopy();
  renameSync(line.copy, join(line.cwd, 'aside'));
  await line.hansard('secrets', 'redact', '--yes');
  // As an earlier version left it: without the lock of its owner.
  renameSync(join(line.cwd, 'aside'), line.copy);
  const scanned = await line.hansard('secrets', 'scan');
  expect([scanned.code, scanned.out]).toEqual([
    3,
    expect.stringContaining(': no secret; 1 place not scanned.'),
  ]);
  expect(scanned.out).toContain(line.copy);
  const { code, out } = await line.hansard('secrets', 'redact', '--yes');
  expect([code, out]).toEqual([0, '1 session: no secret was replaced.\n']);
  expect(withSecret(line)).toEqual([]);
});

it('files that belong to no dispatch are named by each command, and only what a process left is removed', async () => {
  using line = await killedCopy();
  const folder = join(line.cwd, '.projects', taskDir, 'dispatches');
  const own = join(folder, 'D1.json.bak');
  writeFileSync(own, token);
  writeFileSync(join(folder, '.NEVER.1.tmp'), token);
  writeFileSync(join(line.cwd, '.projects', taskDir, '.task.tmp'), token);
  for (const command of ['store verify', 'secrets scan'])
    for (const name of ['D1.json.bak', '.NEVER.1.tmp', '.task.tmp', '.D1.2.tmp'])
      expect((await line.hansard(...command.split(' '))).out).toContain(`/${name}, `);
  const { code, err } = await line.hansard('secrets', 'redact', '--yes');
  expect(code).toBe(0);
  expect(err).toContain(`Not covered: ${own}, which belongs to no dispatch: delete the file.`);
  expect(withSecret(line).map((file) => join(line.cwd, file))).toEqual([own]);
});

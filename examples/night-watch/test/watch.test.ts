import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openHarness } from '@hansard/compose';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-night-watch-'));
  writeFileSync(join(folder, 'server.log'), 'started\nError: no route /about\nstopped\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program as its user does, in a folder with a home of its own. */
async function watch(
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const program = join(import.meta.dirname, '../src/watch.ts');
  return promisify(execFile)(process.execPath, ['--conditions=@hansard/source', program, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
  });
}

it.each([
  ['a folder without a configuration', {}],
  ['the store that a configuration names', { store: '@hansard/store-sqlite' }],
])('a program that composes Hansard in one call records its agent in %s', async (_, config) => {
  if (Object.keys(config).length > 0)
    writeFileSync(join(folder, 'hansard.config.json'), JSON.stringify(config));
  const { stdout, stderr } = await watch('server.log');
  expect(stderr).toBe('');
  const [, id = ''] = /^(\S+) completed\n$/.exec(stdout) ?? [];
  await using harness = await openHarness({
    ...{ cwd: folder, env: {}, load: 'store' },
    packageDirs: [import.meta.dirname],
  });
  const events = await harness.store.getDispatchEvents('house/tasks/night-watch', id);
  expect(events.map(({ type }) => type)).toEqual([
    'user:message',
    'agent:tool_call',
    'agent:tool_result',
    'agent:text',
    'session:complete',
  ]);
  expect(events[2]?.data.output).toBe('Error: no route /about');
});

it('an agent that fails is recorded as crashed, and the program says so', async () => {
  const { stdout } = await watch('absent.log');
  expect(stdout).toMatch(/^\S+ crashed\n$/);
});

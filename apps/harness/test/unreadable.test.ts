import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createDispatch, updateDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

const taskDir = 'a/tasks/one';

/** Two dispatches, FIRST and SECOND, of the task a/one. */
async function recorded(): Promise<CommandLine> {
  const line = commandLine();
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  for (const dispatchId of ['FIRST', 'SECOND']) {
    await createDispatch(store, taskDir, { role: 'worker', dispatchId });
    await updateDispatch(store, taskDir, dispatchId, { status: 'completed' });
  }
  return line;
}

function pathOf(line: CommandLine, name: string): string {
  return join(line.cwd, '.projects', taskDir, name);
}

describe.skipIf(process.platform === 'win32').each<[string, (path: string) => unknown]>([
  ['a named pipe (FIFO)', (path) => spawnSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a symbolic link', (path) => symlinkSync('nothing', path)],
])('%s in the place of a dispatch', (kind, put) => {
  async function damaged() {
    const line = await recorded();
    const file = pathOf(line, 'dispatches/FIRST.json');
    rmSync(file);
    put(file);
    // A command that waits for a pipe can only be killed, so it gets a process of its own.
    const hansard = kind.includes('FIFO') ? line.process : line.hansard;
    return { line, file, hansard };
  }

  it.each(['ls', 'tree', 'show'])(
    'is named by %s, which shows the others and exits with 3',
    async (command) => {
      const { line, file, hansard } = await damaged();
      using _ = line;
      const { code, out, err } = await hansard(command, 'a/one');
      expect([code, err]).toEqual([3, expect.stringContaining(`1 of 2 sessions of a/one can't be read`)]);
      expect(err).toContain(`STORE_CORRUPT: ${file} is ${kind}, and not a regular file.`);
      expect(out).toContain('SECOND');
    },
  );

  it('does not hinder a sibling that is named by its id or the end of it', async () => {
    const { line, hansard } = await damaged();
    using _ = line;
    for (const name of ['SECOND', 'OND'])
      expect(await hansard('show', `a/one/${name}`)).toMatchObject({ code: 0, err: '' });
  });

  it('is reported by run, which records all the same', async () => {
    const { line, file, hansard } = await damaged();
    using _ = line;
    const { code, out, err } = await hansard('run', demoStream('hook-deny'), '--task', 'a/one', '-q');
    expect([code, out]).toEqual([0, expect.stringMatching(/^\S+ completed\n$/)]);
    expect(err).toContain(file);
  });
});

it.each(['latest', 'FIRST', 'RST'])(
  'show %s fails by name where the dispatch that it means, or may mean, is a folder',
  async (name) => {
    using line = await recorded();
    const file = pathOf(line, 'dispatches/FIRST.json');
    rmSync(file);
    mkdirSync(file);
    const { code, err } = await line.hansard('show', `a/one/${name}`);
    expect([code, err]).toEqual([3, expect.stringContaining(file)]);
  },
);

it('export of a dispatch reports a sibling that is a folder, and exports all the same', async () => {
  using line = await recorded();
  const file = pathOf(line, 'dispatches/FIRST.json');
  rmSync(file);
  mkdirSync(file);
  const { code, err } = await line.hansard('export', 'a/one/SECOND', '--as', 'otlp', '--out', 'spans');
  expect([code, err]).toEqual([0, expect.stringContaining(file)]);
});

it('ls lists every other task where the dispatches of one lead out of the store', async () => {
  using line = await recorded();
  const { hansard } = line;
  expect(await hansard('run', demoStream('hook-deny'), '--task', 'b/two', '-q')).toMatchObject({ code: 0 });
  const folder = pathOf(line, 'dispatches');
  renameSync(folder, join(line.cwd, 'elsewhere'));
  symlinkSync(join(line.cwd, 'elsewhere'), folder);
  writeFileSync(pathOf(line, 'task.json'), readFileSync(join(line.cwd, '.projects/b/tasks/two/task.json')));
  const { code, out, err } = await hansard('ls', '--tasks');
  expect([code, err]).toEqual([1, expect.stringContaining("1 of 2 tasks can't be read completely")]);
  expect(err).toContain('a/one: STORE_INVALID_PATH:');
  expect(out).toMatch(/^a\/one .* unreadable$/m);
  expect(out).toMatch(/^b\/two .* 1 +open$/m);
  const sessions = await hansard('ls');
  expect([sessions.code, sessions.err]).toEqual([1, expect.stringContaining('a/one: STORE_INVALID_PATH:')]);
  expect(sessions.out).toMatch(/^two .* b /m);
});

it('run and import report a damaged record of the task, and record all the same', async () => {
  using line = await recorded();
  const file = pathOf(line, 'task.json');
  writeFileSync(file, 'damaged');
  const source = join(line.cwd, 'stream.jsonl');
  writeFileSync(source, readFileSync(demoStream('hook-deny')));
  for (const command of [['run', '--quiet'], ['import']]) {
    const { code, err } = await line.hansard(...command, source, '--task', 'a/one');
    expect([code, err]).toEqual([0, expect.stringContaining(`STORE_CORRUPT: ${file} is damaged at byte 0`)]);
    expect(err).toContain('Only listings need the record of a task; recording continues.');
  }
  expect((await line.hansard('ls', 'a/one', '--json')).json()).toHaveLength(4);
  expect(readFileSync(file, 'utf8')).toBe('damaged');
});

describe.skipIf(process.platform === 'win32')('a named pipe as the source', () => {
  it.each(['run --task a/one', 'import', 'import --as claude-stream', 'import --as session-v2 --task a/one'])(
    'of `%s` is refused with what to do, instead of waited for or half read',
    async (words) => {
      using line = commandLine();
      const pipe = join(line.cwd, 'pipe');
      spawnSync('mkfifo', [pipe]);
      const { code, err } = await line.process(...words.split(' '), 'pipe');
      expect([code, err]).toEqual([1, expect.stringContaining(`${pipe} is a pipe`)]);
      expect(err).toContain('Write it to a file, and name that file. Nothing was recorded.');
      expect((await line.hansard('ls')).out).toMatch(
        /^No sessions yet in \S+\. `hansard demo` records some, /,
      );
    },
  );
});

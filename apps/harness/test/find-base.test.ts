import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine, demoStream, hansardIn } from './command-line.ts';

let top: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'hansard-base-')));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function folder(...parts: readonly string[]): string {
  const path = join(top, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

describe('a command', () => {
  it('reads and records in the folder that it finds, names or is given by HANSARD_ROOT', async () => {
    using line = commandLine();
    const stream = demoStream('tools-and-thinking');
    const below = join(line.cwd, 'src', 'deep');
    mkdirSync(below, { recursive: true });
    expect(await line.hansard('run', stream, '--task', 'a/first', '-q')).toMatchObject({ code: 0 });
    expect(await hansardIn(below, ['run', stream, '--task', 'a/second', '-q'])).toMatchObject({ code: 0 });
    const tasks = async (cwd: string, env: Record<string, string>, ...args: string[]) => {
      const { signal } = new AbortController();
      const answer = await hansardIn(cwd, ['ls', '--json', ...args], { signal, env });
      return (answer.json() as { taskDir: string }[]).map(({ taskDir }) => taskDir).sort();
    };
    const both = ['a/tasks/first', 'a/tasks/second'];
    expect(await tasks(below, {})).toEqual(both);
    expect(await tasks(top, {}, '--root', line.cwd)).toEqual(both);
    expect(await tasks(top, { HANSARD_ROOT: line.cwd })).toEqual(both);
    expect(await tasks(below, { HANSARD_ROOT: top })).toEqual([]);
    expect(await tasks(below, { HANSARD_ROOT: top }, '--root', '../..')).toEqual(both);
    expect(await tasks(top, {})).toEqual([]);
  });

  it('says where it looked for a missing task', async () => {
    const cwd = folder('empty');
    const none = `${cwd}/.projects`;
    expect((await hansardIn(cwd, ['ls'])).out).toBe(
      `No sessions yet in ${none}. \`hansard demo\` records some, \`hansard import PATH\` imports those of other tools.\n`,
    );
    const searched = await hansardIn(cwd, ['show', 'a/b']);
    expect([searched.code, searched.err]).toEqual([
      1,
      expect.stringContaining('There is no session or task "a/b".'),
    ]);
    expect(searched.err).toContain(
      `Looked in ${none}: neither ${cwd} nor a folder above it has .projects or hansard.config.json.`,
    );
    const other = folder('other');
    writeFileSync(join(other, 'hansard.config.json'), JSON.stringify({ store: '@hansard/store-sqlite' }));
    const named = await hansardIn(cwd, ['show', 'tea', '--root', '../other']);
    expect(named.err).toContain('There is no session or task "tea".');
    expect(named.err).toMatch(/Looked in \S+\/other\/\.projects\.\n$/);
  });

  it('takes a configuration or a root, and not both', async () => {
    const answer = await hansardIn(top, ['ls', '--root', '.', '--config', 'x.json']);
    expect([answer.code, answer.err]).toEqual([
      2,
      expect.stringContaining("'--root <folder>' cannot be used with"),
    ]);
  });
});

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { DispatchEnvelope } from '@hansard/events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CommandLine, commandFromSource, commandLine } from './command-line.ts';
import { lines, put, uuid } from './import-files.ts';

const secret = `sk-ant-api03-${'aB3dE5gH1j'.repeat(9)}abcAA`;

function rows(id: string, from: number, count: number, text = 'prompt'): string {
  const common = { isSidechain: false, cwd: '/work/shop', sessionId: id };
  return lines(
    ...Array.from({ length: count }, (_, at) => ({
      ...common,
      type: 'user',
      uuid: uuid(from + at + 1_000 * id.length),
      parentUuid: from + at === 0 ? null : uuid(from + at - 1 + 1_000 * id.length),
      timestamp: new Date(Date.UTC(2026, 2, 1, 9, 0, from + at)).toISOString(),
      message: { role: 'user', content: `${text} ${from + at}` },
    })),
  );
}

const transcript = (id: string) => `home/.claude/projects/-work-shop/${id}.jsonl`;

const environment = (line: CommandLine) => ({
  ...{ HOME: join(line.cwd, 'home'), TZ: 'UTC', NO_COLOR: '1', HANSARD_MACHINE: 'lab' },
  PATH: process.env.PATH,
});

const hansard = (line: CommandLine, ...args: string[]) =>
  line.start(args, { signal: new AbortController().signal, env: environment(line) });

async function listed(line: CommandLine, ...args: string[]): Promise<DispatchEnvelope[]> {
  return (await hansard(line, 'ls', '--json', ...args)).json() as DispatchEnvelope[];
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); !(await isSo()); await wait(50))
    if (performance.now() - begun > 60_000) throw new Error('It did not happen in time.');
}

function startWatch(line: CommandLine): ChildProcess {
  const watcher = spawn(process.execPath, [...commandFromSource, 'watch'], {
    cwd: line.cwd,
    env: environment(line),
    stdio: 'ignore',
  });
  onTestFinished(() => void watcher.kill('SIGKILL'));
  return watcher;
}

describe('hansard watch', () => {
  it('imports what is new with --once, without secrets, and names the machine', async () => {
    using line = commandLine();
    put(line, transcript('one'), rows('one', 0, 2, `use ${secret} for`));
    const answer = await hansard(line, 'watch', '--once');
    expect([answer.code, answer.out.split('\n').at(-2)]).toEqual([0, '1 session imported.']);
    expect(await listed(line, '--machine', 'lab')).toHaveLength(1);
    expect(await listed(line, '--machine', 'other')).toEqual([]);
    const log = (await hansard(line, 'show', 'latest', '--raw', '--json')).out;
    expect(log).toContain('[REDACTED:');
    expect(log).not.toContain(secret);
    rmSync(join(line.cwd, transcript('one')));
    const gone = await hansard(line, 'watch', '--once', '--json');
    expect(gone.json()).toEqual([{ imported: 0, gone: 1 }]);
    expect((await hansard(line, 'ls')).err).toContain(
      '1 of them is gone from the source, and kept here only.',
    );
    const [status] = (await hansard(line, 'watch', 'status', '--json')).json();
    expect(status).toMatchObject({
      sessions: 1,
      sourcesGone: 1,
      watchers: [{ machine: 'lab', mode: 'once', isRunning: false, failure: null, problems: [] }],
      exclusions: [],
    });
    expect((await hansard(line, 'search', 'use')).code).toBe(0);
  });

  it('leaves out what --exclude names until --include, and what was deleted', async () => {
    using line = commandLine();
    put(line, transcript('one'), rows('one', 0, 2));
    await hansard(line, 'watch', '--once', '--exclude', 'shop');
    expect(await listed(line)).toEqual([]);
    expect((await hansard(line, 'watch', 'status')).out).toContain('left out: shop');
    expect(await hansard(line, 'watch', '--once', '--include', 'web')).toMatchObject({ code: 1 });
    await hansard(line, 'watch', '--once', '--include', 'shop');
    expect(await listed(line)).toHaveLength(1);
    await hansard(line, 'store', 'delete', 'latest', '--yes');
    appendFileSync(join(line.cwd, transcript('one')), rows('one', 2, 2));
    await hansard(line, 'watch', '--once');
    expect(await listed(line)).toEqual([]);
  });

  it('follows as a process of its own, refuses a second one, and continues after kill -9', async () => {
    using line = commandLine();
    put(line, transcript('one'), rows('one', 0, 2));
    const first = startWatch(line);
    await until(async () => (await listed(line)).length === 1);
    expect(await hansard(line, 'watch')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Another process watches for this store already.'),
    });
    expect(await hansard(line, 'watch', '--once')).toMatchObject({ code: 0 });
    const running = (await hansard(line, 'watch', 'status', '--json')).json();
    expect(running).toMatchObject([{ watchers: [{ isRunning: true }] }]);
    first.kill('SIGKILL');
    await once(first, 'exit');
    put(line, transcript('three'), rows('three', 0, 2));
    const second = startWatch(line);
    await until(async () => (await listed(line)).length === 2);
    rmSync(join(line.cwd, transcript('one')));
    await until(async () => (await listed(line)).some(({ source }) => source?.gone !== undefined));
    second.kill('SIGTERM');
    const [code] = await once(second, 'exit');
    expect(code).toBe(0);
  });
});

describe('hansard watch install', () => {
  const settings = 'home/.claude/settings.json';
  const own = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }] }, model: 'opus' };

  it('writes a unit that systemd accepts and hooks beside those of the user, and uninstall removes both', async () => {
    using line = commandLine();
    put(line, settings, JSON.stringify(own));
    const printed = await hansard(line, 'watch', 'install', '--as', 'systemd');
    expect(printed.out).toContain('WantedBy=default.target');
    const unit = join(line.cwd, 'home/.config/systemd/user/hansard-watch.service');
    expect(existsSync(unit)).toBe(false);
    for (const _ of [1, 2]) await hansard(line, 'watch', 'install', '--as', 'systemd', '--write');
    const verified = spawnSync('systemd-analyze', ['verify', '--user', unit], { encoding: 'utf8' });
    if (verified.error === undefined)
      expect(verified.stderr).not.toMatch(/hansard-watch.*(?:Unknown|invalid|ignoring)/i);
    const written = JSON.parse(readFileSync(join(line.cwd, settings), 'utf8'));
    expect(written).toMatchObject({
      model: 'opus',
      hooks: {
        Stop: [
          ...own.hooks.Stop,
          { hooks: [{ async: true, command: expect.stringContaining('watch --root') }] },
        ],
        SessionEnd: [{ hooks: [{ async: true }] }],
      },
    });
    expect((await hansard(line, 'watch', 'uninstall', '--as', 'systemd')).out).toContain('Removed: ');
    expect(existsSync(unit)).toBe(false);
    expect(JSON.parse(readFileSync(join(line.cwd, settings), 'utf8'))).toEqual(own);
    expect((await hansard(line, 'watch', 'uninstall', '--as', 'systemd')).out).toBe(
      'Nothing was installed.\n',
    );
  });

  it('writes an agent for launchd, and changes no settings that it cannot read', async () => {
    using line = commandLine();
    mkdirSync(join(line.cwd, 'home/a & b'), { recursive: true });
    await hansard(
      line,
      'watch',
      'install',
      '--as',
      'launchd',
      '--write',
      '--root',
      join(line.cwd, 'home/a & b'),
    );
    const agent = readFileSync(join(line.cwd, 'home/Library/LaunchAgents/hansard-watch.plist'), 'utf8');
    expect(agent).toContain('a &amp; b</string>');
    const open: string[] = [];
    for (const [, end, name = '', empty] of agent
      .replace(/<[?!].*?>/g, '')
      .matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g))
      if (end === '/') expect(open.pop()).toBe(name);
      else if (empty !== '/') open.push(name);
    expect(open).toEqual([]);
    put(line, settings, '{ not json');
    expect(await hansard(line, 'watch', 'install', '--write')).toMatchObject({ code: 1 });
    expect(readFileSync(join(line.cwd, settings), 'utf8')).toBe('{ not json');
  });
});

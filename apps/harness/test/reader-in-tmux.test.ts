import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type CommandLine, commandFromSource, commandLine } from './command-line.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const ended = 'lab/cafe/ended';

/** Milliseconds, below the limit of a test, so that a failure shows the screen. */
const patienceMs = Number(process.env.PATIENCE ?? 100_000);

let cli: CommandLine;
/** A server of each test, so that no session of the person who runs this is touched. */
let socket = '';
let servers = 0;
/** What a shell runs to start the command. */
const hansard = [process.execPath, ...commandFromSource].map((word) => `'${word}'`).join(' ');

beforeAll(async () => {
  cli = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  const begin = (dispatchId: string, parentDispatchId: string | null = null) =>
    store.beginDispatch('lab/tasks/cafe', { role: 'host', dispatchId, parentDispatchId, fidelity: 'full' });
  const created = (agentId: string, name: string): NewEvent => ({
    type: 'agent:created',
    agentId,
    data: { name, languageModel: 'm' },
  });
  const said = (agentId: string, text: string): NewEvent => ({ type: 'agent:text', agentId, data: { text } });
  const dispatch = await begin('ended');
  await dispatch.append([
    created('a', 'Jack'),
    created('b', 'Jill 東京'),
    ...Array.from({ length: 40 }, (_, at) => said(at % 2 === 0 ? 'a' : 'b', `line ${at} of the talk 🙂`)),
  ]);
  const worker = await begin('worker', 'ended');
  await worker.append(said('w', 'by the worker'));
  await worker.end({ status: 'completed' });
  await dispatch.end({ status: 'completed' });
  await store.close();
});

afterEach(() => void spawnSync('tmux', ['-L', socket, 'kill-server']));
afterAll(() => cli?.[Symbol.dispose]());

/** A real terminal with a shell, in tmux. */
class Terminal {
  static open(columns: number, lines: number, env: Readonly<Record<string, string>> = {}): Terminal {
    const { CI: _, TMUX: __, NO_COLOR: ___, ...inherited } = process.env;
    servers += 1;
    socket = `hansard-${process.pid}-${servers}`;
    const size = ['-x', String(columns), '-y', String(lines)];
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', 'new-session', '-d', ...size, 'sh'], {
      cwd: cli.cwd,
      env: { ...inherited, HOME: cli.cwd, TZ: 'UTC', LC_ALL: 'C.UTF-8', ...env },
    });
    const terminal = new Terminal();
    // A shell of root does not take its prompt from the environment.
    terminal.command("PS1='rea''dy> '");
    return terminal;
  }

  #run(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' });
  }

  keys(...keys: readonly string[]): void {
    this.#run('send-keys', ...keys);
  }

  command(text: string): void {
    this.#run('send-keys', '-l', text);
    this.keys('Enter');
  }

  lines(): string[] {
    return this.#run('capture-pane', '-p').split('\n');
  }

  /** Its state: the alternate screen, the cursor, wrapping. */
  flags(): string {
    return this.#run('display-message', '-p', '#{alternate_on} #{cursor_flag} #{wrap_flag}').trim();
  }

  resize(columns: number, lines: number): void {
    this.#run('resize-window', '-x', String(columns), '-y', String(lines));
  }

  /** What it shows when it fits. */
  async until(what: string | RegExp): Promise<string> {
    let text = '';
    for (const end = performance.now() + patienceMs; performance.now() < end; await pause(20)) {
      text = this.lines().join('\n');
      if (typeof what === 'string' ? text.includes(what) : what.test(text)) return text;
    }
    throw new Error(`The terminal never shows ${what}:\n${text}`);
  }

  /** Starts the reader from a shell that prints its settings of the terminal before and afterwards. */
  async read(args: string, before = ''): Promise<void> {
    await this.until('ready>');
    this.command(
      `clear; stty -g > before; ${before}${hansard} show ${args} -i; echo "exit $?"; stty -g > after`,
    );
    await this.until('q quit');
  }

  /** The id of the process of the reader: the child of the shell. */
  async reader(): Promise<number> {
    const shell = this.#run('display-message', '-p', '#{pane_pid}').trim();
    return Number(execFileSync('ps', ['-o', 'pid=', '--ppid', shell], { encoding: 'utf8' }).trim());
  }

  /** The terminal is as it was, and the shell continues. */
  async expectGivenBack(code: RegExp): Promise<void> {
    await this.until(code);
    this.command('cmp before after && echo same settings');
    await this.until(/^same settings$/m);
    expect(this.flags()).toBe('0 1 1');
    expect(this.lines().join('\n')).not.toContain('Sessions, agents');
  }
}

const inTmux = it.runIf(hasTmux);
it.skipIf(hasTmux)('needs tmux, which is not on this machine', (context) => context.skip());

inTmux.each([
  [80, 24],
  [140, 40],
])('switches between agents and workers, searches and shows an event, at %i × %i', async (columns, lines) => {
  const terminal = Terminal.open(columns, lines);
  await terminal.read('lab/cafe');
  await terminal.until('line 3 of the talk 🙂');
  expect(terminal.flags()).toBe('1 0 0');
  // Wide characters are where they belong: the line between the panes is straight.
  const between = terminal
    .lines()
    .slice(1, lines - 2)
    .map((line) => [...line.replaceAll(/東京/g, '____')].indexOf('│'));
  expect(new Set(between).size).toBe(1);
  terminal.keys('/', 'line 33', 'Enter');
  await terminal.until(/▌ {2,}35 .*[\s\S]*1 of 1/);
  terminal.keys('Enter');
  await terminal.until('"text": "line 33 of the talk 🙂"');
  terminal.keys('Escape');
  await terminal.until(/^(?![\s\S]*"text")/);
  terminal.keys('Tab', 'j');
  await terminal.until(/▌[ ●] *Jack/);
  terminal.keys('Enter');
  await terminal.until(/● *Jack/);
  terminal.keys('G');
  expect(await terminal.until('line 38 of')).not.toMatch(/line \d*[13579] of/);
  terminal.keys('Tab', 'G', 'Enter');
  await terminal.until('by the worker');
  terminal.keys('h');
  await terminal.until('stay at the end');
  terminal.keys('h', 'q');
  await terminal.expectGivenBack(/^exit 0$/m);
});

inTmux('follows a resize, and suspends until fg', async () => {
  const terminal = Terminal.open(80, 24);
  await terminal.read(ended);
  terminal.resize(140, 40);
  await terminal.until(/^ Sessions, agents {10,}│/m);
  terminal.resize(50, 10);
  await terminal.until(/^(?![\s\S]*Sessions)[\s\S]*line 1 /);
  terminal.keys('C-z');
  await terminal.until(/Stopped|Suspended/);
  expect(terminal.flags()).toBe('0 1 1');
  terminal.command('stty -g > stopped; cmp before stopped && echo same');
  await terminal.until(/^same$/m);
  terminal.command('fg');
  await terminal.until('q quit');
  expect(terminal.flags()).toBe('1 0 0');
  terminal.keys('G');
  await terminal.until('line 39');
  terminal.keys('q');
  await terminal.until(/ready>$/m);
  expect(terminal.flags()).toBe('0 1 1');
});

inTmux.each([
  ['TERM', 143],
  ['INT', 130],
  ['HUP', 129],
] as const)(
  'ends without a word after SIG%s, with the exit code %i, and gives the terminal back',
  async (signal, code) => {
    const terminal = Terminal.open(80, 24);
    await terminal.read(ended);
    process.kill(await terminal.reader(), `SIG${signal}`);
    const screen = await terminal.until(new RegExp(`^exit ${code}$`, 'm'));
    const after = screen.slice(screen.indexOf('echo "exit $?"'));
    expect(after).not.toMatch(/hansard:|unexpected|Error|HANSARD_DEBUG|^ +at /m);
    await terminal.expectGivenBack(new RegExp(`^exit ${code}$`, 'm'));
  },
);

inTmux('gives the terminal back after a crash, and the error is readable', async () => {
  const terminal = Terminal.open(80, 24);
  const fault = "process.once('SIGUSR2', () => { throw new Error('boom'); });";
  writeFileSync(join(cli.cwd, 'crash.mjs'), fault);
  const crash = "NODE_OPTIONS='--import ./crash.mjs' ";
  await terminal.read(ended, crash);
  process.kill(await terminal.reader(), 'SIGUSR2');
  await terminal.expectGivenBack(/Error: boom[\s\S]*^exit 1$/m);
});

inTmux('ends without a screen for what it cannot show, as show does', async () => {
  const terminal = Terminal.open(100, 24);
  for (const [words, message] of [
    ['lab/nothing', 'no session or task'],
    ['lab/cafe --role nobody', 'has the role nobody'],
    ['lab/cafe/ended 999', 'has no event 999'],
  ]) {
    await terminal.until('ready>');
    // The awaited line ends with the words of this command. A slow shell may still show the end of the command before.
    terminal.command(`clear; ${hansard} show ${words} -i; echo "exit $?: ${words}"`);
    const text = await terminal.until(new RegExp(`^exit 1: ${words}$`, 'm'));
    expect(text).toContain(message);
    expect(terminal.flags()).toBe('0 1 1');
  }
});

inTmux('follows a session of another process', async () => {
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  const dispatch = await store.beginDispatch('lab/tasks/live', {
    role: 'host',
    dispatchId: 'live',
    fidelity: 'full',
  });
  await dispatch.append(newEvent('agent:text', { text: 'the first words' }));
  const terminal = Terminal.open(80, 24);
  await terminal.read('lab/live -f');
  await terminal.until('the first words');
  for (let at = 0; at < 50; at += 1) await dispatch.append(newEvent('agent:text', { text: `word ${at}.` }));
  const text = await terminal.until('word 49.');
  expect(text.match(/word 45\./g)).toHaveLength(1);
  await dispatch.end({ status: 'completed' });
  await terminal.until(/^.*completed/);
  await store.close();
  terminal.keys('q');
  await terminal.expectGivenBack(/^exit 0$/m);
});

inTmux.each([
  ['TERM=dumb', 'TERM is dumb'],
  ['CI=1', 'CI is set'],
])('prints plainly with %s', async (setting, reason) => {
  const terminal = Terminal.open(100, 60);
  await terminal.until('ready>');
  terminal.command(`${setting} ${hansard} show ${ended} -i --no-pager; echo "exit $?"`);
  const text = await terminal.until(/^exit 0$/m);
  expect(text).toContain(reason);
  expect(text).toContain('line 39 of the talk');
  expect(terminal.flags()).toBe('0 1 1');
});

it('prints plainly into a pipe, and says why on standard error', async () => {
  const { code, out, err } = await cli.hansard('show', ended, '-i');
  const plain = await cli.hansard('show', ended);
  expect([code, out]).toEqual([0, plain.out]);
  expect(err).toBe('hansard: the output is not a terminal, so this is printed as without --interactive.\n');
});

it.each([['--raw'], ['--json'], ['-n', '3'], ['--speed', '2'], ['--full']])(
  'refuses %s',
  async (...options) => {
    const { code, err } = await cli.hansard('show', ended, '-i', ...options);
    expect(code).toBe(2);
    expect(err).toContain('--interactive');
  },
);

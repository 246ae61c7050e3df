import { describe, expect, it } from 'vitest';
import { documentedCode } from '../../../scripts/markdown-code.ts';
import { createProgram } from '../src/cli.ts';
import { commandLine, demoStream } from './command-line.ts';

const context = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  cwd: '/',
  env: {},
  signal: new AbortController().signal,
  readSignal: new AbortController().signal,
};
const program = await createProgram(context);
const commands = new Map(program.commands.map((command) => [command.name(), command]));

describe('help', () => {
  it('lists the commands in the same words before and after they are loaded', async () => {
    const unloaded = await createProgram(context, []);
    expect(unloaded.commands.flatMap(({ options }) => options)).toEqual([]);
    expect(unloaded.helpInformation()).toBe(program.helpInformation());
  });

  it('of each command has an example', async () => {
    using line = commandLine();
    for (const name of commands.keys()) {
      const { out, code } = await line.hansard('help', name);
      expect([name, code, out]).toEqual([name, 0, expect.stringMatching(/Examples?:\n {2}hansard/)]);
    }
  });

  it('explains commands below a command, asked in either way', async () => {
    using line = commandLine();
    const own = await line.hansard('judge', 'pack', '--help');
    expect(own.out).toContain('Usage: hansard judge pack');
    expect(await line.hansard('help', 'judge', 'pack')).toMatchObject({ code: 0, out: own.out, err: '' });
    expect(await line.hansard('judge', 'help', 'pack')).toMatchObject({ code: 0, out: own.out, err: '' });
  });

  it.each([
    [['help', 'nonsense'], /unknown command 'nonsense'/],
    [['help', 'serch'], /unknown command 'serch'\n\(Did you mean search\?\)/],
    [['help', 'judge', 'pakc'], /unknown command 'pakc'\n\(Did you mean pack\?\)/],
    [['judge', 'help', 'pakc'], /unknown command 'pakc'\n\(Did you mean pack\?\)/],
    [['serch', '--help'], /unknown command 'serch'\n\(Did you mean search\?\)/],
    [['events', 'a/b'], /unknown command 'events'/],
    [['judge', 'pakc', '-h'], /unknown command 'pakc'\n\(Did you mean pack\?\)/],
    [['help', 'ls', 'tasks'], /hansard ls has no commands of its own, such as 'tasks'/],
  ])('says that there is no such command, and which is near: %j', async (words, message) => {
    using line = commandLine();
    expect(await line.hansard(...words)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(message),
    });
  });

  it('is at hand where an argument is missing: how the command goes, and where examples are', async () => {
    using line = commandLine();
    expect((await line.hansard('why', 'a/b')).err).toBe(
      "error: missing required argument 'event'\nUsage: hansard why [options] <session> <event>\n(`hansard help why` shows examples)\n",
    );
    expect((await line.hansard('judge', 'pack', 'a/b')).err).toMatch(
      /\(`hansard help judge pack` shows examples\)\n$/,
    );
    expect((await line.hansard('nonsense')).err).toMatch(/\(`hansard help` lists the commands\)\n$/);
    expect((await line.hansard('judge', 'nonsense')).err).toMatch(
      /\(`hansard judge help` lists the commands\)\n$/,
    );
  });

  it('has 30 commands, each with one line of purpose', async () => {
    using line = commandLine();
    expect(commands.size).toBe(30);
    for (const command of commands.values()) expect(command.description().length).toBeLessThan(90);
    const { out } = await line.hansard('help');
    expect(out.match(/^ {2}[a-z]+ /gm)?.length).toBeGreaterThanOrEqual(24);
  });

  it('has the common options once, in `help options`', async () => {
    using line = commandLine();
    const { out, code } = await line.hansard('help', 'options');
    expect(code).toBe(0);
    for (const option of ['--config', '--root', '--json', '--utc', '--no-pager']) {
      expect(out).toContain(option);
      expect((await line.hansard('help', 'show')).out).not.toMatch(new RegExp(`^ +${option} `, 'm'));
    }
  });

  it('without a command says what is here, and three things to do next, which work', async () => {
    using line = commandLine();
    const empty = await line.hansard();
    expect(empty).toMatchObject({ code: 0, err: '' });
    expect(empty.out).toMatch(/^No sessions yet in /m);
    expect(empty.out.match(/^ {2}hansard /gm)).toHaveLength(3);
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    const { out } = await line.hansard();
    expect(out).toMatch(/^1 session of 1 task in /m);
    const next = [...out.matchAll(/^ {2}hansard (.*?) {2,}/gm)].map(([, words = '']) => words);
    expect(next).toEqual(['ls', 'show latest', 'view']);
    for (const words of next.slice(0, 2))
      expect(await line.hansard(...words.split(' '))).toMatchObject({ code: 0, err: '' });
  });

  it('of exports fits 80 columns', async () => {
    using line = commandLine();
    const { out } = await line.hansard('help', 'export');
    expect(out.split('\n').filter((text) => text.length > 80)).toEqual([]);
  });

  it('exists for every option that documents and examples use', async () => {
    using line = commandLine();
    const shown = await Promise.all(
      [...commands.keys()].map(async (name) => (await line.hansard('help', name)).out),
    );
    const texts = [
      ...documentedCode()
        .filter(({ language }) => language === 'sh')
        .map(({ code }) => code),
      ...shown,
    ];
    const uses = texts.flatMap((text) =>
      [...text.matchAll(/^\s*(?:npx )?(?:\S*pnpm\S* )?hansard (.+)$/gm)].map(([, use = '']) => use),
    );
    expect(uses.length).toBeGreaterThan(8);
    for (const use of uses) {
      const [name = '', ...words] = use.split(/\s+/);
      const command = commands.get(name);
      expect(command?.name(), use).toBe(name);
      const nested = command?.commands.find((subcommand) => subcommand.name() === words[0]);
      const known = (nested ?? command)?.options.flatMap(({ short, long }) => [short, long]);
      for (const option of words.filter((word) => /^--?[a-z]/.test(word)))
        expect(known, use).toContain(option);
    }
  });
});

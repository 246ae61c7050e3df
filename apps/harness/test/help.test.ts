import { describe, expect, it } from 'vitest';
import { documentedCode } from '../../../scripts/markdown-code.ts';
import { createProgram } from '../src/cli.ts';
import { commandLine } from './command-line.ts';

const program = createProgram({
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  cwd: '/',
  env: {},
  signal: new AbortController().signal,
  readSignal: new AbortController().signal,
});
const commands = new Map(program.commands.map((command) => [command.name(), command]));

describe('help', () => {
  it('of each command has an example', async () => {
    using line = commandLine();
    for (const name of commands.keys()) {
      const { out, code } = await line.hansard('help', name);
      expect([name, code, out]).toEqual([name, 0, expect.stringMatching(/Examples?:\n {2}hansard/)]);
    }
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

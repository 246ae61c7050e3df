import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTable } from '../src/commands/command-table.ts';
import { commandLine } from './command-line.ts';

const line = commandLine();
afterAll(() => line[Symbol.dispose]());

/** What a real bash offers for a line, of which the last word is being typed. */
function offered(...words: readonly string[]): readonly string[] {
  const program = `source completion.bash
COMP_WORDS=(hansard ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_hansard
printf '%s\\n' "\${COMPREPLY[@]}"
complete -p hansard`;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '--noprofile', '-u', '-c', program], {
    cwd: line.cwd,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.pop()).toBe('complete -F _hansard hansard');
  return lines.filter((one) => one !== '').toSorted();
}

describe('the completion for bash', () => {
  beforeAll(async () => {
    const { code, out } = await line.hansard('completion', 'bash');
    expect(code).toBe(0);
    writeFileSync(join(line.cwd, 'completion.bash'), out);
    mkdirSync(join(line.cwd, 'streams'));
    writeFileSync(join(line.cwd, 'stream.jsonl'), '');
  });

  it('offers every command, and those that begin with a word', () => {
    expect(offered('')).toEqual([...commandTable.map(({ name }) => name), 'help'].toSorted());
    expect(offered('s')).toEqual(['search', 'secrets', 'send', 'show', 'store']);
  });

  it.each(['store', 'secrets'])('offers the words of %s that its description names', (command) => {
    const { description = '' } = commandTable.find(({ name }) => name === command) ?? {};
    const named = description.split(': ')[1]?.split(', ') ?? [];
    const files = ['completion.bash', 'stream.jsonl', 'streams'];
    expect(offered(command, '')).toEqual([...named, ...files, 'help', '--help'].toSorted());
  });

  it('offers the options of a command, and files', () => {
    expect(offered('ls', '--')).toEqual([
      '--config',
      '--help',
      '--json',
      '--limit',
      '--machine',
      '--no-pager',
      '--pending',
      '--project',
      '--root',
      '--sort',
      '--status',
      '--tasks',
      '--utc',
    ]);
    expect(offered('ls', '--json', '--so')).toEqual(['--sort']);
    expect(offered('run', 'stre')).toEqual(['stream.jsonl', 'streams']);
  });

  it('offers the commands of a command, and their options', () => {
    expect(offered('judge', 'pa')).toEqual(['pack']);
    expect(offered('judge', 'pack', '--map')).toEqual(['--mapping']);
  });
});

it('the completion for fish names every command and option, with quotes that end', async () => {
  const { out, code } = await line.hansard('completion', 'fish');
  expect(code).toBe(0);
  const lines = out.trimEnd().split('\n').slice(1);
  for (const one of lines)
    expect(one).toMatch(
      /^complete -c hansard -n '(?:[^'\\]|\\.)*' (?:-a|-l) (?:'[\w-]+'|[\w-]+) -d '(?:[^'\\]|\\.)*'$/,
    );
  for (const { name } of commandTable)
    expect(lines.filter((one) => one.includes(`-n '__fish_use_subcommand' -a '${name}' `))).toHaveLength(1);
});

it('the completion for zsh is that of bash with what loads it', async () => {
  const [zsh, bash] = [await line.hansard('completion', 'zsh'), await line.hansard('completion', 'bash')];
  expect(zsh.out).toBe(`autoload -U +X bashcompinit && bashcompinit\n${bash.out}`);
});

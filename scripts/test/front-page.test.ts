import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { oldestNode } from '../engines/oldest-node.ts';
import { documentedCode } from '../markdown-code.ts';
import { root, workspacePackages } from '../workspace.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-front-page-'));
/** Not below the other one, whose log would be found from it. */
const home = mkdtempSync(join(tmpdir(), 'hansard-front-page-home-'));
afterAll(() => {
  for (const made of [folder, home]) rmSync(made, { recursive: true, force: true });
});
const ofLanguage = (languages: readonly string[]) =>
  documentedCode().filter(({ language }) => languages.includes(language));

describe('the oldest Node of users', () => {
  it('is the one that every package names', () => {
    const node = oldestNode();
    if (node === null)
      throw new Error('There is no oldest Node for this machine; `npx pnpm@12 test` installs it.');
    for (const { folder: home } of workspacePackages().filter((entry) => !entry.private)) {
      const { engines } = JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8'));
      expect(engines.node, home).toBe(`>=${node.version.replace(/^v|\.0$/g, '')}`);
    }
  });

  it('runs each program of the front page with the built packages', async () => {
    const programs = ofLanguage(['ts', 'js']).filter(({ place }) => place.startsWith('README.md:'));
    expect(programs.length).toBeGreaterThan(0);
    symlinkSync(join(root, 'apps/harness/node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const printed: string[] = [];
    for (const [at, { code }] of programs.entries()) {
      const file = join(folder, `program-${at}.ts`);
      writeFileSync(file, code);
      const env = { PATH: process.env.PATH, HOME: folder };
      const { stdout } = await promisify(execFile)(oldestNode()?.executable ?? '', [file], {
        cwd: folder,
        env,
      });
      printed.push(stdout);
    }
    expect(printed).toEqual(['0 agent:text\n']);
  });

  it('finds no declaration with `using`, which it cannot parse, in the programs of the READMEs', () => {
    const programs = ofLanguage(['ts', 'js']);
    expect(programs.length).toBeGreaterThan(20);
    for (const { place, code } of programs) expect(code, place).not.toMatch(/^\s*(?:await )?using \w+ =/m);
  });
});

describe('the commands of the front page', () => {
  const [block] = ofLanguage(['console']).filter(({ place }) => place.startsWith('README.md:'));
  const shown = (block?.code ?? '').split(/^\$ /m).slice(1);

  it('are three, and begin with the package of the command', () => {
    const { name } = JSON.parse(readFileSync(join(root, 'apps/harness/package.json'), 'utf8'));
    expect(shown).toHaveLength(3);
    for (const one of shown) expect(one).toMatch(new RegExp(`^npx ${name} `));
  });

  it('print what the page shows', async () => {
    cpSync(join(root, 'docs/front-page'), join(home, '.claude'), { recursive: true });
    const printed: string[] = [];
    for (const one of shown) {
      const [, words = ''] = /^npx \S+ (.*)$/m.exec(one) ?? [];
      const args = words.split(' ').map((word) => word.replace(/^~/, home));
      const command = ['--conditions=@hansard/source', join(root, 'apps/harness/src/bin.ts'), ...args];
      const env = { PATH: process.env.PATH, HOME: home, TZ: 'UTC', NO_COLOR: '1' };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: home, env });
      expect(stderr).toBe('');
      printed.push(`npx hansard ${words}\n${stdout}`);
    }
    expect(printed.map((text) => text.trimEnd())).toEqual(shown.map((text) => text.trimEnd()));
  });
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandFromSource, hansardIn } from '../../apps/harness/test/command-line.ts';
import { documentedCode } from '../markdown-code.ts';
import { root } from '../workspace.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-documented-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Why a documented command is not run here. */
const notRun: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^show -f /, 'follows until Ctrl-C'],
  [/^import ~/, 'reads the home folder'],
  [/^import --undo/, 'deletes the import before, which is not run'],
];

const commands = documentedCode()
  .filter(({ place, language }) => place.startsWith('docs/command-line.md') && language === 'sh')
  .flatMap(({ code }) => [...code.matchAll(/^npx pnpm@12 hansard (.*?)(?: +#.*)?$/gm)])
  .map(([, words = '']) => words);

describe('the commands of docs/command-line.md, in their order', () => {
  beforeAll(() => {
    for (const name of ['apps', 'examples']) symlinkSync(join(root, name), join(folder, name));
  });

  it('are all found, and few of them are not run', () => {
    expect(commands.length).toBeGreaterThan(10);
    for (const [pattern] of notRun) expect(commands.filter((words) => pattern.test(words))).not.toEqual([]);
    expect(commands.filter((words) => notRun.some(([pattern]) => pattern.test(words))).length).toBeLessThan(
      6,
    );
  });

  it.each(commands.filter((words) => !notRun.some(([pattern]) => pattern.test(words))))(
    '%s',
    async (words) => {
      const { code, out, err } = await run(words);
      expect([code, code === 0 ? '' : err]).toEqual([0, '']);
      if (!/--quiet|--out|--resume/.test(words)) expect(out).not.toBe('');
    },
  );
});

/** Commands whose plugins print to the output of the process. */
const ofItsOwnProcess = /^(?:run|chat)\b/;

/** Runs a command as a shell would: words, quotes, and no terminal. */
async function run(words: string): Promise<{ code: number | null; out: string; err: string }> {
  const args = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) =>
    (quoted ?? plain).replace(/^\/tmp\//, `${folder}/`),
  );
  if (!ofItsOwnProcess.test(words)) return hansardIn(folder, args);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...commandFromSource, ...args], {
    cwd: folder,
    env: { ...process.env, HOME: join(folder, 'home') },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 240_000,
  });
  return { code: status, out: stdout, err: stderr };
}

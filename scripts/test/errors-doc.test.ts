import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../workspace.ts';

const documented = [
  ...readFileSync(join(root, 'docs/errors.md'), 'utf8').matchAll(/^\| `([A-Z_]+)` \|/gm),
].map(([, code = '']) => code);

/** Every code in a `…ErrorCodes` list of the sources. */
const inCode = globSync('{packages,plugins,apps}/*/src/**/*.ts', { cwd: root }).flatMap((path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/ErrorCodes = \[([^\]]*)\] as const/g)].flatMap(
    ([, list = '']) => [...list.matchAll(/'([A-Z_]+)'/g)].map(([, code = '']) => code),
  ),
);

describe('docs/errors.md', () => {
  it('has a row for each code, and no other', () => {
    expect(inCode.length).toBeGreaterThan(25);
    expect([...documented].sort()).toEqual([...inCode].sort());
  });

  it('has a row for each code once, with what to do', () => {
    expect(new Set(documented).size).toBe(documented.length);
    const rows = readFileSync(join(root, 'docs/errors.md'), 'utf8')
      .split('\n')
      .filter((line) => /^\| `[A-Z_]+` \|/.test(line));
    for (const row of rows)
      expect(row.split(' | ').map((cell) => cell.trim().length > 3)).toEqual([true, true, true]);
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { root, workspacePackages } from '../workspace.ts';

const script = fileURLToPath(new URL('../check-built.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hansard-unbuilt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function check() {
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
  return { status, stderr };
}

describe('packing a package', () => {
  it('is refused while a file that its manifest names does not exist', () => {
    const target = {
      '@hansard/source': './src/index.ts',
      types: './dist/index.d.ts',
      default: './dist/index.js',
    };
    const manifest = {
      name: '@acme/one',
      exports: { '.': target, './schema/*.json': './schema/*.json', './package.json': './package.json' },
      bin: { one: './dist/bin.js' },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    for (const name of ['src', 'dist']) mkdirSync(join(folder, name));
    for (const file of ['src/index.ts', 'dist/index.js']) writeFileSync(join(folder, file), '');
    const refused = check();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('@acme/one is not built: ./dist/index.d.ts, ./dist/bin.js must exist.');
    expect(refused.stderr).toContain('pnpm build');

    for (const file of ['dist/index.d.ts', 'dist/bin.js']) writeFileSync(join(folder, file), '');
    expect(check()).toEqual({ status: 0, stderr: '' });
  });

  it('is checked for every package that is published', () => {
    const published = workspacePackages().filter((workspacePackage) => !workspacePackage.private);
    expect(published.length).toBeGreaterThan(20);
    for (const { folder: path, name } of published) {
      const { scripts } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
      expect([name, scripts.prepack]).toEqual([name, 'node ../../scripts/check-built.ts']);
    }
  });
});

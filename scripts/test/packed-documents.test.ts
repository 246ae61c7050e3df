import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenLinks } from '../markdown-links.ts';
import { packPackages } from '../pack.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-packed-documents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the documents in the packed packages', { timeout: 120_000 }, () => {
  const homes = new Map<string, string>();

  beforeAll(() => {
    for (const { name, tarball } of packPackages(folder)) {
      const home = join(folder, name);
      mkdirSync(home, { recursive: true });
      execFileSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1']);
      homes.set(name, home);
    }
  }, 120_000);

  it('have no link that leads out of the package, to a missing file or to a missing heading', () => {
    expect(homes.size).toBeGreaterThan(20);
    for (const [name, home] of homes) {
      const documents = globSync('**/*.md', { cwd: home });
      expect(documents, name).toContain('README.md');
      for (const document of documents) expect(brokenLinks(home, document), name).toEqual([]);
    }
  });

  it('bring the template and the guide to the authors of a store', () => {
    const home = homes.get('@hansard/store-conformance') ?? '';
    const files = [
      'writing-a-store.md',
      'template/package.json',
      'template/plugin.json',
      'template/tsconfig.json',
    ];
    const sources = ['template/src/index.ts', 'template/test/conformance.test.mjs'];
    for (const file of [...files, ...sources]) expect(existsSync(join(home, file)), file).toBe(true);
  });
});

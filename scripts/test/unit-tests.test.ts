import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { heavyReason, heavyTests, longestTests, slowTests, testFiles } from '../unit-tests.ts';
import { root } from '../workspace.ts';

/** Files as `read` gives them. */
const files =
  (sources: Readonly<Record<string, string>>) =>
  (path: string): string =>
    sources[path] ?? '';

describe('pnpm test:unit', () => {
  it('leaves out a test that reaches an engine through a helper', () => {
    const read = files({
      'packages/a/test/b.test.ts': "import { c } from './c.ts';",
      'packages/a/test/c.ts': "export { d } from '../../../scripts/engines/browser.ts';",
    });
    expect(heavyReason('packages/a/test/b.test.ts', read)).toBe('engine');
  });

  it('leaves out a test that starts a database server', () => {
    const test = 'plugins/store-postgres/test/a.test.ts';
    const read = files({ [test]: "import { useServer } from '@hansard/testing/postgres-in-tests';" });
    expect(heavyReason(test, read)).toBe('server');
  });

  it('leaves out a test that needs built packages', () => {
    const read = files({ 'scripts/test/b.test.ts': "import { packPackages } from '../pack.ts';" });
    expect(heavyReason('scripts/test/b.test.ts', read)).toBe('package');
  });

  it('leaves out a test that starts processes itself, and keeps one whose helper can', () => {
    const spawning = "import { spawn } from 'node:child_process';";
    const read = files({
      'packages/a/test/b.test.ts': spawning,
      'packages/a/test/c.test.ts': "import { line } from './line.ts';",
      'packages/a/test/line.ts': spawning,
    });
    expect(heavyReason('packages/a/test/b.test.ts', read)).toBe('process');
    expect(heavyReason('packages/a/test/c.test.ts', read)).toBeNull();
  });

  it('leaves out a test that replaces modules, which needs a worker of its own', () => {
    const read = files({ 'packages/a/test/b.test.ts': 'vi.mock(import("../src/c.ts"));' });
    expect(heavyReason('packages/a/test/b.test.ts', read)).toBe('mock');
  });

  it('keeps every other test, and most of them', () => {
    const all = globSync([...testFiles], { cwd: root });
    // The tests of a database server are never unit tests, however many there are.
    const avoidable = heavyTests().filter((file) => heavyReason(file) !== 'server');
    expect(avoidable.length).toBeLessThan(all.length / 5);
    expect(heavyTests()).not.toContain('scripts/test/unit-tests.test.ts');
  });

  it('starts the longest files first, which exist, and heavy ones before the others', () => {
    for (const file of longestTests) expect(existsSync(join(root, file)), file).toBe(true);
    const heavy = longestTests.map((file) => heavyReason(file) !== null);
    expect(heavy).toEqual(heavy.toSorted((one, other) => Number(other) - Number(one)));
  });

  it('names only slow files that exist and that no other rule leaves out', () => {
    for (const file of slowTests) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(heavyReason(file)).toBe('slow');
    }
  });
});

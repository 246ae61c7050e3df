import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFiles } from '../unit-tests.ts';
import { root } from '../workspace.ts';

const text = readFileSync(join(root, 'docs/security.md'), 'utf8');

interface DefendedRow {
  readonly attack: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

/** The rows of the tables with a column for tests. */
function rowsOf(document: string): DefendedRow[] {
  return document.split(/^\| attack \| defence \| test \|\n\|---\|---\|---\|\n/m).flatMap((part, number) => {
    if (number === 0) return [];
    const lines = part.split('\n');
    const end = lines.findIndex((line) => !line.startsWith('|'));
    return lines.slice(0, end < 0 ? undefined : end).map((line) => {
      const [, attack = '', , test = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      const tests = [...test.matchAll(/\[[^\]]+\]\(\.\.\/([^)]+)\) "([^"]+)"/g)];
      return { attack, tests: tests.map(([, file = '', title = '']) => ({ file, title })) };
    });
  });
}

/** What is wrong with the tests that a document names. */
function problemsOf(document: string): string[] {
  return rowsOf(document).flatMap(({ attack, tests }) => {
    if (tests.length === 0) return [`no test: ${attack}`];
    return tests.flatMap(({ file, title }) => {
      if (!existsSync(join(root, file))) return [`no file: ${file}`];
      const escaped = title.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
      const named = new RegExp(
        `(?:\\b(?:it|test)\\b[^\\n]*\\(|^\\s*(?:\\]\\)\\()?)(['"\`])${escaped}\\1,`,
        'm',
      );
      return named.test(readFileSync(join(root, file), 'utf8')) ? [] : [`no test "${title}" in ${file}`];
    });
  });
}

describe('docs/security.md', () => {
  it('names a test that exists for each attack', () => {
    expect(rowsOf(text).length).toBeGreaterThan(25);
    const [, defended = ''] = text.split('## What is defended');
    const lines = defended
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| attack |'));
    expect(rowsOf(text)).toHaveLength(lines.length);
    expect(problemsOf(text)).toEqual([]);
  });

  it('names files that the test run includes', () => {
    const included = new Set(globSync([...testFiles], { cwd: root }));
    const files = rowsOf(text).flatMap(({ tests }) => tests.map(({ file }) => file));
    expect(files.filter((file) => !included.has(file))).toEqual([]);
  });

  it('would be reported if a test had another title, file or none', () => {
    const title = 'is harmless as text: %s';
    expect(problemsOf(text.replace(title, 'is harmless as tea: %s'))).toEqual([
      'no test "is harmless as tea: %s" in apps/harness/test/hostile-output.test.ts',
    ]);
    expect(problemsOf(text.replace('test/secrets.test.ts', 'test/no-secrets.test.ts'))).toEqual([
      'no file: apps/harness/test/no-secrets.test.ts',
    ]);
    expect(problemsOf(text.replace(/\[paths\][^|]*\|/, '|'))).toEqual([
      'no test: a symbolic link that leads out of a store',
    ]);
  });
});

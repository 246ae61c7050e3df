import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../workspace.ts';

/** The pages that follow one thing through the code, with the fewest names that each must link. */
const pages = [
  ['docs/rows.md', 20],
  ['docs/append.md', 15],
] as const;

interface LinkedName {
  readonly name: string;
  readonly file: string;
}

describe.each(pages)('%s', (page, least) => {
  const names = linkedNames(readFileSync(join(root, page), 'utf8'));

  it('links the names that it follows', () => {
    expect(names.length).toBeGreaterThanOrEqual(least);
  });

  it.each(names)('names $name, which $file declares', ({ name, file }) => {
    const path = join(root, 'docs', file);
    expect(existsSync(path), file).toBe(true);
    expect(declares(readFileSync(path, 'utf8'), name)).toBe(true);
  });
});

it('a name counts as declared by a function, class, constant, type or method, and by no mere use', () => {
  const source =
    'export class Log {\n  async append(event) {}\n}\nconst open = 1;\nclose();\nreturn ended(log);';
  expect(['Log', 'append', 'open', 'close', 'ended', 'log'].filter((name) => declares(source, name))).toEqual(
    ['Log', 'append', 'open'],
  );
});

/** Names in code that link to a source file. */
function linkedNames(markdown: string): LinkedName[] {
  return [...markdown.matchAll(/\[`([\w.#]+)`\]\(([^)]+\.tsx?)\)/g)].map(([, name = '', file = '']) => ({
    name: name.split('.').at(-1) ?? '',
    file,
  }));
}

function declares(source: string, name: string): boolean {
  const word = name.replace('#', '\\#');
  return new RegExp(
    `\\b(?:function\\*?|class|const|interface|type) ${word}\\b|^ +(?:async |static |get |\\*)*${word}(?:<[^>]*>)?\\([^;]*$`,
    'm',
  ).test(source);
}

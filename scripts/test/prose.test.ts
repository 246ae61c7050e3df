import { describe, expect, it } from 'vitest';
import { compareWithCeilings, lowered } from '../prose/ceilings.ts';
import { documentPassages } from '../prose/document-passages.ts';
import { proseExceptions } from '../prose/exceptions.ts';
import { matchesIn } from '../prose/find-hits.ts';
import { joinLines } from '../prose/passage.ts';
import { prosePatterns } from '../prose/patterns.ts';
import { groupOf } from '../prose/prose-files.ts';
import { sourcePassages } from '../prose/source-passages.ts';

const passage = (text: string) => joinLines('document', [{ line: 1, text }]);

describe('a pattern of the prose check', () => {
  it.each(prosePatterns)('$id refuses: $refuses', (pattern) => {
    expect(matchesIn(passage(pattern.refuses), pattern)).not.toEqual([]);
  });

  it.each(prosePatterns)('$id accepts: $accepts', (pattern) => {
    expect(matchesIn(passage(pattern.accepts), pattern)).toEqual([]);
  });

  it('has an id of its own', () => {
    expect(new Set(prosePatterns.map(({ id }) => id)).size).toBe(prosePatterns.length);
  });
});

describe('the exceptions of the prose check', () => {
  it('are ten at most, each with a reason and a pattern that exists', () => {
    expect(proseExceptions.length).toBeLessThanOrEqual(10);
    for (const { pattern, reason } of proseExceptions) {
      expect(prosePatterns.map(({ id }) => id)).toContain(pattern);
      expect(reason.split(' ').length).toBeGreaterThan(3);
    }
  });
});

describe('the prose of a TypeScript source', () => {
  const textsOf = (source: string, isTest = false) =>
    sourcePassages(source, isTest).map(({ kind, text }) => [kind, text]);

  it('is its comments, joined over their lines, and its strings of three words or more', () => {
    expect(textsOf("/** One,\n * two. */\n// three\n// four\nthrow new Error('It is full.');")).toEqual([
      ['comment', 'One, two.'],
      ['comment', 'three four'],
      ['string', 'It is full.'],
    ]);
  });

  it('has the pieces of a template, and what stands in its holes', () => {
    const source = `const a = \`it is \${b ? \`so much \${{ c: 1 }.c} than we know\` : 'not so much'} in the end\`;`;
    expect(textsOf(source).map(([, text]) => text)).toEqual(['than we know', 'not so much', 'in the end']);
  });

  it('is not in code: neither in quotes of a comment, nor in a regular expression', () => {
    expect(textsOf('/** Calls `is no list` once. */')).toEqual([['comment', 'Calls `xxxxxxxxxx` once.']]);
    expect(textsOf('const a = /"it is no \\/ list/; const b = 4 / 2; // half of it')).toEqual([
      ['comment', 'half of it'],
    ]);
  });

  it('is the titles in a test, not its data', () => {
    const source = "it('gives all of it', () => {\n  say('this is only data');\n});\n";
    expect(textsOf(source, true)).toEqual([['title', 'gives all of it']]);
  });
});

describe('the prose of a document', () => {
  it('is its paragraphs, items and cells with their lines, without code', () => {
    const text =
      '# Title\n\nOne\ntwo `three`.\n\n- a\n- b\n\n```ts\nis no prose\n```\n\n| c | d |\n|---|---|\n';
    expect(documentPassages(text).map((entry) => [entry.text, entry.lineAt(0)])).toEqual([
      ['# Title', 1],
      ['One two `xxxxx`.', 3],
      ['- a', 6],
      ['- b', 7],
      ['c', 13],
      ['d', 13],
      ['---', 14],
      ['---', 14],
    ]);
  });

  it('gives the line on which a match begins', () => {
    const [entry] = documentPassages('One\ntwo\nis no list.');
    const isNo = prosePatterns.find(({ id }) => id === 'is-no');
    expect(entry && isNo && matchesIn(entry, isNo)).toEqual([{ line: 3, found: 'is no ' }]);
  });
});

describe('the ceilings of the prose check', () => {
  it('refuse a count that rose, a count that fell without them, and a package that has none', () => {
    const problems = compareWithCeilings({ a: 2, b: 2, c: 2 }, { a: 3, b: 1, c: 2, d: 1 });
    expect(problems.map(({ group, isAbove }) => [group, isAbove])).toEqual([
      ['a', true],
      ['b', false],
      ['d', true],
    ]);
  });

  it('are lowered and never raised', () => {
    expect(lowered({ b: 2, a: 1, c: 3 }, { a: 5, b: 0, c: 2 })).toEqual({ a: 1, c: 2 });
  });

  it('count a package by itself and the documents together', () => {
    expect(['packages/views/src/a.ts', 'scripts/a.ts', 'README.md', 'docs/contract.md'].map(groupOf)).toEqual(
      ['packages/views', 'scripts', 'docs', 'docs'],
    );
  });
});

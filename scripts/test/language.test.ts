import { describe, expect, it } from 'vitest';
import {
  documentPassages,
  hitsIn,
  languageHits,
  languagePatterns,
  proseFiles,
  sourcePassages,
} from '../language.ts';
import { root } from '../workspace.ts';

describe('the language of messages, help, comments and documents', () => {
  it('has none of the constructions that the style avoids', () => {
    const hits = proseFiles(root).flatMap((file) => languageHits(root, file));
    expect(
      hits.map(({ file, line, found, like }) => `${file}:${line}: "${found}"; write as in "${like}"`),
    ).toEqual([]);
  });

  it.each(languagePatterns)('is refused where it matches %s', (pattern, not, but) => {
    expect(pattern.exec(not)).not.toBeNull();
    expect(hitsIn(but)).toEqual([]);
  });
});

describe('the prose of a document', () => {
  it('is its paragraphs, items and cells with their lines, without code', () => {
    const text =
      '# Title\n\nOne\ntwo `three`.\n\n- a\n- b\n\n```ts\nis no prose\n```\n\n| c | d |\n|---|---|\n';
    expect(documentPassages(text).filter(({ text }) => /\w/.test(text))).toEqual([
      { line: 1, text: 'Title' },
      { line: 3, text: 'One two `x`.' },
      { line: 6, text: 'a' },
      { line: 7, text: 'b' },
      { line: 13, text: 'c' },
      { line: 13, text: 'd' },
    ]);
  });
});

describe('the prose of a source', () => {
  const textsOf = (source: string, file = 'src/a.ts') => sourcePassages(file, source).map(({ text }) => text);

  it('is its comments, joined over their lines, and its strings of three words or more', () => {
    const source =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template.
      "/** One,\n * two. */\n// three `x y`\n// four\nthrow new Error(`It is ${a} full.`);\nf('a b', 'a b c');";
    expect(textsOf(source)).toEqual(['One, two.', 'three `x` four', 'It is … full.', 'a b c']);
  });

  it('is not in a regular expression, and in a test only in comments and titles', () => {
    const source =
      "// Why.\nit('gives all of it', () => say('this is only data', /is no list/));\nit.each([1])('a b c', f);";
    expect(textsOf(source, 'test/a.test.ts')).toEqual(['Why.', 'gives all of it', 'a b c']);
  });
});

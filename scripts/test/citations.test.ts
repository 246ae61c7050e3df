import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { citations, citationsIn, citationTargets, decisionFiles } from '../citations.ts';
import { root } from '../workspace.ts';

const targets = citationTargets();

describe('citations in comments, messages and documents', () => {
  it('lead to a section of docs/design.md or to a record in docs/decisions', () => {
    const found = citations();
    expect(found.length).toBeGreaterThan(40);
    expect(found.filter(({ target }) => !targets.has(target))).toEqual([]);
  });

  it.each([
    ['left out at narrative fidelity (D7).', ['D7']],
    ['the taxonomy (D2, D6)', ['D2', 'D6']],
    ['The linking rule of DESIGN section 6.', ['DESIGN']],
    ['as decision 0012 says', ['decision 0012']],
    ["the dispatch 'D99' of a test", []],
    ['the code point U+D800', []],
  ])('are found in "%s"', (text, expected) => {
    expect(citationsIn(text)).toEqual(expected);
  });
});

describe('docs/design.md', () => {
  it('has each section once, with the anchor that its id names', () => {
    const headings = [
      ...readFileSync(join(root, 'docs/design.md'), 'utf8').matchAll(/<a id="([^"]+)"><\/a>(\w+):/g),
    ];
    expect(headings.map(([, anchor]) => anchor)).toEqual(headings.map(([, , id = '']) => id.toLowerCase()));
    expect(new Set(headings.map(([, , id]) => id)).size).toBe(headings.length);
    for (let section = 1; section <= 14; section += 1) expect(targets).toContain(`D${section}`);
  });
});

describe('docs/decisions', () => {
  it('has each number once, in the name and in the title', () => {
    const numbers = decisionFiles().map((name) => name.slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const name of decisionFiles()) {
      const title = readFileSync(join(root, 'docs/decisions', name), 'utf8').split('\n')[0];
      expect(title).toMatch(new RegExp(`^# ${name.slice(0, 4)}: `));
    }
  });
});

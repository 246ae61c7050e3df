import { describe, expect, it } from 'vitest';
import { AnchorScan } from '../src/search/anchor-scan.ts';
import { compareScans, ownersIn } from './random-anchors.ts';

const seed = Number(process.env.SEED ?? 41);

describe('a scan for anchors', () => {
  it(`finds the owners of which an anchor is in a text, of one or of many (seed ${seed})`, () => {
    const { differs, found, none } = compareScans(seed, 2_000);
    expect(differs).toBeNull();
    expect(Math.min(found, none)).toBeGreaterThan(500);
  });

  it.each(['abc', 'abcd', 'abcde', 'abcdef'])('finds %s at every place around the end of a piece', (text) => {
    const scan = new AnchorScan([{ anchors: [text] }]);
    for (let at = 32_740; at < 32_790; at += 1)
      expect(ownersIn(scan, [`${'-'.repeat(at)}${text}${'-'.repeat(at % 7)}`]), String(at)).toEqual([[0]]);
  });

  it('finds a text among thousands that are searched in parts', () => {
    const scan = new AnchorScan([{ anchors: ['abcde'] }]);
    for (const length of [1, 7, 8, 9, 40]) {
      const texts = Array.from({ length: 10_000 }, () => '-'.repeat(length));
      for (const at of [0, 4_095, 4_096, 9_999]) {
        const changed = texts.with(at, `${at}abcde`);
        scan.begin();
        for (const text of changed) scan.add(text);
        expect([...(scan.found() ?? [])], `${length}, ${at}`).toEqual([
          { text: `${at}abcde`, owners: new Set([0]) },
        ]);
      }
    }
  });

  it('does not find what is divided between two texts, nor in a text that was added before the search began', () => {
    const scan = new AnchorScan([{ anchors: ['abcde'] }]);
    expect(ownersIn(scan, ['--abc', 'de---'])).toEqual([[], []]);
    scan.add('abcde');
    scan.begin();
    expect(scan.found()).toBeNull();
  });

  it.each(['ab', 'äbcd'])('refuses %j, which cannot be searched', (given) => {
    expect(() => new AnchorScan([{ anchors: [given] }])).toThrow('not an anchor');
  });
});

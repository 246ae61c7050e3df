import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { AnchorScan } from '../src/anchor-scan.ts';

const seed = Number(process.env.SEED ?? 41);
const random = randomFrom(seed);
const below = (end: number) => Math.floor(random() * end);
/** The low byte of `š` is that of `a`, and of `Ţ` that of `b`. */
const letters = [...'aaabbbccc"\\', 'š', 'Ţ', '𝕏'];
const word = (length: number, of: readonly string[]) =>
  Array.from({ length }, () => of[below(of.length)] as string).join('');
/** What is copied at once ends at multiples of 32,766. */
const lengths = () => [below(40), below(200), 32_750 + below(40), 65_520 + below(40)][below(4)] as number;

function anchor(): { text: string; marked: string } {
  const text = word(3 + below(5), [...'abcd"\\']);
  const at = below(text.length - 1);
  const marked = at + 3 > text.length ? text : `${text.slice(0, at)}|${text.slice(at)}`;
  return { text, marked };
}

describe('a scan for anchors', () => {
  it(`finds the owners of which an anchor is in the text (seed ${seed})`, () => {
    const sums = { found: 0, none: 0 };
    for (let round = 0; round < 2_000; round += 1) {
      const owners = Array.from({ length: 1 + below(5) }, () => Array.from({ length: 1 + below(3) }, anchor));
      const scan = new AnchorScan(owners.map((own) => ({ anchors: own.map(({ marked }) => marked) })));
      const filler = round % 2 === 0 ? letters : [...'xyz', 'š'];
      let text = word(round % 20 === 0 ? lengths() : below(200), filler);
      const planted = owners[0]?.[0]?.text ?? '';
      const at = round % 3 === 0 ? text.length : below(text.length);
      if (random() < 0.5) text = text.slice(0, at) + planted + text.slice(at);
      const expected = owners.flatMap((own, index) =>
        own.some((one) => text.includes(one.text)) ? [index] : [],
      );
      expect(scan.find(text), `round ${round}`).toEqual(expected.length === 0 ? null : expected);
      sums[expected.length === 0 ? 'none' : 'found'] += 1;
    }
    expect(Math.min(sums.found, sums.none)).toBeGreaterThan(200);
  });

  it('finds an anchor at every place around the end of a piece', () => {
    const scan = new AnchorScan([{ anchors: ['ab|cde'] }]);
    for (let at = 32_740; at < 32_790; at += 1)
      expect(scan.find(`${'-'.repeat(at)}abcde${'-'.repeat(at % 7)}`), String(at)).toEqual([0]);
  });

  it.each(['ab', 'ab|cd', 'äbcd'])('refuses %j, which cannot be searched', (given) => {
    expect(() => new AnchorScan([{ anchors: [given] }])).toThrow('not an anchor');
  });
});

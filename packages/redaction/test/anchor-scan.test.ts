import { randomFrom } from '@hansard/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnchorScan } from '../src/anchor-scan.ts';

const seed = Number(process.env.SEED ?? 41);
const random = randomFrom(seed);
const below = (end: number) => Math.floor(random() * end);
const listOf = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);
/** The low byte of `š` is that of `a`, and of `Ţ` that of `b`. */
const letters = [...'aaabbbccc"\\', 'š', 'Ţ', '𝕏'];
const harmless = [...'xyz', 'š'];
const word = (length: number, of: readonly string[]) =>
  listOf(length, () => of[below(of.length)] as string).join('');
/** What is searched at once are 32,768 bytes. */
const longLengths = () => [0, 32_740, 32_768, 65_510][below(4)] as number;
const anchor = () => word(3 + below(5), [...'abcd"\\']);

/** The owners found in each text, by a search of them all. */
function ownersIn(scan: AnchorScan, texts: readonly string[]): number[][] {
  scan.begin();
  for (const text of texts) scan.add(text);
  const found = new Map<string, number[]>();
  for (const { text, owners } of scan.found() ?? [])
    found.set(text, [...new Set([...(found.get(text) ?? []), ...owners])]);
  return texts.map((text) => (found.get(text) ?? []).sort((a, b) => a - b));
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each([
  ['WebAssembly', () => {}],
  ['a process without WebAssembly', () => vi.stubGlobal('WebAssembly', undefined)],
  [
    'a processor that cannot compare 16 bytes at once',
    () => vi.stubGlobal('WebAssembly', { validate: () => false }),
  ],
])('a scan for anchors by %s', (_, prepare) => {
  beforeEach(prepare);

  it(`finds the owners of which an anchor is in a text, of one or of many (seed ${seed})`, () => {
    const sums = { found: 0, none: 0 };
    for (let round = 0; round < 2_000; round += 1) {
      const owners = listOf(1 + below(5), () => listOf(1 + below(3), anchor));
      const scan = new AnchorScan(owners.map((anchors) => ({ anchors })));
      const texts = listOf(1 + below(round % 3 === 0 ? 1 : 6), () => {
        const filler = random() < 0.5 ? letters : harmless;
        const text = word(
          random() < 0.01 ? longLengths() + below(40) : below(random() < 0.5 ? 12 : 200),
          filler,
        );
        const planted = owners[below(owners.length)]?.[0] ?? '';
        const at = random() < 0.3 ? text.length : below(text.length);
        return random() < 0.5 ? text.slice(0, at) + planted + text.slice(at) : text;
      });
      const expected = texts.map((text) =>
        owners.flatMap((anchors, index) => (anchors.some((one) => text.includes(one)) ? [index] : [])),
      );
      expect(ownersIn(scan, texts), `round ${round}`).toEqual(expected);
      for (const one of expected) sums[one.length === 0 ? 'none' : 'found'] += 1;
    }
    expect(Math.min(sums.found, sums.none)).toBeGreaterThan(500);
  });

  it.each(['abc', 'abcd', 'abcde', 'abcdef'])('finds %s at every place around the end of a piece', (text) => {
    const scan = new AnchorScan([{ anchors: [text] }]);
    for (let at = 32_740; at < 32_790; at += 1)
      expect(ownersIn(scan, [`${'-'.repeat(at)}${text}${'-'.repeat(at % 7)}`]), String(at)).toEqual([[0]]);
  });

  it('finds a text among so many that they are searched in parts', () => {
    const scan = new AnchorScan([{ anchors: ['abcde'] }]);
    for (const length of [1, 7, 8, 9, 40]) {
      const texts = listOf(10_000, () => '-'.repeat(length));
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

  it('does not find what is divided between two texts, nor in a text of the search before', () => {
    const scan = new AnchorScan([{ anchors: ['abcde'] }]);
    expect(ownersIn(scan, ['--abc', 'de---'])).toEqual([[], []]);
    scan.add('abcde');
    expect(ownersIn(scan, ['---------'])).toEqual([[]]);
  });

  it.each(['ab', 'äbcd'])('refuses %j, which cannot be searched', (given) => {
    expect(() => new AnchorScan([{ anchors: [given] }])).toThrow('not an anchor');
  });
});

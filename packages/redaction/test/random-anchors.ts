import { randomFrom } from '@hansard/testing';
import { AnchorScan } from '../src/search/anchor-scan.ts';

/** The class, or a mutant of it. */
export type ScanClass = typeof AnchorScan;

/** The low byte of `š` is that of `a`, and of `Ţ` that of `b`. */
const letters = [...'aaabbbccc"\\', 'š', 'Ţ', '𝕏'];
const harmless = [...'xyz', 'š'];
/** Around the number of bytes that are searched at once, 32,768, and twice this number. */
const longLengths = [32_740, 32_768, 65_510];

/** The owners found in each text, by one search of all texts. */
export function ownersIn(scan: AnchorScan, texts: readonly string[]): number[][] {
  scan.begin();
  for (const text of texts) scan.add(text);
  const found = new Map<string, number[]>();
  for (const { text, owners } of scan.found() ?? [])
    found.set(text, [...new Set([...(found.get(text) ?? []), ...owners])]);
  return texts.map((text) => (found.get(text) ?? []).sort((a, b) => a - b));
}

export interface Comparison {
  /** How many texts had an anchor, and how many had none. */
  readonly found: number;
  readonly none: number;
  /** The first round in which the scan differs from `String.prototype.includes`. Null: they always agree. */
  readonly differs: number | null;
}

/** Compares scans for random anchors in random texts with a search for each anchor in each text. */
export function compareScans(seed: number, rounds: number, Scan: ScanClass = AnchorScan): Comparison {
  const random = randomFrom(seed);
  const below = (end: number) => Math.floor(random() * end);
  const listOf = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);
  const word = (length: number, of: readonly string[]) =>
    listOf(length, () => of[below(of.length)] as string).join('');
  const anchor = () => word(3 + below(5), [...'abcd"\\']);
  const length = () =>
    random() < 0.01 ? (longLengths[below(3)] as number) + below(40) : below(random() < 0.5 ? 12 : 200);
  const sums = { found: 0, none: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const owners = listOf(1 + below(5), () => listOf(1 + below(3), anchor));
    const scan = new Scan(owners.map((anchors) => ({ anchors })));
    const texts = listOf(1 + below(round % 3 === 0 ? 1 : 6), () => {
      const text = word(length(), random() < 0.5 ? letters : harmless);
      const planted = owners[below(owners.length)]?.[0] ?? '';
      const at = random() < 0.3 ? text.length : below(text.length);
      return random() < 0.5 ? text.slice(0, at) + planted + text.slice(at) : text;
    });
    const expected = texts.map((text) =>
      owners.flatMap((anchors, index) => (anchors.some((one) => text.includes(one)) ? [index] : [])),
    );
    if (JSON.stringify(ownersIn(scan, texts)) !== JSON.stringify(expected))
      return { ...sums, differs: round };
    for (const one of expected) sums[one.length === 0 ? 'none' : 'found'] += 1;
  }
  return { ...sums, differs: null };
}

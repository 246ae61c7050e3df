import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compareScans, type ScanClass } from './random-anchors.ts';

const sources = join(import.meta.dirname, '../src/search');

/** What is replaced in the source of the search, once. Each of them loses places. */
const mutants: readonly (readonly [name: string, from: string, to: string])[] = [
  ['no anchor at an odd place', '(kind & atSecond) !== 0', '(kind & atSecond) === 9'],
  ['no anchor at an even place', '(kind & atFirst) !== 0', '(kind & atFirst) === 9'],
  [
    'one kind of two characters',
    'this.#kinds[pair] = (this.#kinds[pair] as number) | kind',
    'this.#kinds[pair] = kind',
  ],
  ['the pair of other characters', 'anchor.slice(1, shortestAnchor)', 'anchor.slice(2, shortestAnchor + 1)'],
  ['the place after that of an odd anchor', '=== 1) places[count++] = at', '=== 1) places[count++] = at + 1'],
  [
    'the hash of the place behind',
    'if (this.#beginnings[Math.imul(characters, 0x9e3779b1)',
    'if (this.#beginnings[Math.imul(characters + 256, 0x9e3779b1)',
  ],
  ['no place before the first character', 'index > 0 ? 1 : 0', 'index > 1 ? 1 : 0'],
  [
    'the hash of other characters',
    'this.#beginnings[this.#hashAt(0)] = 1',
    'this.#beginnings[this.#hashAt(1)] = 1',
  ],
  ['every second pair', 'index < end; index += 1', 'index < end; index += 2'],
  ['one pair too few', '(length + 1) >> 1', 'length >> 2'],
  ['the first place only', 'return count;', 'return Math.min(count, 1);'],
];

async function scanOf(from: string, to: string): Promise<ScanClass> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-anchors-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const path = join(folder, 'anchor-scan.ts');
  const source = readFileSync(join(sources, 'anchor-scan.ts'), 'utf8');
  expect(source.split(from)).toHaveLength(2);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  const { AnchorScan } = await import(/* @vite-ignore */ pathToFileURL(path).href);
  return AnchorScan;
}

describe('the search for anchors', () => {
  it('agrees with a search for each anchor in each text', async () => {
    expect(compareScans(5, 300, await scanOf('let count = 0', 'let count = 0')).differs).toBeNull();
  });

  it.each(mutants)('would be found to have a mistake: %s', async (_, from, to) => {
    expect(compareScans(5, 2_000, await scanOf(from, to)).differs).not.toBeNull();
  });
});

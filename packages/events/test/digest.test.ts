import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { base64Of, bytesOfBase64, digestOf } from '../src/content/digest.ts';
import { isSameJson } from '../src/json/json.ts';

/** Bytes of each value, in each length around the blocks of the hash. */
const samples = [0, 1, 2, 3, 55, 56, 63, 64, 65, 119, 120, 1_000].map((length) =>
  Uint8Array.from({ length }, (_, at) => (at * 131 + length) % 256),
);

describe.each(['with Node', 'in a page'])('bytes %s', (place) => {
  afterEach(() => void vi.unstubAllGlobals());

  it('have their SHA-256, and are equal after Base64 in either alphabet', () => {
    const hashes = samples.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
    const texts = samples.map((bytes) => Buffer.from(bytes));
    if (place === 'in a page') vi.stubGlobal('process', undefined);
    for (const [at, bytes] of samples.entries()) {
      expect(digestOf(bytes)).toBe(hashes[at]);
      expect(base64Of(bytes)).toBe(texts[at]?.toString('base64'));
      const written = [base64Of(bytes), `${texts[at]?.toString('base64url')}`, `${base64Of(bytes)}\n`];
      for (const text of written) expect([...bytesOfBase64(text)]).toEqual([...bytes]);
    }
  });
});

it.each([
  [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [null, {}, false],
  [{ toString: 1 }, { valueOf: 1 }, false],
  ['1', 1, false],
])('%j and %j have the same content: %s', (one, other, expected) => {
  expect(isSameJson(one, other)).toBe(expected);
  expect(isSameJson(other, one)).toBe(expected);
});

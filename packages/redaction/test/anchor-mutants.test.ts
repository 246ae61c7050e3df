import { afterEach, describe, expect, it, vi } from 'vitest';
import { anchorPlacesText, compileText } from '../../../scripts/wasm-modules.ts';
import { compareScans } from './random-anchors.ts';

/** What is replaced in the text of the search, once. Each of them loses places. */
const mutants: readonly (readonly [name: string, from: string, to: string])[] = [
  ['the table of another character', 'offset=36896', 'offset=36928'],
  ['the high half of another character', 'offset=36976', 'offset=36912'],
  [
    'another character of the text',
    '(v128.load offset=3 (local.get $at))',
    '(v128.load offset=4 (local.get $at))',
  ],
  ['only the lowest bits of a half', '(i32.const 15)', '(i32.const 7)'],
  [
    'a block of 16 places that is passed over',
    '(local.get $at) (i32.const 16)))\n      (br_if',
    '(local.get $at) (i32.const 32)))\n      (br_if',
  ],
  ['no last block', '(i32.lt_u (local.get $at)', '(i32.lt_u (i32.add (local.get $at) (i32.const 16))'],
  [
    'each block in the place of the one before',
    '(local.get $bits) (i32.const 0)) (i32.const 2)',
    '(local.get $bits) (i32.const 0)) (i32.const 0)',
  ],
  [
    'the last place of a block instead of the first',
    '(i32.ctz (local.get $bits))',
    '(i32.sub (i32.const 31) (i32.clz (local.get $bits)))',
  ],
  [
    'one place of a block',
    '(local.tee $bits (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))',
    '(i32.const 0)',
  ],
  [
    'a hash of four characters',
    '(i32.shl (i32.load (local.get $place)) (i32.const 8))',
    '(i32.load (local.get $place))',
  ],
  ['a hash of other bits', '(i32.const 18)', '(i32.const 19)'],
  [
    'every second block of candidates',
    '(local.get $block) (i32.const 4)',
    '(local.get $block) (i32.const 8)',
  ],
  ['one place too few', '(i32.const 81920)) (i32.const 1))', '(i32.const 81920)) (i32.const 2))'],
];

const real = WebAssembly;

function useCode(code: Uint8Array): void {
  vi.stubGlobal('WebAssembly', {
    validate: () => true,
    Module: class {
      constructor() {
        // biome-ignore lint/correctness/noConstructorReturn: the module of another code.
        return new real.Module(code as Uint8Array<ArrayBuffer>);
      }
    },
    Instance: real.Instance,
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the search for anchors', () => {
  it('agrees with a search for each anchor in each text', async () => {
    useCode(await compileText(anchorPlacesText));
    expect(compareScans(5, 300).differs).toBeNull();
  });

  it.each(mutants)('would be found to have a mistake: %s', async (_, from, to) => {
    const mutant = anchorPlacesText.replace(from, to);
    expect(mutant).not.toBe(anchorPlacesText);
    useCode(await compileText(mutant));
    expect(compareScans(5, 2_000).differs).not.toBeNull();
  });
});

import { join } from 'node:path';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { type BlameParts, scoreOf } from './blame-difference.ts';

const home = join(import.meta.dirname, '../..');

/** What is replaced in a source of the replay, once. */
const mutants: readonly (readonly [fault: string, file: string, piece: string, instead: string])[] = [
  [
    'one of several possible lines is taken',
    'kept-lines.ts',
    'return known === unclear || !isOneOwner(known, line) ? unclear : line;',
    'return line;',
  ],
  [
    'all equal first lines are kept',
    'kept-lines.ts',
    'if (isUnique(before[at] as number)) head = at + 1;',
    'head = at + 1;',
  ],
  [
    'all equal last lines are kept',
    'kept-lines.ts',
    'if (isUnique(before.at(-at) as number)) tail = at;',
    'tail = at;',
  ],
  ['a short line is a line of its own', 'line-table.ts', 'const leastOfOwn = 10;', 'const leastOfOwn = 0;'],
  [
    'a break of the chain is not seen',
    'file-blame.ts',
    'if (isSameContent(known.lines, lines)) return { state: known, gap: null };',
    'if (known.lines.length === lines.length) return { state: { ...known, lines }, gap: null };',
  ],
  [
    'an edit wrote every line of its content',
    'file-blame.ts',
    'if (source >= 0) return before.origins[source] ?? null;',
    'if (source >= 0) return { by, line: at + 1, gaps: 0 };',
  ],
  [
    'what nobody recorded is given to the edit after it',
    'file-blame.ts',
    'return source === written ? { by, line: at + 1, gaps: 0 } : null;',
    'return { by, line: at + 1, gaps: 0 };',
  ],
  [
    'a renamed file begins anew',
    'file-blame.ts',
    'const known = this.#files.get(step.from ?? step.path);',
    'const known = this.#files.get(step.path);',
  ],
  [
    'hunks are followed one line too far',
    'file-step.ts',
    'sources[now] = old;',
    'sources[now] = Math.max(0, old - 1);',
  ],
  [
    'a tab in a patch is another text',
    'file-step.ts',
    "return text === said || text.replace(/^\\t+/, (tabs) => '  '.repeat(tabs.length)) === said;",
    'return text === said;',
  ],
  ['a reading writes the file', 'file-records.ts', 'after: content, isSeen: true }];', 'after: content }];'],
  [
    'the contents give no order',
    'file-blame.ts',
    'const isBetter = chained.breaks < timed.breaks;',
    'const isBetter = false as boolean;',
  ],
];

async function partsWith(file: string, piece: string, instead: string): Promise<BlameParts> {
  const modules = ['file-blame', 'file-records', 'file-step', 'line-table'];
  const paths = modules.map((name) => `files/${name}.ts`);
  return (await importMutated(home, [`files/${file}`, piece, instead], ...paths)) as BlameParts;
}

const seeds = Array.from({ length: 300 }, (_, at) => at + 1);

/** For each setting of the files: the share of origins that must be found. */
const settings = [
  { unrecorded: 0, hasWrongClocks: false, least: 0.99 },
  { unrecorded: 0, hasWrongClocks: true, least: 0.4 },
  { unrecorded: 0.35, hasWrongClocks: false, least: 0.985 },
  { unrecorded: 0.35, hasWrongClocks: true, least: 0 },
];

/** Whether random files show a fault: a wrong origin, at the first of which it ends, or too few origins. */
function isCaught(parts: BlameParts): boolean {
  try {
    return settings.some(({ unrecorded, hasWrongClocks, least }) => {
      let [found, of] = [0, 0];
      for (const seed of hasWrongClocks ? seeds.slice(0, 150) : seeds) {
        const { wrong, foundKnowable, knowable } = scoreOf(parts, [seed], { hasWrongClocks, unrecorded });
        if (wrong.length > 0) return true;
        [found, of] = [found + foundKnowable, of + knowable];
      }
      return found / of < least;
    });
  } catch {
    return true;
  }
}

describe('the random files', () => {
  it('are read right by an unchanged copy of the replay', async () => {
    expect(isCaught(await partsWith('file-blame.ts', 'readonly #table', 'readonly #table'))).toBe(false);
  });

  it.each(mutants)('catch that %s', async (_, file, piece, instead) => {
    expect(isCaught(await partsWith(file, piece, instead))).toBe(true);
  });
});

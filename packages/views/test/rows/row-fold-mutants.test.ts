import { join } from 'node:path';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import type { readFolds } from '../../src/index.ts';
import { talkingLog, wrongFolds } from './branched-rows.ts';

const home = join(import.meta.dirname, '../..');
const seeds = 300;

/** What is replaced in the source of the folds, once. */
const mutants: readonly (readonly [fault: string, piece: string, instead: string])[] = [
  [
    'a row is folded although one of its events is current',
    'if (groupAt[position] === 0) isShown[row] = 1;',
    'if (groupAt[position] === 0 && row === position) isShown[row] = 1;',
  ],
  [
    'a row is folded only if all its events are first ones',
    'if (isShown[row] === 1) continue;',
    'if (isShown[row] === 1 || row !== position) continue;',
  ],
  ['a fold has only one event', 'else events.push(position);', ''],
  ['the first row of a fold is lost', 'folded.position !== row.position', 'folded.position === row.position'],
  ['every row of a fold stands for it', 'if (folded.position !== row.position) return null;', ''],
  ['a branch that is open stays folded', 'folded === null || isOpen(folded)', 'folded === null'],
  [
    'an abandoned branch is called parallel',
    "marks[position] = state === 'abandoned' ? 1 : 2;",
    'marks[position] = 2;',
  ],
  [
    'a parallel branch is called abandoned in its row',
    "state: state === 'abandoned' ? state : 'parallel'",
    "state: 'abandoned'",
  ],
  [
    'every event counts as a prompt',
    'events.filter((position) => this.#isPrompt[position]).length',
    'events.length',
  ],
  ['the address of a branch is its first event', 'end: values.at(-1) ?? 0', 'end: values[0] ?? 0'],
  [
    'what was taken back is not marked',
    'for (const position of this.#tree.retracted()) marks[position] = (marks[position] ?? 0) | 4;',
    '',
  ],
  [
    'only the first event of a row can be taken back',
    'row.events.some((position) => ((this.#marks[position] ?? 0) & 4) > 0)',
    '((this.#marks[row.position] ?? 0) & 4) > 0',
  ],
  [
    'what was taken back is no longer abandoned',
    'marks[position] = (marks[position] ?? 0) | 4;',
    'marks[position] = 4;',
  ],
  ['branches of one agent are one', '[...byGroup]', '[...byGroup].slice(0, 1)'],
];

async function foldsWith(piece: string, instead: string): Promise<typeof readFolds> {
  const made = await importMutated(home, ['rows/row-folds.ts', piece, instead], 'rows/row-folds.ts');
  return (made as { readFolds: typeof readFolds }).readFolds;
}

/** The first seed whose log is folded wrong. */
async function wrongSeed(read: typeof readFolds): Promise<number | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const log = talkingLog(seed);
    async function* list() {
      yield log.events;
    }
    try {
      if (wrongFolds(log, await read(list())).length > 0) return seed;
    } catch {
      return seed;
    }
  }
  return null;
}

describe('random logs with branches', () => {
  it('are folded right by an unchanged copy', async () => {
    expect(await wrongSeed(await foldsWith('class FoldReading {', 'class FoldReading {'))).toBeNull();
  });

  it.each(mutants)('catch that %s', async (_, piece, instead) => {
    expect(await wrongSeed(await foldsWith(piece, instead))).not.toBeNull();
  });
});

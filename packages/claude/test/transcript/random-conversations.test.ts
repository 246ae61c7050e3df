import { join } from 'node:path';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { conversationDifference, textOf } from './conversation-difference.ts';
import { randomConversation } from './random-conversations.ts';

type Open = typeof openClaudeTranscript;

const home = join(import.meta.dirname, '../..');

async function differenceOf(seed: number, open: Open): Promise<string | null> {
  const random = randomFrom(seed);
  const written = randomConversation(random, 14);
  const { length } = Buffer.from(textOf(written.rows));
  const cuts = Array.from({ length: 3 }, () => Math.floor(random() * length)).sort((a, b) => a - b);
  const first = textOf(written.rows.slice(0, 2)).length;
  return conversationDifference(
    written,
    cuts.filter((cut) => cut > first),
    open,
  );
}

/** The first seed whose conversation is read wrong. */
async function wrongSeed(open: Open, seeds: number): Promise<number | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    try {
      if ((await differenceOf(seed, open)) !== null) return seed;
    } catch {
      return seed;
    }
  }
  return null;
}

const rules = 'map/transcript-branches.ts';
const rows = 'map/branch-rows.ts';

/** What is replaced in a source of the mapping, once. */
const mutants: readonly (readonly [fault: string, file: string, piece: string, instead: string])[] = [
  [
    'a prompt never goes back',
    rules,
    'if (isHere && said >= lastPrompt) return stays;',
    'if (isHere) return stays;',
  ],
  [
    'the compaction of another program is on the current branch',
    rules,
    'const isOther = ',
    'const isOther = false && ',
  ],
  ['a marker does nothing', rules, 'if (rewound !== true) return;', 'if (rewound !== undefined) return;'],
  ['a marker is taken again', rules, 'text === this.#followed', "text === ''"],
  [
    'a marker forgets what it cuts',
    rules,
    'const row = this.#rows.find(cut ?? undefined);',
    'const row = unknown;',
  ],
  [
    'a boundary never goes back',
    rules,
    "if (compaction === 'boundary' && isOwnAnchor(record))",
    'if (false)',
  ],
  [
    'a late row stays on the current branch',
    rules,
    "if (move.kind === 'late') return",
    "if (move.kind === 'never') return",
  ],
  [
    'a late row is added to the current branch',
    rules,
    "move.kind === 'late' ? move.branch : this.#rows.current",
    'this.#rows.current',
  ],
  [
    'a prompt on a live branch goes back',
    rules,
    'return branch.isLive || branch.last > branch.leftAt;',
    'return branch.isLive && branch.start < 0;',
  ],
  [
    'a prompt without a parent continues',
    rules,
    'return isNew || !this.#isLinked',
    'return !isNew || !this.#isLinked',
  ],
  [
    'the rows of a branch below are cut at nothing',
    rows,
    'if (one === own) return row <= limit;',
    'if (one === own) return true;',
  ],
  [
    'a continued reading knows no branch',
    rules,
    'if (isHere && said >= lastPrompt) return stays;\n    if (this.#isPartial) return this.#beyond();',
    'if ((isHere && said >= lastPrompt) || this.#isPartial) return stays;',
  ],
];

async function openWith(file: string, piece: string, instead: string): Promise<Open> {
  const made = await importMutated(home, [file, piece, instead], 'index.ts');
  return (made as { openClaudeTranscript: Open }).openClaudeTranscript;
}

/** The most seeds that an unbroken mapping is read with in each part: `HANSARD_SEEDS` sets more. */
const seedsOfPart = Number(process.env.HANSARD_SEEDS ?? 25);
/** The most seeds until a mutant must be caught. */
const seeds = 150;

describe('random conversations with rewinds, two programs, compactions and late rows', () => {
  it.each([0, 1, 2, 3])(
    'have the prompts and the abandoned prompts that their writer kept, read at once and as they grew (part %i)',
    async (part) => {
      for (let seed = part * seedsOfPart + 1; seed <= (part + 1) * seedsOfPart; seed += 1)
        expect(await differenceOf(seed, openClaudeTranscript), `seed ${seed}`).toBeNull();
    },
  );

  it('have every kind of turn', () => {
    const all = Array.from({ length: 300 }, (_, seed) => randomConversation(randomFrom(seed), 14));
    expect(all.filter(({ abandoned }) => abandoned === null).length).toBeGreaterThan(20);
    expect(all.filter(({ abandoned }) => (abandoned ?? []).length > 2).length).toBeGreaterThan(10);
    expect(all.filter(({ isOpen }) => isOpen).length).toBeGreaterThan(2);
    expect(all.reduce((sum, { rewinds }) => sum + rewinds, 0)).toBeGreaterThan(150);
  });

  it('are read right by an unchanged copy of the mapping', async () => {
    expect(
      await wrongSeed(await openWith(rules, 'const rowsKept = 32;', 'const rowsKept = 32;'), seeds),
    ).toBeNull();
  });

  it.each(mutants)('catch that %s', async (_, file, piece, instead) => {
    expect(await wrongSeed(await openWith(file, piece, instead), seeds)).not.toBeNull();
  });
});

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { randomFrom } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CreateFinder, replaceInRow } from './name-checks.ts';
import { nameTable, type TableRow } from './name-table.ts';
import { plantText } from './planted-names.ts';

const sources = join(import.meta.dirname, '../../../src/judging/names');

/** A fault: a piece of a source file, which must occur there exactly once, and what stands there instead. */
const mutants: readonly (readonly [fault: string, file: string, piece: string, instead: string])[] = [
  ['accents are kept', 'fold.ts', '[\\u0300-\\u036f]|', ''],
  ['letters such as ø are kept', 'fold.ts', 'letters[letter] ?? letter', 'letter'],
  ['hidden characters are kept', 'fold.ts', '|\\p{Default_Ignorable_Code_Point}', ''],
  [
    'names are found within words',
    'name-finder.ts',
    '!isInWord(text, at - 1) || !isInWord(text, at);',
    'true;',
  ],
  [
    'names are found at the end of words',
    'name-finder.ts',
    '!isInWord(text, at) || !isInWord(text, at - 1);',
    'true;',
  ],
  ['all scripts have spaces', 'fold.ts', '&& !unspaced.test(character)', ''],
  [
    'the possessive needs an apostrophe',
    'name-finder.ts',
    "text.charAt(at) === 's' && !isInWord(text, at + 1)",
    'false',
  ],
  ['a shared part belongs to the first', 'name-finder.ts', 'rank < 2 || new Set(', 'true || new Set('],
  ['the punctuation of a name stays', 'name-finder.ts', 'folded.startsWith(raw, from)', 'false'],
  ['middle initials stay', 'name-finder.ts', 'count > 0 && match.label === latest', 'false'],
  [
    'common words are always names',
    'name-form.ts',
    'return isMarked(occurrence) || isWrittenAsName(occurrence);',
    'return true;',
  ],
  [
    'common words are never names',
    'name-form.ts',
    'isMarked(occurrence) || isWrittenAsName(occurrence)',
    'isMarked(occurrence)',
  ],
  [
    'a capital letter is enough',
    'name-form.ts',
    'if (startsSentence(before)) return isUsedAsName(word, after);',
    '',
  ],
  [
    'the start of a sentence is never a name',
    'name-form.ts',
    'return isUsedAsName(word, after);',
    'return false;',
  ],
  ['months are names', 'name-form.ts', 'months.has(word) && isDate(before, after)', 'false'],
  ['articles do not matter', 'name-form.ts', '!articles.has(previous) && ', ''],
  ['hope is a person', 'name-form.ts', 'if (!isMassNoun(word)) return', 'return'],
  ['labels do not count', 'name-form.ts', 'return startsLine &&', 'return false &&'],
  ['the whole text does not count', 'name-form.ts', 'isWhole || titled < from', 'titled < from'],
  ['initials may be small', 'name-form.ts', 'return isInitials(found, source.charAt(to));', 'return true;'],
  ['apostrophes do not separate', 'name-finder.ts', "_'`-", '_-'],
  [
    'numbers keep their zeros',
    'name-finder.ts',
    'text.charCodeAt(at) === 48 && isDigit(text, at + 1)',
    'false',
  ],
  ['parts are not names', 'spellings.ts', 'for (const word of letters) this.#addPart(word);', ''],
  [
    'initials are not names',
    'spellings.ts',
    'if (letters.length === words.length) this.#addInitials(letters);',
    '',
  ],
  ['Player is a name', 'spellings.ts', ' && !genericWords.has(folded)', ''],
  ['digraphs are not folded', 'spellings.ts', "{ ä: 'ae', ö: 'oe', ø: 'oe', ü: 'ue', å: 'aa' }", '{}'],
  ['number words are not numbers', 'spellings.ts', 'numberWords[Number(word) - 1] ?? word', 'word'],
  [
    'inflections are ignored',
    'spellings.ts',
    'for (const ending of endings) push(',
    'for (const ending of [] as string[]) push(',
  ],
  ['short forms are not names', 'languages.ts', 'return [...(byWord.get(word) ?? [])];', 'return [];'],
  [
    'prefixes are ignored',
    'spellings.ts',
    'for (const prefix of prefixes) push(',
    'for (const prefix of [] as string[]) push(',
  ],
  [
    'languages have no titles',
    'spellings.ts',
    '[...titles, ...languages.flatMap',
    '[...titles, ...[].flatMap',
  ],
  [
    'numbers with their counter are not names',
    'spellings.ts',
    'if (numbered !== undefined && numbered !== segment) this.#addPart(numbered);',
    '',
  ],
  ['titles stay', 'spellings.ts', 'start -= before[0].length;', 'break;'],
];

let folder: string;
const seed = Number(process.env.HANSARD_SEED ?? 20_261_123);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-names-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first text of the table and of the generator in which a finder finds something else than it should. */
function wrongText(create: CreateFinder): string | undefined {
  const random = randomFrom(seed);
  const isWrong = (row: TableRow) => replaceInRow(create, row) !== row.hidden;
  const rows = Array.from({ length: 40 }, () => plantText(random));
  return [...nameTable, ...rows].find(isWrong)?.text;
}

async function finderOf(name: string, change: (files: string) => void): Promise<CreateFinder> {
  const copy = join(folder, name);
  cpSync(sources, copy, { recursive: true });
  change(copy);
  const made = (await import(pathToFileURL(join(copy, 'name-finder.ts')).href)) as {
    createNameFinder: CreateFinder;
  };
  return made.createNameFinder;
}

describe('the texts with names', () => {
  it('are right with an unchanged copy of the sources', async () => {
    expect(wrongText(await finderOf('unchanged', () => {}))).toBeUndefined();
  });

  it.each(mutants.map((mutant, at) => [mutant[0], at, mutant] as const))(
    'catch that %s',
    async (_, at, mutant) => {
      const [, file, piece, instead] = mutant;
      const create = await finderOf(`mutant-${at}`, (copy) => {
        const path = join(copy, file);
        const pieces = readFileSync(path, 'utf8').split(piece);
        expect(pieces).toHaveLength(2);
        writeFileSync(path, pieces.join(instead));
      });
      expect(wrongText(create), `HANSARD_SEED=${seed}`).toBeDefined();
    },
  );
});

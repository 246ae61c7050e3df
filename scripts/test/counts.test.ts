import { expect, it } from 'vitest';
import { countRepository, longFunctionsIn, wordsHearing } from '../counts.ts';
import { unnamedAnswers } from '../signatures.ts';

const repository = countRepository();
const body = (lines: number) => 'x();\n'.repeat(lines);

it('a function, a closure or a test with more than 70 lines is found', () => {
  expect(longFunctionsIn('a.ts', `function long() {\n${body(69)}}\n`)).toEqual([
    { file: 'a.ts', line: 1, lines: 71 },
  ]);
  expect(longFunctionsIn('a.ts', `\nconst long = () => {\n${body(70)}};\n`)).toEqual([
    { file: 'a.ts', line: 2, lines: 72 },
  ]);
  expect(longFunctionsIn('a.test.ts', `it('is long', async () => {\n${body(70)}});\n`)).toHaveLength(1);
});

it('a function of 70 lines, and a group of tests, are not', () => {
  expect(longFunctionsIn('a.ts', `function short() {\n${body(68)}}\n`)).toEqual([]);
  expect(longFunctionsIn('a.test.ts', `describe('a group', () => {\n${body(100)}});\n`)).toEqual([]);
  expect(longFunctionsIn('a.test.ts', `describe.each([1])('%s', () => {\n${body(100)}});\n`)).toEqual([]);
});

it('who heard something is worded in one file', () => {
  expect(wordsHearing('a.ts', 'const note = `not heard by `;')).toBe(true);
  expect(wordsHearing('a.tsx', 'const note = <p>heard by {names}</p>;')).toBe(true);
  expect(wordsHearing('a.ts', '/** heard by all */ const how = "heard";')).toBe(false);
  expect(repository.hearingWordedIn).toEqual(['packages/views/src/words/hearing-words.ts']);
});

it('the repository has at most 920 source files, one first changeset, and no function above 70 lines', () => {
  expect(repository.longFunctions).toEqual([]);
  expect(repository.sourceFiles).toBeGreaterThan(700);
  expect(repository.sourceFiles).toBeLessThanOrEqual(920);
  expect(repository.changesets).toBe(1);
});

it('at most 33 % of the source files have one importer', () => {
  const { importedByOne, importedByEntryOrLate, sourceFiles } = repository;
  expect(importedByOne / sourceFiles).toBeGreaterThan(0.1);
  expect(importedByOne / sourceFiles).toBeLessThanOrEqual(0.33);
  expect((importedByOne - importedByEntryOrLate) / sourceFiles).toBeLessThanOrEqual(0.18);
});

it('packages export at most 1,190 names, and functions return at most 34 types that have no exported name', () => {
  expect(repository.exportedNames).toBeGreaterThan(500);
  expect(repository.exportedNames).toBeLessThanOrEqual(1_190);
  const unnamed = unnamedAnswers();
  expect(unnamed).toContain('packages/views: LogNode');
  expect(unnamed.length).toBeLessThanOrEqual(34);
});

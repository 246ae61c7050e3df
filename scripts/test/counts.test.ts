import { expect, it } from 'vitest';
import { longFunctionsIn } from '../counts.ts';

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

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { columnsOf } from '@hansard/views';
import { beforeAll, expect, it } from 'vitest';
import { exampleAnswers } from './example-answers.ts';

const folder = join(import.meta.dirname, '../../../docs/examples');
let answers: ReadonlyMap<string, string>;

beforeAll(async () => {
  answers = await exampleAnswers();
});

it('the answers in docs/examples are those of the commands (`pnpm docs:examples` when they differ)', () => {
  expect(readdirSync(folder).sort()).toEqual([...answers.keys()].sort());
  for (const [name, text] of answers) expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text);
});

it('they fit the width of their terminals', () => {
  for (const [name, text] of answers) {
    const columns = Number(/(\d+)\.txt$/.exec(name)?.[1]);
    expect(
      text.split('\n').filter((line) => columnsOf(line) > columns),
      name,
    ).toEqual([]);
  }
});

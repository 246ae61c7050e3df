import { describe, expect, it } from 'vitest';
import { createNameFinder } from '../../../src/judging/names/name-finder.ts';
import { replaceInRow } from './name-checks.ts';
import { nameTable } from './name-table.ts';

describe('a name in a text', () => {
  it('is in the table in at least 80 texts', () => {
    expect(nameTable.length).toBeGreaterThanOrEqual(80);
  });

  it.each(nameTable.map((row) => [JSON.stringify(row.text), row] as const))(
    'is found where it is one: %s',
    (_, row) => {
      expect(replaceInRow(createNameFinder, row)).toBe(row.hidden);
    },
  );
});

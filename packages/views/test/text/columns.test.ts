import { expect, it } from 'vitest';
import { columnsOf, fitColumns, padColumns } from '../../src/index.ts';

it('wide characters and emoji take two columns, marks none', () => {
  expect(['abc', '漢字', '👩‍💻', 'e\u0301'].map(columnsOf)).toEqual([3, 4, 2, 1]);
});

it('a line that fits stays as it is', () => {
  expect(fitColumns('abc', 3)).toBe('abc');
  expect(fitColumns('', 3)).toBe('');
});

it('a line that does not fit keeps its start or its end', () => {
  expect(fitColumns('abcdef', 4)).toBe('abc…');
  expect(fitColumns('abcdef', 4, 'end')).toBe('…def');
  expect(fitColumns('漢字漢字', 4)).toBe('漢…');
  expect(fitColumns('漢字漢字', 4, 'end')).toBe('…字');
  expect(fitColumns('abc', 1)).toBe('…');
  expect(fitColumns('abc', 0)).toBe('');
});

it('a line is padded to a width on the left or the right', () => {
  expect(padColumns('漢', 4)).toBe('漢  ');
  expect(padColumns('7', 3, 'right')).toBe('  7');
  expect(padColumns('long', 2)).toBe('long');
});

import { FileBlame, fileRecordsOf, LineTable, replayOrder, stepOf } from '@hansard/views';
import { expect, it } from 'vitest';
import { scoreOf } from './blame-difference.ts';

const parts = { FileBlame, LineTable, fileRecordsOf, replayOrder, stepOf };
const seeds = Array.from({ length: 600 }, (_, at) => at + 1);

it.each([
  ['that only agents change', { hasWrongClocks: false, unrecorded: 0 }],
  [
    'that shell commands, a formatter and persons change without a record',
    { hasWrongClocks: false, unrecorded: 0.35 },
  ],
] as const)(
  'seeds 1 to 600: files %s have no wrong origin, and 98 percent of what can be known',
  (_, choices) => {
    const { wrong, lines, knowable, foundKnowable } = scoreOf(parts, seeds, choices);
    expect(wrong).toEqual([]);
    expect(lines).toBeGreaterThan(15_000);
    expect(knowable).toBeGreaterThan(8_000);
    expect(foundKnowable / knowable).toBeGreaterThan(0.98);
  },
);

it.each([
  ['that only agents change', 0],
  ['that others change without a record', 0.35],
] as const)(
  'seeds 1 to 600: files %s have no wrong origin if clocks are wrong by half an hour or times are missing',
  (_, unrecorded) => {
    const { wrong, found } = scoreOf(parts, seeds, { hasWrongClocks: true, unrecorded });
    expect(wrong).toEqual([]);
    expect(found).toBeGreaterThan(1_000);
  },
);

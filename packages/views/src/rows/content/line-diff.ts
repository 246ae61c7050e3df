import { diffLines } from 'diff';
import type { DiffLine } from '../row.ts';

/** The largest number of differing lines. With more, the comparison takes very long and says little. */
const mostEdits = 1_000;

/** An edit, line by line: the removed and the same lines are the old text, the added and the same ones the new text. */
export function lineDiff(before: string, after: string): DiffLine[] {
  // Every line ends in a line break here, so that a last line without one is compared like the others.
  const changes =
    before === '' || after === ''
      ? undefined
      : diffLines(`${before}\n`, `${after}\n`, { maxEditLength: mostEdits });
  if (changes === undefined) return [...linesOf('removed', before), ...linesOf('added', after)];
  return changes.flatMap(({ added, removed, value }) =>
    linesOf(removed ? 'removed' : added ? 'added' : 'same', value.slice(0, -1), true),
  );
}

function linesOf(kind: DiffLine['kind'], text: string, isPiece = false): DiffLine[] {
  return text === '' && !isPiece ? [] : text.split('\n').map((line) => ({ kind, text: line }));
}

/**
 * The known name that a mistyped one most likely stands for: at most a third of its letters are missing, added, wrong
 * or swapped with their neighbour. Undefined if no name is that close. Upper and lower case count as equal.
 */
export function didYouMean(typed: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const most = Math.max(1, Math.floor(Math.max(typed.length, name.length) / 3));
    if (Math.abs(typed.length - name.length) > most) continue;
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (distance <= most && distance < least) {
      nearest = name;
      least = distance;
    }
  }
  return nearest;
}

/** The number of differing letters; two swapped letters count as one (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let least = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwapped) least = Math.min(least, at(beforeLast, column - 2) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

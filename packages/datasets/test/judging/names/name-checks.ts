import type { createNameFinder } from '../../../src/judging/names/name-finder.ts';
import type { TableRow } from './name-table.ts';

export type CreateFinder = typeof createNameFinder;

/** The text of a row with `<NAME>` for each name that a finder finds. */
export function replaceInRow(create: CreateFinder, { cast, text, rules }: TableRow): string {
  const people = Object.entries(cast).map(([name, { ids = [], ...rest }]) => ({
    label: `<${name}>`,
    names: [name, ...ids],
    ...rest,
  }));
  return create(people, rules).replace(text).text.replaceAll('somebody', '<?>');
}

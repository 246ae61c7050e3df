import { readHead } from '../find/read-source.ts';
import { importErrors } from '../import-errors.ts';
import { nameProduct } from './name-product.ts';

/** How many records a file has, how many are of a known type, and how many lack the agent that they must name. */
export interface RecordShares {
  readonly records: number;
  readonly known: number;
  /** Absent: records of the format need not name an agent. */
  readonly withoutAgent?: number;
}

/**
 * Refuses a file before anything of it is recorded: less than half of its records are known, or more than a tenth lack
 * their agent.
 * @throws IMPORT_FOREIGN
 */
export function assertKnown(
  file: string,
  as: string,
  { records, known, withoutAgent = 0 }: RecordShares,
): void {
  const problems = [
    ...(known < records / 2 ? [`only ${shareOf(known, records)} are of a known type`] : []),
    ...(isMost(withoutAgent, records) ? [`${shareOf(withoutAgent, records)} do not name their agent`] : []),
  ];
  if (problems.length === 0) return;
  const product = nameProduct(readHead(file));
  const real = product === null ? '' : ` It is a file of ${product}, which is not supported yet.`;
  throw importErrors.error(
    'IMPORT_FOREIGN',
    `${file} is not a log of ${as}: ${problems.join(', and ')}.${real}`,
    {
      details: { file, as, ...(product === null ? {} : { product }) },
    },
  );
}

/** More than a tenth of the records. Of fewer than five records, more than half: one record is already a fifth. */
function isMost(withoutAgent: number, records: number): boolean {
  return withoutAgent > records / (records < 5 ? 2 : 10);
}

function shareOf(some: number, all: number): string {
  return `${some} of ${all} records (${Math.round((100 * some) / all)} %)`;
}

import { formatErrors, type HansardError } from '@hansard/events';
import type { LogHead, LogImporterProvider } from '@hansard/provider';
import { readHead } from '../find/read-source.ts';
import { importErrors } from '../import-errors.ts';
import { nameProduct } from './products.ts';

/** The importer with that id. @throws IMPORT_FORMAT_UNKNOWN */
export function importerNamed(importers: readonly LogImporterProvider[], id: string): LogImporterProvider {
  const importer = importers.find((one) => one.id === id);
  if (importer !== undefined) return importer;
  const formats = importers.map((one) => one.id);
  throw importErrors.error(
    'IMPORT_FORMAT_UNKNOWN',
    `There is no importer for ${JSON.stringify(id)}. These formats can be imported: ${formats.join(', ')}.`,
    { details: { formats } },
  );
}

/** The importer of a file, by its first records. @throws FORMAT_EMPTY, IMPORT_PRODUCT_UNSUPPORTED, IMPORT_FORMAT_UNKNOWN */
export function detectImporter(
  importers: readonly LogImporterProvider[],
  head: LogHead,
): LogImporterProvider {
  const importer = importers.find((one) => one.detect(head));
  if (importer !== undefined) return importer;
  const { path: file, text, isCut } = head;
  if (text.trim() === '' && !isCut) throw emptyFile(file);
  const product = nameProduct(head);
  if (product !== null) throw unsupported(product, [file]);
  const formats = importers.map(({ id }) => id);
  throw importErrors.error(
    'IMPORT_FORMAT_UNKNOWN',
    `${file} does not show which format it has. These can be imported: ${formats.join(', ')}.`,
    { details: { file, formats } },
  );
}

export function emptyFile(file: string): HansardError {
  return formatErrors.error('FORMAT_EMPTY', `${file} is empty: nothing was recorded in it.`, {
    details: { file },
  });
}

/** The error of all files of one product. */
export function unsupported(product: string, files: readonly string[]): HansardError {
  const [file] = files;
  const message =
    files.length === 1
      ? `${file} is a file of ${product}: not supported yet.`
      : `${files.length} files of ${product}: not supported yet.`;
  return importErrors.error('IMPORT_PRODUCT_UNSUPPORTED', message, {
    details: { product, files: [...files] },
  });
}

/**
 * Refuses a file that shows another format and has no record of this one. A file that shows none is left to the reader of
 * the format, which knows more than the start of it.
 * @throws IMPORT_FORMAT_MISMATCH
 */
export function refuseOtherFormat(
  importers: readonly LogImporterProvider[],
  importer: LogImporterProvider,
  head: LogHead,
): void {
  if (importer.hasRecord?.(head) ?? importer.detect(head)) return;
  const other = importers.find((one) => one !== importer && one.detect(head));
  if (other === undefined) return;
  throw importErrors.error(
    'IMPORT_FORMAT_MISMATCH',
    `${head.path} looks like ${other.title}, and no record of it like one of ${importer.title}.`,
    { details: { file: head.path, as: importer.id, detected: other.id } },
  );
}

/** How many records a file has, how many are of a known type, and how many lack the agent that they must name. */
interface RecordShares {
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

/** More than a tenth of the records, and more than two: no record stops a file. Of fewer than five records, more than half. */
function isMost(withoutAgent: number, records: number): boolean {
  return withoutAgent > (records < 5 ? records / 2 : Math.max(2, records / 10));
}

function shareOf(some: number, all: number): string {
  return `${some} of ${all} records (${Math.round((100 * some) / all)} %)`;
}

import { join } from 'node:path';
import { type DispatchStatus, definedOnly } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { checksumOf, encodeChecksum, isSystemError } from '@hansard/store-kit';
import { names } from '../disk-format.ts';
import type { FileStats, Files } from '../files.ts';
import { readText, replaceFile } from '../lines/open-file.ts';

/** The facts of a file that change with each write. */
export type FileFacts = Pick<FileStats, 'ino' | 'size' | 'ctimeMs'>;

/** What decides whether a dispatch is on a page, and where. It holds no content. */
export interface ListedFacts extends FileFacts {
  readonly startedAt: string | null;
  readonly status: DispatchStatus;
  /** Absent: it was not read yet. */
  readonly lastActiveAt?: string | null;
}

const format = 1;

/**
 * What an earlier listing kept of a task, by dispatch id: a hint, of which each entry counts only for a file with the same facts.
 * Empty if the file is absent, damaged or of another format, or cannot be read.
 */
export function readListing(files: Files, taskFolder: string): Map<string, ListedFacts> {
  const kept = new Map<string, ListedFacts>();
  const text = readIfPossible(files, join(taskFolder, names.listing));
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (end < 0 || text.slice(0, end) !== headOf(body)) return kept;
  try {
    for (const line of body.split('\n').slice(0, -1)) {
      const [id, ino, size, ctimeMs, startedAt, status, lastActiveAt] = JSON.parse(line);
      kept.set(id, { ino, size, ctimeMs, startedAt, status, ...definedOnly({ lastActiveAt }) });
    }
  } catch {
    // Another program wrote it, with the right checksum.
    return new Map();
  }
  return kept;
}

/** Keeps what a listing read. It is a help for the next one, so a refusal of the system, as in a folder without permission, is not an error. */
export function writeListing(files: Files, taskFolder: string, kept: ReadonlyMap<string, ListedFacts>): void {
  const lines = [...kept].map(([id, { ino, size, ctimeMs, startedAt, status, lastActiveAt }]) => {
    const facts = [id, ino, size, ctimeMs, startedAt, status];
    return `${JSON.stringify(lastActiveAt === undefined ? facts : [...facts, lastActiveAt])}\n`;
  });
  const body = lines.join('');
  const content = Buffer.from(`${headOf(body)}\n${body}`);
  try {
    const temporary = join(taskFolder, names.listingTemporary);
    replaceFile(files, join(taskFolder, names.listing), temporary, content, false);
  } catch (error) {
    if (!isSystemError(error) && !storeErrors.is(error)) throw error;
  }
}

/** The first line. Two processes that write at the same time can leave a mixture, which the checksum shows. */
function headOf(body: string): string {
  return JSON.stringify({ format, crc: encodeChecksum(checksumOf(body)) });
}

function readIfPossible(files: Files, path: string): string {
  try {
    return readText(files, path, 'read');
  } catch (error) {
    if (isSystemError(error) || storeErrors.is(error)) return '';
    throw error;
  }
}

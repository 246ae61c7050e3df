import { closeSync, openSync, readSync } from 'node:fs';
import {
  detectSessionFormat,
  type GameFormatId,
  gameFormats,
  type SessionFormatId,
  sessionFormats,
} from '@hansard/formats';
import { type ClaudeFormatId, detectClaudeFormat } from '@hansard/formats/claude';
import { CliError, exitCode } from '../cli-error.ts';

/** A format of single files. */
export type FileFormatId = ClaudeFormatId | SessionFormatId;

export type ImportFormatId = FileFormatId | GameFormatId;

export const importFormatIds: readonly ImportFormatId[] = [
  'claude-transcript',
  'claude-stream',
  ...(Object.keys(sessionFormats) as SessionFormatId[]),
  ...(Object.keys(gameFormats) as GameFormatId[]),
];

export function isGameFormat(format: ImportFormatId): format is GameFormatId {
  return Object.hasOwn(gameFormats, format);
}

export function isSessionFormat(format: ImportFormatId): format is SessionFormatId {
  return Object.hasOwn(sessionFormats, format);
}

const bytesOfStart = 1024 * 1024;

/** The format of a file by its first records. */
export function detectImportFormat(file: string): FileFormatId {
  const start = readStart(file);
  const format = detectClaudeFormat(start) ?? detectSessionFormat(start);
  if (format !== null) return format;
  throw new CliError(
    exitCode.usage,
    `${file} does not show which format it has.`,
    `Say it: --as ${importFormatIds.join(' or --as ')}.`,
  );
}

function readStart(file: string): string {
  try {
    const bytes = Buffer.alloc(bytesOfStart);
    const descriptor = openSync(file, 'r');
    try {
      return bytes.toString('utf8', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

export function unreadable(file: string, cause: unknown): CliError {
  return new CliError(
    exitCode.failed,
    `${file} can't be read: ${(cause as Error).message}`,
    'Check the path. Nothing was imported.',
    { cause },
  );
}

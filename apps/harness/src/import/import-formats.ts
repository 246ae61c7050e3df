import { type ClaudeFormatId, detectClaudeFormat } from '@hansard/claude';
import { FormatError } from '@hansard/events';
import {
  detectGameFormat,
  detectSessionFormat,
  type GameFormatId,
  gameFormats,
  isWholeGameLog,
  type SessionFormatId,
  sessionFormats,
} from '@hansard/formats';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { readStart } from './read-source.ts';

/** A format of single files. */
export type FileFormatId = ClaudeFormatId | SessionFormatId;

export type ImportFormatId = FileFormatId | GameFormatId;

export const importFormatIds: readonly ImportFormatId[] = [
  'claude-transcript',
  'claude-stream',
  ...(Object.keys(sessionFormats) as SessionFormatId[]),
  ...(Object.keys(gameFormats) as GameFormatId[]),
];

export function isSessionFormat(format: ImportFormatId): format is SessionFormatId {
  return Object.hasOwn(sessionFormats, format);
}

const bytesOfStart = 1024 * 1024;

/** The format of a file by its first records. */
export function detectImportFormat(file: string): ImportFormatId {
  const { text } = readStart(file, bytesOfStart);
  const format = detectClaudeFormat(text) ?? detectSessionFormat(text) ?? detectGameFormat(text);
  if (format !== null) return format;
  if (text === '')
    throw new FormatError('FORMAT_EMPTY', `${file} is empty: nothing was recorded in it.`, {
      details: { file },
    });
  throw new CliError(
    exitCode.usage,
    `${file} does not show which format it has.`,
    `These can be imported; if it is one of them, say --as and its name: ${importFormatIds.join(', ')}.`,
  );
}

/** Whether a file of a game log is one by itself: it has what happens, and what is said. */
export function isGameLogByItself(file: string): boolean {
  return isWholeGameLog(readStart(file, bytesOfStart).text);
}

const claudeLogs: Readonly<Record<ClaudeFormatId, string>> = {
  'claude-transcript': 'a transcript of Claude Code',
  'claude-stream': 'a recorded stream of the Agent SDK',
};

/**
 * Refuses a file as a transcript that is clearly a stream, and the other way round: where records of its start show
 * their format, and none that it is the one that it shall be.
 */
export function refuseOtherFormat(file: string, as: ImportFormatId): void {
  if (as !== 'claude-transcript' && as !== 'claude-stream') return;
  const { text, isCut } = readStart(file, bytesOfStart);
  const lines = text.split('\n');
  const whole = isCut ? lines.slice(0, -1) : lines;
  const shown = new Set(whole.map(detectClaudeFormat).filter((format) => format !== null));
  const [other] = shown;
  if (other === undefined || shown.has(as)) return;
  throw new CliError(
    exitCode.usage,
    `${file} looks like ${claudeLogs[other]}, and no record of it like one of ${claudeLogs[as]}. Say --as ${other}.`,
    'Without --as, the records tell the format.',
  );
}

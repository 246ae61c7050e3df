import {
  type ClaudeFormatId,
  type ClaudeLog,
  claudeShares,
  detectClaudeFormat,
  openClaudeStream,
  openClaudeTranscript,
} from '@hansard/claude';
import { definedOnly } from '@hansard/events';
import type { LogContext, LogHead, LogImporterProvider, OpenLog } from '@hansard/provider';
import { readHead } from '../find/read-source.ts';
import { assertKnown } from './assert-known.ts';
import { taskOfLog } from './task-of-log.ts';
import { wholeLines } from './whole-lines.ts';

export const claudeImporters: readonly LogImporterProvider[] = [
  {
    ...records('claude-transcript'),
    title: 'a transcript of Claude Code',
    async open({ files: [file = '', ...subAgents] }, { findStart }) {
      assertClaude(file, 'claude-transcript');
      return [await opened(await openClaudeTranscript(file, { subAgents }), findStart)];
    },
  },
  {
    ...records('claude-stream'),
    title: 'a recorded stream of the Agent SDK',
    async open({ files: [file = ''] }, { findStart }) {
      assertClaude(file, 'claude-stream');
      return [await opened(await openClaudeStream(file), findStart)];
    },
  },
];

function records(id: ClaudeFormatId): Pick<LogImporterProvider, 'contract' | 'id' | 'detect' | 'hasRecord'> {
  return {
    contract: 1,
    id,
    detect: ({ text }) => detectClaudeFormat(text) === id,
    // A line may be a message of a stream that quotes records of a transcript, so each line counts by itself.
    hasRecord: (head: LogHead) => wholeLines(head).some((line) => detectClaudeFormat(line) === id),
  };
}

/** Decided on the start of the file. @throws IMPORT_FOREIGN */
function assertClaude(file: string, id: ClaudeFormatId): void {
  const { records, known } = claudeShares(readHead(file).text);
  assertKnown(file, id, { records, known: known[id] });
}

async function opened(log: ClaudeLog, findStart: LogContext['findStart']): Promise<OpenLog> {
  const { format, files, dispatchId, cwd, continues } = log;
  const taskDir = taskOfLog(log);
  const startsAt = (await findStart([dispatchId], taskDir)) ?? log.startedAt;
  return {
    format,
    files,
    dispatchId,
    ...definedOnly({ parentDispatchId: continues?.dispatchId }),
    cwd,
    startedAt: log.startedAt,
    taskDir,
    read: (options) => log.read({ ...options, startsAt }),
    summary: () => log.summary(),
    continueAfter: (kept) => log.continueAfter(kept),
  };
}

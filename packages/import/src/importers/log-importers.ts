import { basename, dirname } from 'node:path';
import {
  type ClaudeFormatId,
  type ClaudeLog,
  claudeShares,
  detectClaudeFormat,
  dispatchIdOf,
  openClaudeStream,
  openClaudeTranscript,
} from '@hansard/claude';
import { type CodexLog, codexShares, detectCodexFormat, openCodexRollout } from '@hansard/codex';
import { type CapturedEvent, toNarrative } from '@hansard/events';
import {
  detectGameFormat,
  detectSessionFormat,
  type FormatDiagnostic,
  type FormatReport,
  type GameFormatId,
  gameFormats,
  gameShares,
  hasSessionRecord,
  isWholeGameLog,
  type LogOrigin,
  type ReadGame,
  type SessionFormatId,
  sessionFormats,
  sessionShares,
} from '@hansard/formats';
import type { LogFile, LogHead, LogImporterProvider, OpenLog } from '@hansard/provider';
import { readHead, readSource } from '../find/read-source.ts';
import { copilotImporter } from '../histories/copilot.ts';
import { geminiImporter } from '../histories/gemini.ts';
import { openCodeImporter } from '../histories/opencode.ts';
import { openCodeGoImporter } from '../histories/opencode-go.ts';
import { piImporter } from '../histories/pi.ts';
import { qwenImporter } from '../histories/qwen.ts';
import { atifImporter } from './atif-importer.ts';
import { assertKnown, emptyFile } from './choose-importer.ts';
import { wholeLines } from './products.ts';
import { projectOf, taskOf, toName } from './task-names.ts';

const gameImporters: readonly LogImporterProvider[] = [
  {
    ...gameImporter('game-log'),
    title: 'a game log',
    detect: (head) => detectGameFormat(head.text) === 'game-log' || isEmptyStream(head),
    hasRecord: (head) => wholeLines(head).some((line) => detectGameFormat(line) === 'game-log'),
    group: (files) => groupGameLogs(files, (file) => isWholeGameLog(file.head().text)),
  },
  { ...gameImporter('werewolf-match'), title: 'a werewolf match' },
];

const claudeImporters: readonly LogImporterProvider[] = [
  {
    ...records('claude-transcript'),
    title: 'a transcript of Claude Code',
    async open({ files: [file = '', ...subAgents] }) {
      assertClaude(file, 'claude-transcript');
      return [opened(await openClaudeTranscript(file, { subAgents }))];
    },
  },
  {
    ...records('claude-stream'),
    title: 'a recorded stream of the Agent SDK',
    async open({ files: [file = ''] }) {
      assertClaude(file, 'claude-stream');
      return [opened(await openClaudeStream(file))];
    },
  },
];

const codexImporter: LogImporterProvider = {
  contract: 1,
  id: 'codex',
  title: 'a thread of Codex',
  detect: ({ text }) => detectCodexFormat(text),
  hasRecord: (head) => wholeLines(head).some((line) => detectCodexFormat(line)),
  async open({ files: [file = ''] }) {
    assertKnown(file, 'codex', codexShares(readHead(file).text));
    return [openThread(await openCodexRollout(file))];
  },
};

function openThread(log: CodexLog): OpenLog {
  const { file, dispatchId, parentDispatchId, threadId, rootThreadId, cwd, startedAt } = log;
  return {
    format: 'codex',
    files: [file],
    dispatchId,
    ...(parentDispatchId === null ? {} : { parentDispatchId }),
    cwd,
    startedAt,
    taskDir: taskOf(cwd === null ? 'codex' : projectOf(cwd), rootThreadId ?? basename(file), dispatchId),
    ...(threadId === null ? { identifiedByPlace: file } : {}),
    read: (options) => log.read(options),
    summary: () => log.summary(),
    continueAfter: (kept) => log.continueAfter(kept),
  };
}

const sessionImporters: readonly LogImporterProvider[] = (
  Object.keys(sessionFormats) as SessionFormatId[]
).map(sessionImporter);

/** The importers of the formats that Hansard knows, in the order in which they look at a file. */
export const logImporters: readonly LogImporterProvider[] = [
  ...claudeImporters,
  codexImporter,
  atifImporter,
  geminiImporter,
  openCodeImporter,
  openCodeGoImporter,
  piImporter,
  qwenImporter,
  copilotImporter,
  ...sessionImporters,
  ...gameImporters,
];

function sessionImporter(id: SessionFormatId): LogImporterProvider {
  return {
    contract: 1,
    id,
    title: `a session log (${id})`,
    detect: ({ text }) => detectSessionFormat(text) === id,
    hasRecord: (head) => hasSessionRecord(wholeLines(head).join('\n'), id),
    open({ files: [file = ''] }) {
      const source = readSource(file);
      assertKnown(file, id, sessionShares(source, id));
      const log = sessionFormats[id].read(source, { file });
      const facts = { format: id, files: [file], dispatchId: identifyLog(id, log.origin) };
      return [openWholeLog(facts, { ...log, isComplete: true })];
    },
  };
}

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

function opened(log: ClaudeLog): OpenLog {
  const { format, files, dispatchId, cwd } = log;
  return {
    format,
    files,
    dispatchId,
    cwd,
    startedAt: log.startedAt,
    taskDir: taskOfLog(log),
    read: (options) => log.read(options),
    summary: () => log.summary(),
    isInSeveralRecords: (eventId) => log.isInSeveralRecords?.(eventId) ?? false,
    continueAfter: (kept) => log.continueAfter(kept),
  };
}

/**
 * The task that a session of Claude Code belongs to: its project is the folder below `projects` in which Claude Code
 * keeps it, elsewhere the folder that the session worked in, written in the same way. Its slug is the session's id, or that
 * of the first session that it continues.
 */
function taskOfLog({ files, cwd, sessionId, continues, dispatchId }: ClaudeLog): string {
  const [file = ''] = files;
  const folder = basename(dirname(file));
  const isInProjects = basename(dirname(dirname(file))) === 'projects';
  const project = isInProjects || cwd === null ? folder : projectOf(cwd);
  const slug = continues?.rootSessionId ?? sessionId ?? basename(file, '.jsonl');
  return taskOf(toName(project) === null ? 'claude' : project, slug, dispatchId);
}

function gameImporter(id: GameFormatId): Pick<LogImporterProvider, 'contract' | 'id' | 'detect' | 'open'> {
  return {
    contract: 1,
    id,
    detect: ({ text }) => detectGameFormat(text) === id,
    open({ files }) {
      const sources = files.map((file) => ({ file, source: readSource(file) }));
      if (sources.every(({ source }) => source.length === 0)) throw emptyFile(files[0] ?? '');
      if (id === 'game-log')
        for (const { file, source } of sources) assertKnown(file, id, gameShares(source));
      const games = gameFormats[id].read(sources);
      const dispatchIds = identifyGames(id, games);
      return games.map((game, at) =>
        openWholeLog({ format: id, files, dispatchId: dispatchIds[at] ?? '', role: 'game' }, game),
      );
    },
  };
}

const streamFile = /^(?:game_events|chat|agent_actions|agent_reasoning|inference_trace|whispers)\.jsonl$/;

/** An export of a game without thoughts has an empty file for them, which belongs to the log. */
function isEmptyStream({ path, text, isCut }: LogHead): boolean {
  return text === '' && !isCut && streamFile.test(basename(path));
}

/** The dispatch of each game. Games that begin with the very same record differ by their number. */
function identifyGames(format: GameFormatId, games: readonly ReadGame[]): string[] {
  const numbers = new Map<string, number>();
  return games.map(({ origin }) => {
    const id = identifyLog(format, origin);
    const number = (numbers.get(id) ?? 0) + 1;
    numbers.set(id, number);
    return number === 1 ? id : identifyLog(format, origin, number);
  });
}

/**
 * The game logs that some files make up: the files that were named together are one; otherwise the files of a folder are,
 * except each that is a log by itself because it has both the game and the chat.
 */
function groupGameLogs(files: readonly LogFile[], isByItself: (file: LogFile) => boolean): string[][] {
  const named = files.filter(({ isNamed }) => isNamed).map(({ path }) => path);
  const logs: string[][] = named.length === 0 ? [] : [named];
  const ofFolders = new Map<string, string[]>();
  for (const file of files) {
    if (file.isNamed) continue;
    const folder = dirname(file.path);
    const isAlone = isByItself(file);
    const parts = isAlone ? undefined : ofFolders.get(folder);
    if (parts !== undefined) parts.push(file.path);
    else {
      const log = [file.path];
      logs.push(log);
      if (!isAlone) ofFolders.set(folder, log);
    }
  }
  return logs;
}

/**
 * The dispatch of a log, which a second import finds again: named by the id and the time that the log gives itself; where
 * it gives no id, by its first record; where it gives no time either, also by its file and the folder of that file.
 */
function identifyLog(format: string, { id, time, firstRecord, file = '' }: LogOrigin, number = 1): string {
  const place = time === null ? [basename(dirname(file)), basename(file)] : [];
  const name = id === null ? [...place, JSON.stringify(firstRecord)] : [id];
  return dispatchIdOf([format, ...name, ...(number === 1 ? [] : [number])].join('\n'), time ?? 0);
}

/** A log that was read as a whole. */
interface WholeLog {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  readonly origin: LogOrigin;
  /** Whether the log says how it ended. */
  readonly isComplete: boolean;
}

const batchSize = 1_000;

function openWholeLog(
  facts: Pick<OpenLog, 'format' | 'files' | 'dispatchId' | 'role'>,
  { events, report, origin, isComplete }: WholeLog,
): OpenLog {
  const times = events.flatMap(({ timestamp }) => timestamp ?? []);
  return {
    ...facts,
    startedAt: momentOf(times[0]),
    ...(origin.id === null && origin.time === null ? { identifiedByPlace: origin.file ?? '' } : {}),
    async *read({ fidelity = 'full' } = {}) {
      for (let at = 0; at < events.length; at += batchSize) {
        const batch = events.slice(at, at + batchSize);
        yield fidelity === 'full' ? batch : batch.map((event) => toNarrative(event));
      }
    },
    summary: () => ({
      records: report.records,
      balance: report.balance,
      events: events.length,
      status: isComplete ? 'completed' : 'aborted',
      completedAt: momentOf(times.at(-1)),
      diagnostics: report.diagnostics,
      counts: countsOf(report.diagnostics),
    }),
  };
}

function momentOf(timestamp: string | undefined): number | null {
  return timestamp === undefined ? null : Date.parse(timestamp);
}

function countsOf(diagnostics: readonly FormatDiagnostic[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of diagnostics) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

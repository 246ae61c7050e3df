export { agentTrace, type TracedFile, type TracedOrigin } from './agent-trace.ts';
export {
  type AtifHead,
  type AtifSource,
  detectAtif,
  readAtif,
  readAtifHead,
} from './atif/read-atif.ts';
export { type WrittenAtif, writeAtif } from './atif/write-atif.ts';
export { detectGameFormat, type GameFormatId, gameFormats } from './game-formats.ts';
export type { GameLogFile, ReadGame } from './games/game-lines.ts';
export { gameShares, isWholeGameLog } from './games/game-lines.ts';
export { isTrainingPair } from './games/game-record.ts';
export { readGameLog } from './games/read-game-log.ts';
export { type TraceContent, traceOf } from './games/trace-line.ts';
export type {
  FormatDiagnostic,
  FormatDiagnosticCode,
  FormatReport,
  WriteDiagnostic,
} from './lines/format-diagnostic.ts';
export type { LogOrigin } from './lines/log-origin.ts';
export {
  detectSessionFormat,
  hasSessionRecord,
  type SessionFormat,
  sessionFormats,
  sessionShares,
} from './session-formats.ts';
export type { ReadOptions, ReadSession } from './sessions/read-session.ts';
export { readSessionV1, readSessionV2 } from './sessions/read-session.ts';
export type { SessionFormatId } from './sessions/session-dialect.ts';
export type { SessionWriter, WrittenSession } from './sessions/write-session.ts';
export { createSessionWriter, writeSessionV1, writeSessionV2 } from './sessions/write-session.ts';
export { readWerewolfMatch } from './werewolf-match/read-werewolf-match.ts';

export { agentTrace, type TracedFile, type TracedOrigin } from './agent-trace.ts';
export {
  type AtifHead,
  type AtifSource,
  detectAtif,
  readAtif,
  readAtifHead,
} from './atif/read-atif.ts';
export { splitDocument } from './atif/split-document.ts';
export { type WrittenAtif, writeAtif } from './atif/write-atif.ts';
export {
  type GameLogFile,
  gameShares,
  isTrainingPair,
  isWholeGameLog,
  type ReadGame,
} from './games/game-lines.ts';
export { detectGameFormat, type GameFormatId, gameFormats, readGameLog } from './games/read-game-log.ts';
export { type TraceContent, traceOf } from './games/trace-line.ts';
export type { FormatDiagnostic, FormatReport } from './lines/format-diagnostic.ts';
export type { LogOrigin } from './lines/log-origin.ts';
export { detectSessionFormat, hasSessionRecord, sessionFormats, sessionShares } from './session-formats.ts';
export { type ReadSession, readSessionV1, readSessionV2 } from './sessions/read-session.ts';
export type { SessionFormatId } from './sessions/session-dialect.ts';
export {
  createSessionWriter,
  type SessionWriter,
  type WrittenSession,
  writeSessionV1,
  writeSessionV2,
} from './sessions/write-session.ts';
export { readWerewolfMatch } from './werewolf-match/read-werewolf-match.ts';

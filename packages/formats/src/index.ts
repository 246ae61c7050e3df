export type {
  FormatDiagnostic,
  FormatDiagnosticCode,
  FormatReport,
  WriteDiagnostic,
} from './format-diagnostic.ts';
export { detectGameFormat, type GameFormat, type GameFormatId, gameFormats } from './game-formats.ts';
export type { GameLogFile, ReadGame, ReadGameOptions } from './game-log/game-log-file.ts';
export { gameShares, isWholeGameLog } from './game-log/is-game-log.ts';
export { otherStreamOf } from './game-log/other-streams.ts';
export { readGameLog } from './game-log/read-game-log.ts';
export {
  detectSessionFormat,
  hasSessionRecord,
  type SessionFormat,
  sessionFormats,
  sessionShares,
} from './session-formats.ts';
export type { LogOrigin } from './session-records/log-origin.ts';
export type { ReadOptions, ReadSession } from './session-records/read-session.ts';
export type { SessionFormatId } from './session-records/session-dialect.ts';
export type { WrittenSession } from './session-records/writing/write-session.ts';
export { readSessionV1 } from './session-v1/read-session-v1.ts';
export { writeSessionV1 } from './session-v1/write-session-v1.ts';
export { readSessionV2 } from './session-v2/read-session-v2.ts';
export { writeSessionV2 } from './session-v2/write-session-v2.ts';
export { readWerewolfMatch } from './werewolf-match/read-werewolf-match.ts';

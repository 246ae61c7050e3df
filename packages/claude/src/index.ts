export type {
  ClaudeLog,
  ClaudeLogRest,
  ClaudeLogSummary,
  ContinuedSession,
  ReadLogOptions,
} from './claude-log.ts';
export { dispatchIdOf } from './claude-log.ts';
export { type OwnPath, resolveOwn } from './continue/beside-session.ts';
export {
  type ClaudeFormatId,
  claudeShares,
  detectClaudeFormat,
} from './detect-claude-format.ts';
export type { ClaudeDiagnostic, ClaudeDiagnosticCode, DiagnosticCounts } from './lines/claude-diagnostic.ts';
export { bytesOfPackedStart, type FileLine, isGzip, readLines, unpack } from './lines/read-lines.ts';
export {
  type ClaudeMapping,
  createClaudeMapping,
} from './map/create-claude-mapping.ts';
export type { ClaudeActivity } from './map/event-writer.ts';
export type { RecordPlace } from './map/mapping-step.ts';
export { findClaudeStreamStart, openClaudeStream, readClaudeStream } from './open-claude-stream.ts';
export { findSubAgents, openClaudeTranscript } from './open-claude-transcript.ts';

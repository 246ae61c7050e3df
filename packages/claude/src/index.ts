export {
  type ClaudeFormatId,
  type ClaudeShares,
  claudeShares,
  detectClaudeFormat,
} from './detect-claude-format.ts';
export type { ClaudeDiagnostic, ClaudeDiagnosticCode } from './json-lines/claude-diagnostic.ts';
export { type FileLine, readLines } from './json-lines/read-lines.ts';
export { bytesOfPackedStart, isGzip, unpack } from './json-lines/unpack.ts';
export type { ClaudeLog, ClaudeLogRest, ClaudeLogSummary, ReadLogOptions } from './log/claude-log.ts';
export type { DiagnosticCounts } from './log/diagnostic-log.ts';
export { dispatchIdOf } from './log/dispatch-id.ts';
export { type OwnPath, resolveOwn } from './log/own-file.ts';
export type { ContinuedSession } from './log/read-log-head.ts';
export type { ClaudeActivity } from './mapping/claude-activity.ts';
export type { RecordPlace } from './mapping/mapping-step.ts';
export {
  type ClaudeMapping,
  type ClaudeMappingOptions,
  createClaudeMapping,
} from './messages/create-claude-mapping.ts';
export { openClaudeStream } from './stream/open-claude-stream.ts';
export { findClaudeStreamStart, readClaudeStream } from './stream/read-claude-stream.ts';
export {
  findSubAgents,
  type OpenTranscriptOptions,
  openClaudeTranscript,
} from './transcript/open-claude-transcript.ts';

export type { ClaudeLog, ClaudeLogRest, ClaudeLogSummary } from './claude-log.ts';
export { dispatchIdOf } from './claude-log.ts';
export { resolveOwn } from './continue/beside-session.ts';
export {
  type ClaudeFormatId,
  claudeShares,
  detectClaudeFormat,
  recordsAtStart,
} from './detect-claude-format.ts';
export {
  type ClaudeDiagnostic,
  type ClaudeDiagnosticCode,
  DiagnosticLog,
} from './lines/claude-diagnostic.ts';
export {
  asCount,
  asList,
  asName,
  asObject,
  asText,
  rawFields,
  recordedTime,
  timestampOf,
  withoutNull,
  withoutUndefined,
} from './lines/json-fields.ts';
export { bytesCut } from './lines/line-balance.ts';
export { isStorable, type LogPart, readParts } from './lines/log-parts.ts';
export { bytesOfPackedStart, type FileLine, isPacked, readLines, unpack } from './lines/read-lines.ts';
export { type ClaudeMapping, createClaudeMapping } from './map/create-claude-mapping.ts';
export { type ClaudeActivity, unknownEventType, withDetails } from './map/event-writer.ts';
export { RecentMap } from './map/horizon.ts';
export { EventIds } from './map/ids.ts';
export { findClaudeStreamStart, openClaudeStream, readClaudeStream } from './open-claude-stream.ts';
export { findSubAgents, openClaudeTranscript } from './open-claude-transcript.ts';

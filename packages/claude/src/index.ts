export type { ClaudeDiagnostic, ClaudeDiagnosticCode } from './log/claude-diagnostic.ts';
export type { ClaudeLog, ClaudeLogSummary, ReadLogOptions } from './log/claude-log.ts';
export { type ClaudeFormatId, detectClaudeFormat } from './log/detect-claude-format.ts';
export type { DiagnosticCounts } from './log/diagnostic-log.ts';
export { dispatchIdOf } from './log/dispatch-id.ts';
export type { ClaudeActivity } from './messages/claude-activity.ts';
export {
  type ClaudeMapping,
  type ClaudeMappingOptions,
  createClaudeMapping,
} from './messages/create-claude-mapping.ts';
export type { RecordPlace } from './messages/mapping-step.ts';
export { openClaudeStream } from './stream/open-claude-stream.ts';
export { readClaudeStream } from './stream/read-claude-stream.ts';
export {
  findSubAgents,
  type OpenTranscriptOptions,
  openClaudeTranscript,
} from './transcript/open-claude-transcript.ts';

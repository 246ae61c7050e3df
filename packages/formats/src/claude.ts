export type { ClaudeLog, ClaudeLogSummary, ReadLogOptions } from './claude-import/claude-log.ts';
export { type ClaudeFormatId, detectClaudeFormat } from './claude-import/detect-claude-format.ts';
export { dispatchIdOf } from './claude-import/dispatch-id.ts';
export type { OddityCounts } from './claude-import/oddity-log.ts';
export type { ClaudeActivity } from './claude-messages/claude-activity.ts';
export {
  type ClaudeMapping,
  type ClaudeMappingOptions,
  createClaudeMapping,
} from './claude-messages/create-claude-mapping.ts';
export type { RecordPlace } from './claude-messages/mapping-step.ts';
export { openClaudeStream } from './claude-stream/open-claude-stream.ts';
export { findClaudeStreamStart, readClaudeStream } from './claude-stream/read-claude-stream.ts';
export {
  findSubAgents,
  type OpenTranscriptOptions,
  openClaudeTranscript,
} from './claude-transcript/open-claude-transcript.ts';

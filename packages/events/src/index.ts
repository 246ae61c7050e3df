export { longestContent, type StoredContent, separateContent } from './content/separate-content.ts';
export { type StoredRequest, storedRequest } from './content/stored-request.ts';
export { type DefinedOnly, definedOnly } from './defined-only.ts';
export type { Diagnostic } from './diagnostic.ts';
export { didYouMean } from './did-you-mean.ts';
export { encodeEvent, inLineOrder } from './encode-event.ts';
export { type EventError, eventErrors } from './event-errors.ts';
export { firstLine, isTypeOfProgram, narrowWith, toNarrative } from './fidelity/narrative.ts';
export {
  addRedactions,
  isRedactionCounts,
  type RedactionCounts,
  redactionsField,
  redactionsOf,
  replacedBy,
  replacedField,
} from './fidelity/redaction-counts.ts';
export { formatErrors } from './format-errors.ts';
export {
  defineErrors,
  type ErrorFamily,
  type ErrorOf,
  type ErrorRow,
  type HansardError,
  isHansardError,
} from './hansard-error.ts';
export { createIdSource, type IdSource } from './id.ts';
export { describeIssues, preview } from './json/describe-issues.ts';
export { findNotJson, isPlainObject, type JsonObject, type JsonValue } from './json/json.ts';
export { jsonObjectSchema, jsonValueSchema } from './json/json-value-schema.ts';
export { matchesEventType } from './matches-event-type.ts';
export { messageOf } from './message-of.ts';
export { neutraliseControls, neutraliseControlsInLine } from './neutralise-controls.ts';
export { otherFieldsOf, withoutOtherFields } from './other-fields.ts';
export { parseEnvelope, parseEnvelopeUpdates, parseTaskRecord } from './parse-envelope.ts';
export {
  type EventDataSchemas,
  eventProblem,
  isEvent,
  isUsualEvent,
  parseEvent,
  quickCheckOf,
} from './parse-event.ts';
export { shortened } from './shortened.ts';
export { newOutput } from './snapshots/new-output.ts';
export type { ObservedImage } from './snapshots/observed-image.ts';
export { ObservedInstance, registerSnapshotType, type SnapshotType } from './snapshots/observed-instance.ts';
export { PrintedForm, reviveSnapshot, snapshot } from './snapshots/snapshot.ts';
export { toTimestamp } from './timestamp.ts';
export type { FileChange, RequestTool } from './types/agent-events.ts';
export type { ContentPart, MediaPart } from './types/content-part.ts';
export type { Delta } from './types/delta.ts';
export {
  type CopiesOfSource,
  type DispatchEnvelope,
  type DispatchLetter,
  type DispatchSource,
  type DispatchStatus,
  dispatchStatuses,
  type EnvelopeUpdates,
  envelopeSchema,
  envelopeSchemaVersion,
  type Fidelity,
  type FoldedLog,
  fidelities,
  type TaskRecord,
  taskRecordSchema,
} from './types/envelope.ts';
export {
  type CapturedEvent,
  type EventData,
  type EventLinks,
  type EventOf,
  type EventType,
  eventDataSchemas,
  eventFields,
  eventFieldsSchema,
  isEventType,
  type KnownEventType,
  type NewEvent,
} from './types/event.ts';
export {
  idSchema,
  isId,
  isTimestamp,
  type ModelUsage,
  modelUsageSchema,
  type OpenCall,
  type OpenToolCall,
  type PriceSource,
  type StatedModelUsage,
  statedModelUsageSchema,
  timestampSchema,
  type Usage,
  type UsagePeriods,
  usageSchema,
} from './types/fields.ts';
export { envelopeJsonSchema, eventJsonSchema, taskJsonSchema } from './types/json-schema.ts';
export { isEventOf, newEvent } from './types/new-event.ts';
export { type OutputPart, outputPartSchema } from './types/output-part.ts';
export {
  BalanceSheet,
  type BalanceUnit,
  balanceProblem,
  type SourceBalance,
} from './types/source-balance.ts';
export type { FileSink, TaskSource, TextSink } from './types/task-source.ts';

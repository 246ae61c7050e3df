export { base64Of, bytesOfBase64, digestOf } from './content/digest.ts';
export {
  longestContent,
  type StoredRequest,
  separateContent,
  storedRequest,
} from './content/separate-content.ts';
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
export { findNotJson, isPlainObject, isSameJson, type JsonObject, type JsonValue } from './json/json.ts';
export { jsonObjectSchema, jsonValueSchema } from './json/json-value-schema.ts';
export { matchesEventType } from './matches-event-type.ts';
export { neutraliseControls } from './neutralise-controls.ts';
export { type DefinedOnly, definedOnly, otherFieldsOf, withoutOtherFields } from './other-fields.ts';
export {
  type EventDataSchemas,
  eventProblem,
  isEvent,
  isUsualEvent,
  messageOf,
  parseEnvelope,
  parseEnvelopeUpdates,
  parseEvent,
  parseTaskRecord,
  quickCheckOf,
} from './parse-event.ts';
export { shortened } from './shortened.ts';
export { ObservedInstance, registerSnapshotType } from './snapshots/observed-instance.ts';
export { newOutput, PrintedForm, reviveSnapshot, snapshot } from './snapshots/snapshot.ts';
export { toTimestamp } from './timestamp.ts';
export type { FileChange, RequestTool } from './types/agent-events.ts';
export type { ContentPart, MediaPart, OutputPart } from './types/content-part.ts';
export {
  type CopiesOfSource,
  type DispatchEnvelope,
  type DispatchLetter,
  type DispatchSource,
  type DispatchStatus,
  dispatchStatuses,
  type EnvelopeUpdates,
  envelopeSchemaVersion,
  type Fidelity,
  type FileSink,
  type FoldedLog,
  fidelities,
  type TaskRecord,
  type TaskSource,
  type TextSink,
} from './types/envelope.ts';
export {
  type CapturedEvent,
  type Delta,
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
  type OpenCall,
  type OpenToolCall,
  type PriceSource,
  type StatedModelUsage,
  timestampSchema,
  type Usage,
  type UsagePeriods,
  usageSchema,
} from './types/fields.ts';
export { envelopeJsonSchema, eventJsonSchema, taskJsonSchema } from './types/json-schema.ts';
export { isEventOf, newEvent } from './types/new-event.ts';
export { BalanceSheet, balanceProblem, type SourceBalance } from './types/source-balance.ts';

export { CodedError, createErrorGuard, type ErrorGuard, isCodedError } from './coded-error.ts';
export type { Delta } from './delta.ts';
export { describeIssues, preview } from './describe-issues.ts';
export { encodeEvent, inLineOrder } from './encode-event.ts';
export {
  type DispatchEnvelope,
  type DispatchStatus,
  dispatchStatuses,
  type EnvelopeUpdates,
  envelopeSchema,
  envelopeSchemaVersion,
  type Fidelity,
  fidelities,
  type TaskRecord,
  taskRecordSchema,
} from './envelope.ts';
export {
  type CapturedEvent,
  type EventData,
  type EventLinks,
  type EventOf,
  type EventType,
  eventDataSchemas,
  isEventOf,
  type KnownEventType,
  type NewEvent,
  newEvent,
} from './event.ts';
export { EventError, type EventErrorCode, eventErrorCodes, isEventError } from './event-error.ts';
export { idSchema, isId, timestampSchema, type Usage, usageSchema } from './fields.ts';
export { createIdSource, type IdSource } from './id.ts';
export {
  findNotJson,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  jsonObjectSchema,
  jsonValueSchema,
} from './json.ts';
export { envelopeJsonSchema, eventJsonSchema, taskJsonSchema } from './json-schema.ts';
export { firstLine, toNarrative } from './narrative.ts';
export { newOutput } from './new-output.ts';
export type { ObservedImage } from './observed-image.ts';
export { type OutputPart, outputPartSchema } from './output-part.ts';
export { parseEnvelope, parseEnvelopeUpdates, parseTaskRecord } from './parse-envelope.ts';
export { type EventDataSchemas, isEvent, isUsualEvent, parseEvent } from './parse-event.ts';
export { PrintedForm, reviveSnapshot, snapshot } from './snapshot.ts';
export { toTimestamp } from './timestamp.ts';

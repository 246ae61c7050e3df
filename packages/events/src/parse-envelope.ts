import { z } from 'zod';
import { type EventError, eventErrors } from './event-errors.ts';
import { describeIssues } from './json/describe-issues.ts';
import { isPlainEnvelope, isPlainTask } from './plain/is-readable.ts';
import {
  type DispatchEnvelope,
  type EnvelopeUpdates,
  envelopeSchema,
  type TaskRecord,
  taskRecordSchema,
} from './types/envelope.ts';

const updatesSchema = envelopeSchema.partial().extend({
  dispatchId: z.never().optional(),
  taskSlug: z.never().optional(),
  letter: z.never().optional(),
  schemaVersion: z.never().optional(),
});

/** Checks that a value is an envelope and returns it unchanged. @throws EVENT_ENVELOPE_INVALID */
export function parseEnvelope(value: unknown): DispatchEnvelope {
  if (isPlainEnvelope(value)) return value as DispatchEnvelope;
  return check(envelopeSchema, value, 'EVENT_ENVELOPE_INVALID', 'an envelope');
}

/** Checks a change to an envelope. Its identity (dispatch, task, letter, schema version) never changes. @throws EVENT_ENVELOPE_INVALID */
export function parseEnvelopeUpdates(value: unknown): EnvelopeUpdates {
  return check(updatesSchema, value, 'EVENT_ENVELOPE_INVALID', 'a change to an envelope') as EnvelopeUpdates;
}

/** Checks that a value is a task record and returns it unchanged. @throws EVENT_TASK_INVALID */
export function parseTaskRecord(value: unknown): TaskRecord {
  if (isPlainTask(value)) return value as TaskRecord;
  return check(taskRecordSchema, value, 'EVENT_TASK_INVALID', 'a task record');
}

function check<T>(schema: z.ZodType<T>, value: unknown, code: EventError['code'], what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return value as T;
  const { text, details } = describeIssues(result.error, value);
  throw eventErrors.error(code, `Not ${what}: ${text}`, { cause: result.error, details });
}

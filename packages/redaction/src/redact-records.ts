import type { ValueRedaction } from './redact-value.ts';

/** Ids, times and choices, on which links and lists depend. */
export const keptOfEnvelope: ReadonlySet<string> = new Set([
  'dispatchId',
  'taskSlug',
  'parentDispatchId',
  'startedAt',
  'completedAt',
  'status',
  'fidelity',
  // Ids of events, agents and messages.
  'folded',
]);
export const keptOfTask: ReadonlySet<string> = new Set(['slug', 'created']);

/** A record without secrets in its fields, except those that are kept. The record itself if it has none. */
export function redactRecord<T extends object>(
  record: T,
  kept: ReadonlySet<string>,
  redaction: ValueRedaction,
): T {
  const isKept = ([key]: [string, unknown]) => kept.has(key);
  const fields = Object.entries(record);
  const redacted = redaction.object(Object.fromEntries(fields.filter((field) => !isKept(field))));
  return redaction.counts === null
    ? record
    : ({ ...Object.fromEntries(fields.filter(isKept)), ...redacted } as T);
}

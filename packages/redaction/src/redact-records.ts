import { isPlainObject, type JsonObject } from '@hansard/events';
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
/** Without them, a letter would reach nobody. */
export const keptOfLetter: ReadonlySet<string> = new Set(['from', 'taskDir', 'agentId']);
export const keptOfTask: ReadonlySet<string> = new Set(['slug', 'created']);

/** A record without secrets in its fields, except those that are kept. The record itself if it has none. */
export function redactRecord<T extends object>(
  record: T,
  kept: ReadonlySet<string>,
  redaction: ValueRedaction,
): T {
  const isKept = ([key]: [string, unknown]) => kept.has(key);
  const { letter, ...others } = record as { readonly letter?: object };
  const isOfEnvelope = kept === keptOfEnvelope && isPlainObject(letter);
  const fields = Object.entries(isOfEnvelope ? others : record);
  const redacted = redaction.object(
    Object.fromEntries(fields.filter((field) => !isKept(field))) as JsonObject,
  );
  const ofLetter = isOfEnvelope ? { letter: redactRecord(letter, keptOfLetter, redaction) } : {};
  return redaction.counts === null
    ? record
    : ({ ...Object.fromEntries(fields.filter(isKept)), ...redacted, ...ofLetter } as T);
}

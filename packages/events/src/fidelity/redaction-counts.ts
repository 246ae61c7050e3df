import type { JsonObject, JsonValue } from '../json/json.ts';

/** The field of an event's data that counts what redaction replaced: secrets by their kind. */
export const redactionsField = 'redactions';

/** The field of the `system:notice` that a later redaction of the log adds: what it replaced, by kind. */
export const replacedField = 'replaced';

export type RedactionCounts = Readonly<Record<string, number>>;

const kindPattern = /^[A-Za-z0-9_][\w.-]{0,99}$/;

/** How many secrets of each kind were replaced in an event; null if none was. */
export function redactionsOf(data: JsonObject): RedactionCounts | null {
  const counts = data[redactionsField];
  return isRedactionCounts(counts) ? counts : null;
}

/** Adds the counts of each kind to sums, without those that were counted before. */
export function addRedactions(
  sums: Record<string, number>,
  counts: RedactionCounts | null,
  before: RedactionCounts | null = null,
): void {
  for (const [kind, count] of Object.entries(counts ?? {})) {
    const added = count - countOf(before, kind);
    if (added > 0) sums[kind] = countOf(sums, kind) + added;
  }
}

/** A kind can be named `constructor`. */
function countOf(counts: RedactionCounts | null, kind: string): number {
  return counts !== null && Object.hasOwn(counts, kind) ? (counts[kind] as number) : 0;
}

/** What a later redaction of a log replaced; null for any event but its notice. */
export function replacedBy({
  type,
  data,
}: {
  readonly type: string;
  readonly data: JsonObject;
}): RedactionCounts | null {
  const counts = data[replacedField];
  return type === 'system:notice' && isRedactionCounts(counts) ? counts : null;
}

/** Whether a value can only be counts: an agent or a source may use the same name for something else. */
export function isRedactionCounts(value: JsonValue | undefined): value is Record<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([kind, count]) => kindPattern.test(kind) && Number.isSafeInteger(count) && (count as number) > 0,
  );
}

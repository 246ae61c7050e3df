import type { JsonObject, JsonValue } from '@hansard/events';
import { references } from '../id-text.ts';
import { applyRemainder, dialectFields, type KeptRemainder } from '../remainder.ts';
import type { SessionDialect } from '../session-dialect.ts';

/** The links of the dialects, each with its key in the other one. */
const otherKeys: Readonly<Record<string, string>> = {
  '/utterance_ref': 'substance',
  '/caused_by': 'cause',
  '/substance': 'utterance_ref',
  '/cause': 'caused_by',
};

/**
 * Completes a record with the remainder of a record of the other dialect. Links that its events do not have as they were
 * written get their key in this dialect. `lost` are the keys that the record cannot have; the result adds to them.
 */
export function crossDialect(
  dialect: SessionDialect,
  derived: JsonObject,
  { put = {}, absent = [] }: KeptRemainder,
  lost: ReadonlySet<string>,
): { record: JsonObject; lost: Set<string> } {
  const nowLost = new Set(lost);
  const others = Object.entries(put).filter(([pointer]) => !dialectFields.test(pointer));
  let record = applyRemainder(derived, {
    put: Object.fromEntries(others),
    absent: absent.filter((pointer) => !dialectFields.test(pointer)),
  });
  const own = [dialect.substanceKey, dialect.causeKey];
  // The substance first: it decides whether the record can have a cause.
  const entries = Object.entries(put).sort(([one], [other]) => rank(one) - rank(other));
  for (const [pointer, value] of entries) {
    if (!dialectFields.test(pointer)) continue;
    const key = otherKeys[pointer];
    if (pointer === '/source') {
      // In a dialect without sources, they are compared with those that follow from the links.
      if (dialect.sourceKey !== null) nowLost.add('source');
    } else if (pointer === '/event_type') {
      if (derived.event_type !== value) nowLost.add('event_type');
    } else if (key === undefined || !own.includes(key)) {
      // The key of a link of this dialect, in a log that does not have it.
      nowLost.add(pointer.slice(1));
    } else if (lost.size === 0 && mayPut(dialect, record, key, value)) {
      record = { ...record, [key]: value };
    } else {
      nowLost.add(key);
    }
  }
  for (const pointer of absent) {
    if (!dialectFields.test(pointer) || pointer === '/source') continue;
    const key = otherKeys[pointer] ?? pointer.slice(1);
    if (pointer !== '/event_type' || derived.event_type !== undefined) nowLost.add(key);
    else nowLost.add('event_type');
  }
  return { record, lost: nowLost };
}

/** Whether a link can have this value, beside the links that follow from the events. */
function mayPut(
  { substanceKey, causeKey, mayHaveBoth }: SessionDialect,
  record: JsonObject,
  key: string,
  value: JsonValue,
): boolean {
  if (key === causeKey) {
    const [substance] = references(record[substanceKey]);
    // That a record names its substance twice is the rule in one dialect, and cannot be said in the other.
    return substance === undefined || (mayHaveBoth && references(value).join('\n') !== substance);
  }
  return references(value).length > 0 || record[substanceKey] === undefined;
}

function rank(pointer: string): number {
  return /substance|utterance_ref/.test(pointer) ? 0 : 1;
}

import type { EventLinks, JsonObject } from '@hansard/events';
import { references } from './id-text.ts';
import type { SessionEntry, SessionReading } from './session-reading.ts';

export type RecordLinks = Pick<EventLinks, 'substance' | 'cause' | 'via'>;

/**
 * The links of a record. An event has either substance or cause. If a record has both and they differ, its cause is the
 * `via`: the event that the content passed through, such as the answer of a translator.
 */
export function linksOf(reading: SessionReading, { record }: Pick<SessionEntry, 'record'>): RecordLinks {
  const { dialect, names } = reading;
  const [substance] = references(record[dialect.substanceKey]);
  const named = references(record[dialect.causeKey]);
  if (substance !== undefined) {
    const [passed] = named.filter((reference) => reference !== substance);
    const via =
      passed === undefined ? undefined : (exactCall(reading, record, passed) ?? names.refer(passed));
    return { substance: names.refer(substance), ...(via === undefined ? {} : { via }) };
  }
  const causes = [...new Set(named.flatMap((reference) => causesNamed(reading, record, reference)))];
  const [cause] = causes;
  if (cause === undefined) return {};
  return { cause: causes.length === 1 ? cause : causes };
}

/** The events that a reference means as a cause: of a message with several calls the one that the record means, or all if it does not say. */
function causesNamed(reading: SessionReading, record: JsonObject, reference: string): readonly string[] {
  const exact = exactCall(reading, record, reference);
  if (exact !== undefined) return [exact];
  const name = reading.names.refer(reference);
  return reading.severalCalls.get(name)?.map(({ eventId }) => eventId) ?? [name];
}

/** The event of the call that a record means, if the reference names a message with several calls. */
function exactCall({ names, severalCalls }: SessionReading, record: JsonObject, reference: string) {
  return meantCall(record, severalCalls.get(names.refer(reference)) ?? [])?.eventId;
}

/**
 * The key of the call that is meant, in a record whose cause is a message with several calls. The dialects do not have it,
 * so their readers keep it as an additional key. A result names its call itself.
 */
export const exactCallKey = 'cause_tool_call_id';

/** The one of several calls that a record means; undefined if it does not say, or two of them have the id. */
export function meantCall<C extends { readonly toolCallId: string }>(
  record: JsonObject,
  calls: readonly C[],
): C | undefined {
  const { role, tool_call_id: answered, [exactCallKey]: named } = record;
  const meant = named ?? (role === 'tool' ? answered : undefined);
  const [call, ...others] = calls.filter(({ toolCallId }) => toolCallId === meant);
  return others.length === 0 ? call : undefined;
}

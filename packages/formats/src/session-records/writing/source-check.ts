import type { JsonObject, JsonValue } from '@hansard/events';
import { idText, references } from '../id-text.ts';
import { keptRemainder } from '../remainder.ts';
import type { DerivedRecord } from './derive-records.ts';

/**
 * In a dialect without sources, the sender of a user message follows from its links: the agent of the record that it
 * names, or the outside world if it names none. The function says of each record, in the order of the log, whether its source differs from that.
 */
export function createSourceCheck(): (derived: DerivedRecord, record: JsonObject) => boolean {
  const agents = new Map<string, string | undefined>();

  function followingSource({ substance, cause }: JsonObject): string {
    const [origin] = [...references(substance), ...references(cause)];
    return (origin === undefined ? undefined : agents.get(origin)) ?? 'external';
  }

  return (derived, record) => {
    const id = idText(record.message_id);
    if (id !== undefined && !agents.has(id)) agents.set(id, idText(record.agent_id));
    const following = derived.source === undefined ? undefined : followingSource(record);
    return sourceOf(derived) !== following;
  };
}

/** The source in the record itself, if it was read from a log with sources; otherwise the one that its events have. */
function sourceOf({ source, events: [first] }: DerivedRecord): JsonValue | undefined {
  const { format, put = {}, absent = [] } = keptRemainder(first) ?? {};
  if (format !== 'session-v1') return source;
  if (Object.hasOwn(put, '/source')) return put['/source'];
  return absent.includes('/source') ? undefined : source;
}

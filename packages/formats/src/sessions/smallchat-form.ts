import type { JsonObject, JsonValue } from '@hansard/events';

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** The id of the person, who has no transcript. */
export const person = 'user';

/** The kind of a record, independent of the dialect. */
export type RecordKind = 'agent_created' | 'transcript_entry' | 'piece_of_text' | 'transcript_edit';

/** The kind of a record of smallchat; null if it does not have it. */
export function smallchatKind({ event_type: type, role, agent, action, n }: JsonObject): RecordKind | null {
  if (typeof agent !== 'string') return null;
  if (type === 'agent_created') return type;
  if (type === 'fragment') return 'piece_of_text';
  if (type === 'transcript_entry') return roles.has(role) ? type : null;
  return type === 'transcript_edit' && action === 'truncate' && Number.isInteger(n) ? type : null;
}

const keys: Readonly<Record<string, readonly string[]>> = {
  agent_created: ['agent', 'role', 'name', 'cause', 'parent', 'language_model'],
  fragment: ['agent', 'content', 'cause'],
  transcript_edit: ['agent', 'action', 'n'],
  system: ['agent', 'role', 'content', 'cause'],
  user: ['agent', 'role', 'content', 'substance'],
  assistant: ['agent', 'role', 'content', 'tool_calls'],
  tool: ['agent', 'role', 'content', 'name', 'substance', 'cause', 'tool_call', 'tool_call_id'],
};

/** Whether smallchat writes this key in a record of its kind. */
export function isSmallchatKey({ event_type: type, role }: JsonObject, key: string): boolean {
  if (key === 'message_id' || key === 'event_type') return true;
  return (keys[`${type === 'transcript_entry' ? role : type}`] ?? []).includes(key);
}

/**
 * A record of smallchat with the keys of `session-v2`. A cause `E.C` becomes the entry E, with the call C in a key of its own. A cause by the
 * person becomes no cause. `hasEntry` says whether a text is the id of an earlier record.
 */
export function inSessionForm(record: JsonObject, hasEntry: (id: string) => boolean): JsonObject {
  const kind = smallchatKind(record);
  if (kind === null) return { ...record, agent_id: record.agent };
  const { agent, role, event_type: _, cause, ...rest } = record;
  const form = {
    ...rest,
    event_type: kind,
    ...(kind === 'transcript_entry' ? { role } : {}),
    ...(agent === person ? {} : { agent_id: agent }),
  } as JsonObject;
  const [only, ...others] = [cause ?? []].flat() as JsonValue[];
  if (only === undefined || only === person) return form;
  const dot = typeof only === 'string' && others.length === 0 && !hasEntry(only) ? only.indexOf('.') : -1;
  if (dot < 0 || !hasEntry(`${only}`.slice(0, dot))) return { ...form, cause: cause as JsonValue };
  return { ...form, cause: `${only}`.slice(0, dot), cause_tool_call_id: `${only}`.slice(dot + 1) };
}

/** Whether a record names itself and its agent as smallchat does. */
export function isSmallchatRecord(record: JsonObject): boolean {
  const { message_id: id, agent_id: ofOther } = record;
  return typeof id === 'string' && ofOther === undefined && smallchatKind(record) !== null;
}

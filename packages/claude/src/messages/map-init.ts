import type { JsonObject } from '@hansard/events';
import type { MappingStep } from '../mapping/mapping-step.ts';
import { writeNotice } from '../mapping/write-notice.ts';
import { asList, asText, without, withoutUndefined } from '../values/json-fields.ts';

/** Writes `session:init` once per session. The message comes again with each turn; changed fields become `session:status`. */
export function mapInit(step: MappingStep): void {
  const { message, state, events } = step;
  const model = asText(message.model);
  const sessionId = asText(message.session_id);
  if (model === undefined || sessionId === undefined) {
    writeNotice(step, 'a system/init message without model or session_id', message);
    return;
  }
  const before = state.sessions.get(sessionId);
  state.sessions.set(sessionId, without(message, ['uuid', 'timestamp']));
  if (before !== undefined) {
    const changed = changedFields(before, message);
    if (Object.keys(changed).length > 0) events.event('session:status', { changed });
    return;
  }
  const cwd = asText(message.cwd);
  const names = asList(message.tools)?.filter((tool) => typeof tool === 'string');
  const tools = names?.length === asList(message.tools)?.length ? names : undefined;
  step.keepOthers(['session_id', 'model', ...Object.keys(withoutUndefined({ cwd, tools }))]);
  events.event('session:init', withoutUndefined({ model, sessionId, cwd, tools }));
}

function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(before), ...Object.keys(without(after, ['uuid', 'timestamp']))]);
  const isSame = (key: string) => JSON.stringify(before[key]) === JSON.stringify(after[key]);
  return Object.fromEntries([...keys].filter((key) => !isSame(key)).map((key) => [key, after[key] ?? null]));
}

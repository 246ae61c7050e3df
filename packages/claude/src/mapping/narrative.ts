import { type JsonObject, type JsonValue, type NewEvent, toNarrative } from '@hansard/events';
import { asList, asObject, without } from '../values/json-fields.ts';
import { leftOutAtNarrative } from './left-out.ts';
import { withoutCommandOutput } from './without-command-output.ts';

/** The fields of hooks, tool progress and attachments that a narrative keeps. Any other field may hold content. */
const namingFields: ReadonlySet<string> = new Set([
  'type',
  'hookName',
  'hookEvent',
  'toolUseID',
  'command',
  'agentId',
  'status',
  'serverName',
  'toolName',
  'query',
  'taskDescription',
  'taskType',
  'filename',
  'displayPath',
  'path',
  'ideName',
  'planFilePath',
  'names',
  'addedNames',
  'removedNames',
  'readdedNames',
  'pendingMcpServers',
  'addedTypes',
  'removedTypes',
  'allowedTools',
  'newDate',
  'reminderType',
  'condition',
  'commandMode',
  'timestamp',
  'origin',
  'kind',
  'source_uuid',
]);

/** The fields of a record that hold such an object. */
const captured = ['attachment', 'data'] as const;

/**
 * Reduces an event of a stream or a transcript to `narrative` fidelity (D7). Every event of both mappings passes here, so
 * both leave out the same fields.
 */
export function asNarrative(event: NewEvent): NewEvent {
  const { type, data } = event;
  if (type === 'user:message' && typeof data.text === 'string')
    return toNarrative({
      ...event,
      data: { ...withNarrativeDetails(data), text: withoutCommandOutput(data.text) },
    });
  if (!type.startsWith('system:') && type !== 'session:status')
    return toNarrative({ ...event, data: withNarrativeDetails(data) });
  return toNarrative({ ...event, data: narrativeFields(data, type) });
}

function withNarrativeDetails(data: JsonObject): JsonObject {
  const details = asObject(data.details);
  return details === undefined ? data : { ...data, details: narrativeFields(details) };
}

/** Reduces fields of a message that are in its event unchanged. */
function narrativeFields(fields: JsonObject, type = ''): JsonObject {
  const kept = without(fields, leftOutAtNarrative.message, privateFieldsOf(type, fields));
  for (const [key, value] of Object.entries(kept))
    if (typeof value === 'string') kept[key] = withoutCommandOutput(value);
  for (const key of captured) {
    const object = asObject(kept[key]);
    if (object !== undefined) kept[key] = namesOnly(object);
  }
  const memories = asList(kept.memories);
  if (memories !== undefined) kept.memories = memories.map((memory) => namesOnly(asObject(memory) ?? {}));
  return kept;
}

function privateFieldsOf(type: string, { content }: JsonObject): readonly string[] {
  // The prompt of a task is the input of the call that started it.
  if (type.startsWith('system:task_')) return ['prompt'];
  // A command of the user is enclosed in tags; its output is not.
  const isOutput = type.startsWith('system:local_command') && !/^\s*<command-/.test(String(content));
  return isOutput ? ['content'] : [];
}

/** Numbers, booleans and the fields that name things. */
function namesOnly(fields: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) kept[key] = value;
    else if (namingFields.has(key) && value !== undefined) kept[key] = namesIn(value);
  }
  return kept;
}

function namesIn(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  return asObject(value) === undefined ? value : namesOnly(value as JsonObject);
}

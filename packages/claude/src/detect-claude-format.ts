import type { JsonObject, JsonValue } from '@hansard/events';
import { asObject } from './lines/json-fields.ts';
import { splitRecords } from './lines/split-records.ts';

export type ClaudeFormatId = 'claude-transcript' | 'claude-stream';

/** Detects the format from the start of a file: most records have its identity keys. Null if neither is shown. */
export function detectClaudeFormat(start: string): ClaudeFormatId | null {
  const { records, known } = claudeShares(start);
  const ids = Object.keys(known) as ClaudeFormatId[];
  return ids.find((id) => known[id] > records / 2) ?? null;
}

interface ClaudeShares {
  readonly records: number;
  readonly known: Readonly<Record<ClaudeFormatId, number>>;
}

/** More records show nothing else, and take as long as a small import. */
const mostCounted = 100;

/** The last start and its records: an import asks for them several times. */
let latest: { readonly start: string; readonly shares: ClaudeShares } | null = null;

/** Counts the first hundred records of the start of a file by their formats. Other text does not count. */
export function claudeShares(start: string): ClaudeShares {
  if (latest?.start !== start) latest = { start, shares: countShares(start) };
  return latest.shares;
}

function countShares(start: string): ClaudeShares {
  const known = { 'claude-transcript': 0, 'claude-stream': 0 };
  let records = 0;
  for (const value of recordsAtStart(start)) {
    const record = asObject(value);
    const format = record === undefined ? null : formatOf(record);
    if (format === 'either') continue;
    records += 1;
    if (format !== null) known[format] += 1;
    if (records === mostCounted) break;
  }
  return { records, known };
}

/** The records of a text: of a JSON array, also of one that is broken over lines, its items. */
export function* recordsAtStart(start: string): Generator<JsonValue> {
  const list = /^\uFEFF?\s*\[/.test(start) ? parseList(start) : null;
  if (list !== null) {
    yield* list;
    return;
  }
  const lines = start.split('\n');
  // The start of a file can end anywhere. To look for records inside a record that is cut takes longer than all others.
  if (lines.length > 1 && !isJson(lines.at(-1))) lines.pop();
  for (const line of lines) {
    for (const part of splitRecords(line)) {
      if (part.kind !== 'record') continue;
      if (Array.isArray(part.record)) yield* part.record;
      else yield part.record;
    }
  }
}

function isJson(text = ''): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parseList(text: string): readonly JsonValue[] | null {
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, '')) as JsonValue;
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Records of a transcript that are about a session or its files, and no part of its conversation. */
const bookkeeping: ReadonlySet<unknown> = new Set([
  'agent-color',
  'agent-name',
  'agent-setting',
  'ai-title',
  'bridge-session',
  'continued-in',
  'cost-state',
  'custom-title',
  'last-prompt',
  'mode',
  'permission-mode',
  'pr-link',
  'queue-operation',
  'tag',
]);

/** Types that only a stream has. */
const streamTypes: ReadonlySet<unknown> = new Set([
  'auth_status',
  'control_request',
  'control_response',
  'conversation_reset',
  'prompt_suggestion',
  'rate_limit_event',
  'result',
  'stream_event',
  'tool_progress',
  'tool_use_summary',
]);

/** `either`: a record that names its session, of a type that this version does not know. It shows nothing. */
function formatOf(record: JsonObject): ClaudeFormatId | 'either' | null {
  const { type, uuid, sessionId, session_id: streamId } = record;
  if (typeof type !== 'string') return null;
  if (isAboutFiles(record)) return 'claude-transcript';
  // A transcript may name its session in both ways.
  if (typeof sessionId !== 'string')
    return typeof streamId === 'string' && isMessage(record) ? 'claude-stream' : null;
  if (bookkeeping.has(type)) return 'claude-transcript';
  if (typeof uuid !== 'string') return 'message' in record ? null : 'either';
  return isEntry(record) ? 'claude-transcript' : null;
}

/** A record of the conversation, and not one of a product that was made from the same design. */
function isEntry(record: JsonObject): boolean {
  const { type } = record;
  if ('provenance' in record || 'systemPayload' in record) return false;
  return (type !== 'user' && type !== 'assistant') || hasContent(record);
}

function hasContent({ message }: JsonObject): boolean {
  const { content } = asObject(message) ?? {};
  return typeof content === 'string' || Array.isArray(content);
}

/** Summaries and snapshots belong to no session by their own words. */
function isAboutFiles({ type, leafUuid, snapshot, messageId, parentSessionId }: JsonObject): boolean {
  if (type === 'summary') return typeof leafUuid === 'string';
  if (type === 'file-history-snapshot') return asObject(snapshot) !== undefined;
  if (type === 'file-history-delta') return typeof messageId === 'string';
  return type === 'fork-context-ref' && typeof parentSessionId === 'string';
}

/** A message of the Agent SDK has an id of its own or names the call that it belongs to. Older messages show their origin by other fields. */
function isMessage(record: JsonObject): boolean {
  const { type, subtype, tools, num_turns: turns } = record;
  if (type === 'user' || type === 'assistant')
    return hasContent(record) && ('uuid' in record || 'parent_tool_use_id' in record);
  if (type === 'system') return 'uuid' in record || (subtype === 'init' && Array.isArray(tools));
  if (type === 'result') return 'uuid' in record || typeof turns === 'number';
  return streamTypes.has(type) || 'uuid' in record;
}

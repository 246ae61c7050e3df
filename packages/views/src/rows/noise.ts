import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';
import type { Row } from './row.ts';

const storedTypes: ReadonlySet<string> = new Set(['content:stored', 'request:stored']);

/**
 * Whether an event is a record of the harness or its engine that most readers skip: the progress of hooks and background tasks,
 * states, snapshots, limits that are not reached, hooks that allowed. A record of a failure is not among them.
 */
export function isNoise({ type, data }: CapturedEvent): boolean {
  if (type === 'harness:hook_decision') return data.decision === 'allow';
  if (type === 'session:rate_limit') return data.status === 'allowed';
  if (storedTypes.has(type)) return true;
  if (type === 'system:notice') return false;
  if (type === 'session:status' && isFactOfWork(data)) return false;
  return (type === 'session:status' || type.startsWith('system:')) && !isFailedRecord(type, data);
}

/** Whether a state of a session is about its work: where it works, or a pull request of it. */
export function isFactOfWork({ kind }: JsonObject): boolean {
  return kind === 'moved' || kind === 'pr-link';
}

/**
 * The tool calls that a record of an engine can be about, the nearest first. The progress of a call has an id of its own beside that of the
 * call.
 */
export function callsOfRecord({ data }: CapturedEvent): string[] {
  const { attachment, toolUseID, tool_use_id, parentToolUseID, parent_tool_use_id, call_id } = data;
  const named = isPlainObject(attachment) ? (attachment as JsonObject).toolUseID : undefined;
  return [toolUseID, tool_use_id, parentToolUseID, parent_tool_use_id, call_id, named].filter(
    (id) => typeof id === 'string',
  );
}

const failure = /error|fail|denied|blocked|crash/i;

/** Whether a record of an engine says that something failed. */
export function isFailedRecord(type: string, data: JsonObject): boolean {
  if (failure.test(type)) return true;
  const { attachment } = data;
  return saysFailure(data) || (isPlainObject(attachment) && saysFailure(attachment as JsonObject));
}

function saysFailure({
  level,
  status,
  outcome,
  type,
  subtype,
  error,
  exit_code,
  exitCode,
}: JsonObject): boolean {
  return (
    [level, status, outcome, type, subtype].some((word) => typeof word === 'string' && failure.test(word)) ||
    isSet(error) ||
    [exit_code, exitCode].some((code) => typeof code === 'number' && code !== 0)
  );
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

/** Whether a row has nothing but stored contents and requests, which have no time and begin no day. */
export function isStoredRow({ kind, folded = [] }: Pick<Row, 'kind' | 'folded'>): boolean {
  return kind === 'noise' && folded.length > 0 && folded.every(({ type }) => storedTypes.has(type));
}

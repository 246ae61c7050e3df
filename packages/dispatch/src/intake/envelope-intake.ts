import {
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type EventError,
  envelopeSchemaVersion,
  eventErrors,
  findNotJson,
  type IdSource,
  parseEnvelope,
  parseEnvelopeUpdates,
  parseTaskRecord,
  preview,
  type TaskRecord,
  toTimestamp,
} from '@hansard/events';
import type { NewDispatch } from '../store/dispatch.ts';
import { copyJson } from './copy-json.ts';

/** The envelope of a dispatch that begins. @throws EVENT_ENVELOPE_INVALID */
export function newEnvelope(
  taskDir: string,
  dispatch: NewDispatch,
  createId: IdSource,
  now: () => number,
): DispatchEnvelope {
  return parseEnvelope({
    dispatchId: dispatch.dispatchId ?? createId(),
    taskSlug: taskDir.slice(taskDir.lastIndexOf('/') + 1),
    role: dispatch.role,
    title: dispatch.title ?? null,
    model: dispatch.model ?? null,
    cwd: dispatch.cwd ?? null,
    startedAt: dispatch.startedAt === undefined ? toTimestamp(now()) : dispatch.startedAt,
    completedAt: null,
    status: 'running',
    ended: null,
    cost: null,
    usage: null,
    models: null,
    periods: null,
    prices: null,
    openCalls: null,
    folded: null,
    structuredResult: null,
    source: dispatch.source ?? null,
    parentDispatchId: dispatch.parentDispatchId ?? null,
    botId: dispatch.botId ?? null,
    fidelity: dispatch.fidelity ?? 'narrative',
    schemaVersion: envelopeSchemaVersion,
  } satisfies DispatchEnvelope);
}

/** A copy of an envelope, without the absent keys. @throws EVENT_ENVELOPE_INVALID */
export function checkEnvelope(envelope: DispatchEnvelope): DispatchEnvelope {
  return ownCopy(parseEnvelope(envelope), 'EVENT_ENVELOPE_INVALID', 'an envelope');
}

/** A copy of the changes to an envelope, without the absent ones. @throws EVENT_ENVELOPE_INVALID */
export function checkUpdates(updates: EnvelopeUpdates): EnvelopeUpdates {
  return ownCopy(parseEnvelopeUpdates(updates), 'EVENT_ENVELOPE_INVALID', 'a change to an envelope');
}

/** A copy of a task record, without the absent keys. @throws EVENT_TASK_INVALID */
export function checkTask(task: TaskRecord): TaskRecord {
  return ownCopy(parseTaskRecord(task), 'EVENT_TASK_INVALID', 'a task record');
}

function ownCopy<T>(checked: T, code: EventError['code'], what: string): T {
  const notJson = findNotJson(checked);
  if (notJson === null) return copyJson(checked);
  const { path } = notJson;
  const value = preview(notJson.value);
  throw eventErrors.error(code, `Not ${what}: ${path} is ${value}, which JSON cannot hold.`, {
    details: { path, value },
  });
}

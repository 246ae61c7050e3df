import {
  type DispatchEnvelope,
  type EnvelopeUpdates,
  EventError,
  envelopeSchemaVersion,
  findNotJson,
  type IdSource,
  parseEnvelope,
  parseEnvelopeUpdates,
  preview,
  toTimestamp,
} from '@hansard/events';
import type { Clock } from './clock.ts';
import { copyJson } from './copy-json.ts';
import type { NewDispatch } from './dispatch-store.ts';

/** The envelope of a dispatch that begins. @throws EVENT_ENVELOPE_INVALID */
export function newEnvelope(
  taskDir: string,
  dispatch: NewDispatch,
  createId: IdSource,
  clock: Clock,
): DispatchEnvelope {
  return parseEnvelope({
    dispatchId: dispatch.dispatchId ?? createId(),
    taskSlug: taskDir.slice(taskDir.lastIndexOf('/') + 1),
    role: dispatch.role,
    model: dispatch.model ?? null,
    cwd: dispatch.cwd ?? null,
    startedAt: dispatch.startedAt ?? toTimestamp(clock.now()),
    completedAt: null,
    status: 'running',
    cost: null,
    usage: null,
    structuredResult: null,
    parentDispatchId: dispatch.parentDispatchId ?? null,
    botId: dispatch.botId ?? null,
    fidelity: dispatch.fidelity ?? 'narrative',
    schemaVersion: envelopeSchemaVersion,
  } satisfies DispatchEnvelope);
}

/** A copy of the changes to an envelope, without the absent ones. @throws EVENT_ENVELOPE_INVALID */
export function checkUpdates(updates: EnvelopeUpdates): EnvelopeUpdates {
  const checked = parseEnvelopeUpdates(updates);
  const notJson = findNotJson(checked);
  if (notJson === null) return copyJson(checked);
  const { path } = notJson;
  const value = preview(notJson.value);
  throw new EventError(
    'EVENT_ENVELOPE_INVALID',
    `Not a change to an envelope: ${path} is ${value}, which JSON cannot hold.`,
    { details: { path, value } },
  );
}

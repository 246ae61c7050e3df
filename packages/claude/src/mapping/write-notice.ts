import { type JsonObject, type JsonValue, type NewEvent, newEvent, toTimestamp } from '@hansard/events';
import { withoutUndefined } from '../values/json-fields.ts';
import { rawFields } from '../values/raw-value.ts';
import type { MappingStep, RecordPlace } from './mapping-step.ts';

/** Keeps a message that could not be mapped, with its place. */
export function writeNotice(step: MappingStep, problem: string, raw: JsonValue): void {
  step.events.event('system:notice', noticeData(problem, step.place, raw));
}

/** A notice of a value that is not a message. */
export function newNotice(problem: string, place: RecordPlace, time: number, raw?: JsonValue): NewEvent {
  return newEvent('system:notice', noticeData(problem, place, raw), { timestamp: toTimestamp(time) });
}

function noticeData(problem: string, { file, line }: RecordPlace, raw: JsonValue | undefined): JsonObject {
  return withoutUndefined({ problem, file, line, ...(raw === undefined ? {} : rawFields(raw)) });
}

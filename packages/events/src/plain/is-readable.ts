import { findNotJson, isPlainObject } from '../json/json.ts';
import type { CapturedEvent, KnownEventType } from '../types/event.ts';
import { compileShape } from './check-shape.ts';
import { shapes } from './shapes.ts';

type Check = (value: unknown) => boolean;

const dataChecks = new Map<string, Check>();

/** Whether a value is an envelope: what `envelopeSchema` says, without zod. */
export const isPlainEnvelope = lazyCheck('envelope');
/** Whether a value is a task record: what `taskRecordSchema` says, without zod. */
export const isPlainTask = lazyCheck('task');
const hasPlainFields = lazyCheck('event');

/** Whether data has the shape that this version knows of a type: what `eventDataSchemas` says, without zod. */
export function isDataOf(type: KnownEventType, data: unknown): boolean {
  let check = dataChecks.get(type);
  if (check === undefined) {
    check = compileShape(shapes.data[type]);
    dataChecks.set(type, check);
  }
  return check(data);
}

/** Whether a value is an event: what `isEvent` says, without zod. */
export function isPlainEvent(value: unknown): value is CapturedEvent {
  if (!hasPlainFields(value)) return false;
  const { type, substance, cause, data } = value as CapturedEvent;
  if (substance !== undefined && cause !== undefined) return false;
  if (findNotJson(value) !== null) return false;
  return Object.hasOwn(shapes.data, type) ? isDataOf(type as KnownEventType, data) : isPlainObject(data);
}

/** Compiled when it is needed first. */
function lazyCheck(name: 'event' | 'envelope' | 'task'): Check {
  let check: Check | undefined;
  return (value) => {
    check ??= compileShape(shapes[name]);
    return check(value);
  };
}

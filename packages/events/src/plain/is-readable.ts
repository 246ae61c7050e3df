import { findNotJson, isPlainObject } from '../json/json.ts';
import type { CapturedEvent, EventOf, KnownEventType } from '../types/event.ts';
import { compileShape } from './check-shape.ts';
import { shapes } from './shapes.ts';

type Check = (value: unknown) => boolean;

const dataChecks = new Map<string, Check>();

/** Whether a value is an envelope: the same answer as `envelopeSchema`, without zod. */
export const isPlainEnvelope = lazyCheck('envelope');
/** Whether a value is a task record: the same answer as `taskRecordSchema`, without zod. */
export const isPlainTask = lazyCheck('task');
const hasPlainFields = lazyCheck('event');

/** Whether data has the known shape of a type: the same answer as `eventDataSchemas`, without zod. */
export function isDataOf(type: KnownEventType, data: unknown): boolean {
  let check = dataChecks.get(type);
  if (check === undefined) {
    check = compileShape(shapes.data[type]);
    dataChecks.set(type, check);
  }
  return check(data);
}

/** Whether a value is an event: the same answer as `isEvent`, without zod. */
export function isPlainEvent(value: unknown): value is CapturedEvent {
  if (!hasPlainFields(value)) return false;
  const { type, substance, cause, data } = value as CapturedEvent;
  if (substance !== undefined && cause !== undefined) return false;
  if (findNotJson(value) !== null) return false;
  return Object.hasOwn(shapes.data, type) ? isDataOf(type as KnownEventType, data) : isPlainObject(data);
}

/** Compiled at first use. */
function lazyCheck(name: 'event' | 'envelope' | 'task'): Check {
  let check: Check | undefined;
  return (value) => {
    check ??= compileShape(shapes[name]);
    return check(value);
  };
}

/**
 * Whether an event has this type, and data in the shape that this version knows; a newer version may have changed the shape.
 * `isChecked`: its data has been checked already.
 */
export function isReadableAs<T extends KnownEventType>(
  event: CapturedEvent,
  type: T,
  isChecked = false,
): event is EventOf<T> {
  return event.type === type && (isChecked || isDataOf(type, event.data));
}

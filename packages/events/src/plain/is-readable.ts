import { findNotJson, isPlainObject } from '../json/json.ts';
import type { CapturedEvent, KnownEventType } from '../types/event.ts';
import { compileShape } from './check-shape.ts';
import { eventShapes } from './event-shapes.ts';

type Check = (value: unknown) => boolean;

const dataChecks = new Map<string, Check>();
let checkFields: Check | undefined;

/** Whether data has the shape that this version knows of a type: what `eventDataSchemas` says, without zod. */
export function isDataOf(type: KnownEventType, data: unknown): boolean {
  let check = dataChecks.get(type);
  if (check === undefined) {
    check = compileShape(eventShapes.data[type]);
    dataChecks.set(type, check);
  }
  return check(data);
}

/** Whether a value is an event: what `isEvent` says, without zod. */
export function isPlainEvent(value: unknown): value is CapturedEvent {
  checkFields ??= compileShape(eventShapes.fields);
  if (!checkFields(value)) return false;
  const { type, substance, cause, data } = value as CapturedEvent;
  if (substance !== undefined && cause !== undefined) return false;
  if (findNotJson(value) !== null) return false;
  return Object.hasOwn(eventShapes.data, type) ? isDataOf(type as KnownEventType, data) : isPlainObject(data);
}

import type { CapturedEvent, EventOf, KnownEventType } from '../types/event.ts';
import { isDataOf } from './is-readable.ts';

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

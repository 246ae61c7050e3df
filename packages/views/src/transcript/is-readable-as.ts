import type { CapturedEvent, EventOf, KnownEventType } from '@hansard/events';
import { isDataOf } from '@hansard/events/plain';

/** Whether an event is of that type and its data has the shape that this version knows; a newer version may have changed it. */
export function isReadableAs<T extends KnownEventType>(event: CapturedEvent, type: T): event is EventOf<T> {
  return event.type === type && isDataOf(type, event.data);
}

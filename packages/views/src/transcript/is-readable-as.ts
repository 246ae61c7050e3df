import { type CapturedEvent, type EventOf, eventDataSchemas, type KnownEventType } from '@hansard/events';

/** Whether an event is of that type and its data has the shape that this version knows; a newer version may have changed it. */
export function isReadableAs<T extends KnownEventType>(event: CapturedEvent, type: T): event is EventOf<T> {
  return event.type === type && eventDataSchemas[type].safeParse(event.data).success;
}

import type { CapturedEvent, EventData, EventLinks, EventOf, KnownEventType, NewEvent } from './event.ts';

/** Creates an event of a known type. The compiler checks its data. */
export function newEvent<T extends KnownEventType>(
  type: T,
  data: EventData<T>,
  fields: EventLinks & { readonly id?: string; readonly timestamp?: string | null } = {},
): NewEvent & { readonly type: T; readonly data: EventData<T> } {
  return { ...fields, type, data };
}

/** Whether an event is of that type; narrows its data. */
export function isEventOf<T extends KnownEventType>(event: CapturedEvent, type: T): event is EventOf<T> {
  return event.type === type;
}

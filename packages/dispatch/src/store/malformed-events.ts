import { type CapturedEvent, messageOf, newEvent, parseEvent } from '@hansard/events';
import { type StoreError, storeErrors } from '@hansard/provider';
import type { DispatchRef } from './dispatch-ref.ts';
import type { DispatchStore } from './dispatch-store.ts';

/** The reason why a stored event is not an event; null if it is one. */
function problemOf(event: CapturedEvent): string | null {
  try {
    parseEvent(event);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * The first event of a dispatch that is not one, such as a known type with data of another shape, as the error that names its place.
 * Null if all are events. Reads trust what is stored, because writes are checked; only a person or another program can store such an
 * event. So this is for finding the reason after an error.
 */
export async function findMalformedEvent(
  store: DispatchStore,
  dispatch: DispatchRef,
): Promise<StoreError | null> {
  const { taskDir, dispatchId } = dispatch;
  const log = await store.openDispatch(dispatch);
  for await (const { position, event } of log.events()) {
    const problem = problemOf(event);
    if (problem === null) continue;
    return storeErrors.error(
      'STORE_CORRUPT',
      `Event ${position} of dispatch ${dispatchId} in ${taskDir} is not what this version records, and was stored by hand or by another program. ${problem}`,
      { details: { taskDir, dispatchId, position, wholeEvents: position } },
    );
  }
  return null;
}

/** The event, or in the place of one that is none, a notice with the reason. So the positions of the others stay. */
export function orNotice(event: CapturedEvent): CapturedEvent {
  const problem = problemOf(event);
  if (problem === null) return event;
  const { id, timestamp } = event;
  return {
    id,
    timestamp,
    ...newEvent('system:notice', { problem: `the stored event is not an event. ${problem}` }),
  };
}

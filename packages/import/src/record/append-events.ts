import type { Dispatch } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { isRewritten } from '@hansard/facts';
import { storeErrors } from '@hansard/provider';

/**
 * Appends events of a log. An event that already exists stays as it is. If the store has other content under its id, the
 * event is added under an id of its own, and `onRewritten` gets the id that it has in the log.
 */
export async function appendEvents(
  dispatch: Dispatch,
  events: readonly CapturedEvent[],
  onRewritten: (id: string) => void,
): Promise<void> {
  try {
    await dispatch.append(events);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT')) throw error;
    for (const event of events) {
      if (await appendUnder(dispatch, event)) onRewritten(event.id);
    }
  }
}

const longestId = 128;
const mostVersions = 1_000;

/** How many events of a dispatch were added under an id of their own because theirs was taken. */
export async function countRewritten(dispatch: Dispatch): Promise<number> {
  let count = 0;
  for await (const { events } of dispatch.pages()) {
    for (const { id } of events) if (isRewritten(id)) count += 1;
  }
  return count;
}

/** Appends an event, under another id if the store has other content under its own. Returns whether it had. */
async function appendUnder(dispatch: Dispatch, event: CapturedEvent): Promise<boolean> {
  for (let version = 1; ; version += 1) {
    const suffix = version === 1 ? '' : `:rewritten-${version}`;
    const id = `${event.id.slice(0, longestId - suffix.length)}${suffix}`;
    try {
      await dispatch.append({ ...event, id });
      return version > 1;
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT') || version === mostVersions) throw error;
    }
  }
}

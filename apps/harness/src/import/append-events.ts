import type { Dispatch } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { isStoreError } from '@hansard/provider';

/**
 * Appends events of a log. What is there already stays as it is; one whose id the store holds with other content is
 * added under an id of its own, and `onRewritten` is told the id that it has in the log.
 */
export async function appendEvents(
  dispatch: Dispatch,
  events: readonly CapturedEvent[],
  onRewritten: (id: string) => void,
): Promise<void> {
  try {
    await dispatch.append(events);
  } catch (error) {
    if (!isStoreError(error, 'STORE_EVENT_CONFLICT')) throw error;
    for (const event of events) {
      if (await appendUnder(dispatch, event)) onRewritten(event.id);
    }
  }
}

const longestId = 128;
const mostVersions = 1_000;

/** Whether an id is one under which an event was added whose own was taken. */
export function isRewritten(id: string): boolean {
  return /:rewritten-\d+$/.test(id);
}

/** Appends an event, under another id where its own has other content; whether it had. */
async function appendUnder(dispatch: Dispatch, event: CapturedEvent): Promise<boolean> {
  for (let version = 1; ; version += 1) {
    const suffix = version === 1 ? '' : `:rewritten-${version}`;
    const id = `${event.id.slice(0, longestId - suffix.length)}${suffix}`;
    try {
      await dispatch.append({ ...event, id });
      return version > 1;
    } catch (error) {
      if (!isStoreError(error, 'STORE_EVENT_CONFLICT') || version === mostVersions) throw error;
    }
  }
}

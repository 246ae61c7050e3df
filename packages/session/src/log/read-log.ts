import type { DispatchStore } from '@hansard/dispatch';
import type { EventPage } from '@hansard/provider';

/** The events of a dispatch behind a position, page by page. */
export async function* readLog(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  after = -1,
): AsyncGenerator<EventPage, undefined> {
  let position = after;
  for (;;) {
    const page = await store.readEvents(taskDir, dispatchId, { after: position });
    if (page.events.length === 0) return;
    yield page;
    position = page.next;
  }
}

import type { DispatchStore, FollowItem, FollowOptions } from '@hansard/dispatch';
import type { EventPage, ReadEventsOptions } from '@hansard/provider';

/** Follows a dispatch, which is opened at the first item. */
export async function* followDispatch(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  options?: FollowOptions,
): AsyncGenerator<FollowItem, undefined> {
  yield* (await store.openDispatch(taskDir, dispatchId)).follow(options);
}

/** One page of a dispatch; one without events where there are none after the cursor. */
export async function readEvents(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  { after = -1, ...options }: Omit<ReadEventsOptions, 'last'> = {},
): Promise<EventPage> {
  for await (const page of (await store.openDispatch(taskDir, dispatchId)).pages({ after, ...options }))
    return page;
  return { events: [], first: after + 1, next: after };
}

export async function countEvents(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
): Promise<number> {
  return (await store.openDispatch(taskDir, dispatchId)).count();
}

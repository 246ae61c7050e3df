import type { DispatchStore, FollowItem, FollowOptions, NewDispatch } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, NewEvent } from '@hansard/events';
import type { EventPage, ReadEventsOptions } from '@hansard/provider';

/** Creates a dispatch of status `running` that nobody writes. */
export async function createDispatch(
  store: DispatchStore,
  taskDir: string,
  dispatch: NewDispatch,
): Promise<DispatchEnvelope> {
  const begun = await store.beginDispatch(taskDir, dispatch);
  await begun.release();
  return begun.envelope;
}

/** Appends to a dispatch that nobody writes. */
export async function appendEvents(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  events: readonly NewEvent[],
): Promise<CapturedEvent[]> {
  const dispatch = await store.openDispatch(taskDir, dispatchId, { write: true });
  try {
    return await dispatch.append(events);
  } finally {
    await dispatch.release();
  }
}

export async function appendEvent(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  event: NewEvent,
): Promise<CapturedEvent | undefined> {
  const [appended] = await appendEvents(store, taskDir, dispatchId, [event]);
  return appended;
}

/** Changes the envelope of a dispatch that nobody writes. */
export async function updateDispatch(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  updates: EnvelopeUpdates,
): Promise<DispatchEnvelope> {
  const dispatch = await store.openDispatch(taskDir, dispatchId, { write: true });
  try {
    return await dispatch.update(updates);
  } finally {
    await dispatch.release();
  }
}

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

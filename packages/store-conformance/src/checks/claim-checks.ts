import type { DispatchStoreProvider } from '@hansard/provider';
import { refuses, sameContent } from './expectations.ts';
import { dispatchId, holdsEvents, prepared, taskDir } from './prepared-store.ts';
import { sampleEnvelope, sampleEvent } from './sample-data.ts';

export const late = sampleEvent('late');
export const endedEnvelope = sampleEnvelope(dispatchId, { status: 'completed' });

export const claimedWrites = {
  appendEvent: (store: DispatchStoreProvider) => store.appendEvent(taskDir, dispatchId, late),
  appendEvents: (store: DispatchStoreProvider) => store.appendEvents(taskDir, dispatchId, [late]),
  'appendEvents of an empty batch': (store: DispatchStoreProvider) =>
    store.appendEvents(taskDir, dispatchId, []),
  'appendEvent of a known event': (store: DispatchStoreProvider) =>
    store.appendEvent(taskDir, dispatchId, prepared.events[0] ?? late),
  updateDispatch: (store: DispatchStoreProvider) => store.updateDispatch(taskDir, dispatchId, { cost: 1 }),
  'updateDispatch that sets it running': (store: DispatchStoreProvider) =>
    store.updateDispatch(taskDir, dispatchId, { status: 'running' }),
  'updateDispatch without fields': (store: DispatchStoreProvider) =>
    store.updateDispatch(taskDir, dispatchId, {}),
} as const;

/** Fails unless each write is refused twice and none of them changed anything. */
export async function takesNoWrite(store: DispatchStoreProvider, state: string): Promise<void> {
  const before = await store.getDispatchEnvelope(taskDir, dispatchId);
  const events = await store.getDispatchEvents(taskDir, dispatchId);
  for (const [what, write] of [...Object.entries(claimedWrites), ...Object.entries(claimedWrites)])
    await refuses('STORE_LOCKED', `${what} ${state}`, () => write(store));
  sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), before, `the envelope ${state}`);
  await holdsEvents(store, events);
}

export async function claim(store: DispatchStoreProvider): Promise<void> {
  await store.claimDispatch(taskDir, dispatchId);
}

export async function release(store: DispatchStoreProvider): Promise<void> {
  await store.releaseDispatch(taskDir, dispatchId);
}

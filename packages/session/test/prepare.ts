import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { type OpenSessionOptions, openSession, type Session } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { answers } from './scripted.ts';

export const taskDir = 'cafe/tasks/first-meeting';
export const dispatchId = 'D1';

/** A store with short ways to a session in it. */
export function prepare(provider: DispatchStoreProvider = createMemoryStore()) {
  const store = openDispatchStore(provider);
  const base = { store, taskDir, dispatchId, model: answers() };
  const open = (options: Partial<OpenSessionOptions> = {}) => openSession({ ...base, ...options });
  const withRoot = (session: Session) => ({ session, root: session.root });
  return {
    store,
    open,
    create: async (options: Partial<OpenSessionOptions> = {}) =>
      withRoot(await open({ expect: 'new', ...options })),
    load: async (options: Partial<OpenSessionOptions> = {}) =>
      withRoot(await open({ expect: 'existing', needsRoot: true, ...options })),
    events: () => store.getDispatchEvents(taskDir, dispatchId),
    envelope: () => store.getDispatchEnvelope(taskDir, dispatchId),
  };
}

/** The first event of a type, of those that say so much in their data. */
export function find(
  events: readonly CapturedEvent[],
  type: CapturedEvent['type'],
  data: Readonly<Record<string, unknown>> = {},
): CapturedEvent {
  const found = events.find(
    (event) => event.type === type && Object.entries(data).every(([key, value]) => event.data[key] === value),
  );
  if (found === undefined) throw new Error(`no ${type} with ${JSON.stringify(data)}`);
  return found;
}

export const typesOf = (events: readonly CapturedEvent[]) => events.map(({ type }) => type);

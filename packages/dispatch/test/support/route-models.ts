import type { Dispatch, DispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';

/** The task of these tests. */
export const task = 'lab/tasks/route-models';
export const write = { write: true } as const;

export function begin(store: DispatchStore): Promise<Dispatch> {
  return store.beginDispatch(task, { role: 'worker' });
}

export function say(text: string): NewEvent {
  return newEvent('agent:text', { text });
}

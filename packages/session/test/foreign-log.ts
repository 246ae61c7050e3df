import { type NewEvent, newEvent } from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import type { DispatchStoreProvider } from '@hansard/provider';
import { appendEvents, createDispatch } from '@hansard/testing';
import { dispatchId, prepare, taskDir } from './prepare.ts';

/** A log that some other program wrote. */
export async function imported(
  events: readonly NewEvent[],
  fidelity: 'full' | 'narrative' = 'full',
  provider?: DispatchStoreProvider,
) {
  const prepared = prepare(provider);
  await createDispatch(prepared.store, taskDir, { role: 'import', dispatchId, fidelity });
  await appendEvents(prepared.store, taskDir, dispatchId, events);
  return prepared;
}

export const created = (agentId: string, id: string, cause?: string, name?: string) =>
  newEvent('agent:created', name === undefined ? {} : { name }, {
    id,
    agentId,
    ...(cause === undefined ? {} : { cause }),
  });
export const heard = (agentId: string, id: string, content: string) =>
  takeApart({ role: 'user', content }, { id, agentId });
export const called = (agentId: string, id: string, toolCallId: string) =>
  takeApart(
    { role: 'assistant', content: null, toolCalls: [{ toolCallId, tool: 'task', input: {} }] },
    { id, agentId },
  );

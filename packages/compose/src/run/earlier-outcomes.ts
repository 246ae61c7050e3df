import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { isUnreadable } from '@hansard/provider';
import { type DispatchEnding, dispatchEnding, type PriorOutcomes, priorOutcomes } from '@hansard/views';
import { listAll, readableOf } from '../sessions/resolve-session.ts';

/** More outcomes do not fit into the text, because each takes more than 80 of its 8,000 characters. */
const mostRead = 100;

/** An agent may write more after its result, such as costs, and after a stop. */
const lastEvents = 500;

/** The outcomes of the earlier sessions of a task, for a prompt. */
export async function earlierOutcomes(store: DispatchStore, taskDir: string): Promise<PriorOutcomes> {
  const { envelopes } = readableOf(await listAll(store, { taskDir }));
  return readPriorOutcomes(store, taskDir, envelopes);
}

/** The outcomes of dispatches of a task, by their envelopes and the ends of their logs. */
export async function readPriorOutcomes(
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
): Promise<PriorOutcomes> {
  const latest = envelopes
    .filter(({ status }) => status !== 'running')
    .sort((one, other) => ((one.startedAt ?? '') < (other.startedAt ?? '') ? 1 : -1))
    .slice(0, mostRead);
  const endings = new Map<string, DispatchEnding>();
  for (const envelope of latest) endings.set(envelope.dispatchId, await readEnding(store, taskDir, envelope));
  return priorOutcomes(envelopes.map((envelope) => ({ envelope, ending: endings.get(envelope.dispatchId) })));
}

async function readEnding(
  store: DispatchStore,
  taskDir: string,
  envelope: DispatchEnvelope,
): Promise<DispatchEnding> {
  try {
    return dispatchEnding(envelope, await store.getRecentEvents(taskDir, envelope.dispatchId, lastEvents));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const state = error.code === 'STORE_CORRUPT' ? 'is damaged' : "can't be read";
    return { result: null, lastText: null, trouble: `Its log ${state}: ${error.message}` };
  }
}

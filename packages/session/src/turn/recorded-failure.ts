import { describeFailure } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { SessionLog } from '../log/session-log.ts';

/** The events of errors that are in the log. */
const recorded = new WeakMap<object, string>();

/** Records an error of an agent that is thrown next. */
export async function recordFailure(log: SessionLog, agentId: string, failure: Error): Promise<void> {
  const [event] = await log.append([newEvent('harness:error', describeFailure(failure), { agentId })]);
  if (event !== undefined) isRecordedBy(failure, event.id);
}

/** This event records an error. */
export function isRecordedBy(failure: Error, eventId: string): void {
  recorded.set(failure, eventId);
}

/** The event that recorded an error; null: it is not in the log. */
export function eventOfFailure(failure: unknown): string | null {
  return typeof failure === 'object' && failure !== null ? (recorded.get(failure) ?? null) : null;
}

import type { EventData } from '@hansard/events';
import type { DispatchEnd } from '../store/dispatch.ts';

/** How the run of an agent ended: by itself, stopped by an abort or a limit, or with an error. */
export type Ending = 'ended' | 'aborted' | 'crashed';

type Completion = EventData<'session:complete'>;

const statuses = { completed: 'completed', failed: 'crashed', aborted: 'aborted' } as const;

/**
 * The envelope updates at the end of a run: its status and time, and the result of the last `session:complete` (D3). The dispatch
 * adds the usage and cost of its log.
 */
export function completionUpdates(
  completion: Completion | null,
  ending: Ending,
  completedAt: string | null,
): DispatchEnd {
  return {
    status: statusOf(completion, ending),
    completedAt,
    ...(completion?.structuredResult === undefined ? {} : { structuredResult: completion.structuredResult }),
  };
}

function statusOf(completion: Completion | null, ending: Ending): DispatchEnd['status'] {
  if (ending !== 'ended') return ending;
  return completion === null ? 'completed' : statuses[completion.status];
}

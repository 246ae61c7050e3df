import type { EventData } from '@hansard/events';
import type { DispatchTotals } from '@hansard/views/basics';
import type { DispatchEnd } from '../store/dispatch.ts';

/** How the run of an agent ended: by itself, stopped by an abort or a limit, or with an error. */
export type Ending = 'ended' | 'aborted' | 'crashed';

type Completion = EventData<'session:complete'>;

const statuses = { completed: 'completed', failed: 'crashed', aborted: 'aborted' } as const;

/**
 * The envelope updates at the end of a run: its status and time, the result of the last `session:complete` (D3), and the usage
 * and cost that the log states (`DispatchTotals`).
 */
export function completionUpdates(
  completion: Completion | null,
  ending: Ending,
  completedAt: string,
  { usage, costUsd, models }: Pick<DispatchTotals, 'usage' | 'costUsd' | 'models'>,
): DispatchEnd {
  return {
    status: statusOf(completion, ending),
    completedAt,
    cost: costUsd,
    usage,
    models,
    ...(completion?.structuredResult === undefined ? {} : { structuredResult: completion.structuredResult }),
  };
}

function statusOf(completion: Completion | null, ending: Ending): DispatchEnd['status'] {
  if (ending !== 'ended') return ending;
  return completion === null ? 'completed' : statuses[completion.status];
}

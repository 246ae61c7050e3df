import type { DispatchStatus, EnvelopeUpdates, EventData, Usage } from '@hansard/events';

/** How the run of an agent came to its end: by itself, stopped by somebody or some limit, or with an error. */
export type Ending = 'ended' | 'aborted' | 'crashed';

type Completion = EventData<'session:complete'>;

const statuses = { completed: 'completed', failed: 'crashed', aborted: 'aborted' } as const;

/** What the end of a run writes into the envelope: its status and time, and what the last `session:complete` says (D3). */
export function completionUpdates(
  completion: Completion | null,
  ending: Ending,
  completedAt: string,
): EnvelopeUpdates {
  const usage = completion === null ? null : usageOf(completion);
  return {
    status: statusOf(completion, ending),
    completedAt,
    ...(completion?.costUsd === undefined ? {} : { cost: completion.costUsd }),
    ...(usage === null ? {} : { usage }),
    ...(completion?.structuredResult === undefined ? {} : { structuredResult: completion.structuredResult }),
  };
}

function statusOf(completion: Completion | null, ending: Ending): DispatchStatus {
  if (ending !== 'ended') return ending;
  return completion === null ? 'completed' : statuses[completion.status];
}

/** The tokens with the turns and the duration; null where the tokens are not known. */
function usageOf({ usage, turns, durationMs }: Completion): Usage | null {
  if (usage === undefined) return null;
  return {
    ...usage,
    ...(turns === undefined ? {} : { turns }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

import type { Clock } from '@hansard/provider';

/** Faults in a store, as careless changes of it would have put them there. */
export const plantedFaults = [
  'append without its epoch',
  'claim without a lock',
  'early takeover',
  'heartbeat that stands still',
  'close that frees all claims',
  'changes outside of a transaction',
  'task record without its lock',
  'words that outlive a rewrite',
] as const;

export type PlantedFault = (typeof plantedFaults)[number];

/** What the store sends with the fault, for each statement that contains it. */
const replacements: Partial<Record<PlantedFault, readonly (readonly [from: RegExp | string, to: string])[]>> =
  {
    'append without its epoch': [
      ["epoch = $2 AND coalesce(writer, '') = $7", '$2::bigint >= 0 AND $7::text IS NOT NULL'],
    ],
    'claim without a lock': [[' FOR UPDATE OF d', '']],
    'heartbeat that stands still': [['SET beat = openings.beat + 1', 'SET beat = openings.beat']],
    'close that frees all claims': [
      [/WHERE writer = \$1$/, 'WHERE writer IS NOT NULL AND $1::text <> writer'],
    ],
    'changes outside of a transaction': [
      [/^BEGIN.*$/, 'SELECT 1'],
      ['COMMIT', 'SELECT 1'],
    ],
    'task record without its lock': [[/(FROM \S+tasks WHERE task_dir = \$1) FOR UPDATE/, '$1 AND false']],
    'words that outlive a rewrite': [
      [/(DELETE FROM \S+event_words) WHERE dispatch = \$1/, '$1 WHERE dispatch = -$1'],
    ],
  };

/** The text of a statement with the fault. */
export function plantInStatement(fault: PlantedFault | undefined, text: string): string {
  const changes = (fault && replacements[fault]) ?? [];
  return changes.reduce((changed, [from, to]) => changed.replace(from, to), text);
}

export function plantInClock(fault: PlantedFault | undefined, clock: Clock): Clock {
  return fault === 'early takeover' ? { ...clock, monotonic: () => 2 * clock.monotonic() } : clock;
}

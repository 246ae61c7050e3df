import type { StoreSystem } from '../../src/database/open-database.ts';
import type { ChangeSql } from './simulated-database.ts';

/** Faults in a store, as careless changes of it would have put them there. */
export const plantedFaults = [
  'lease by the wall clock',
  'append without its epoch',
  'early takeover',
  'close that frees all claims',
  'owner by its process id alone',
  'heartbeat that stands still',
  'claim outside of a transaction',
  'listing in two statements',
] as const;

export type PlantedFault = (typeof plantedFaults)[number];

type LeaseSystem = Pick<StoreSystem, 'clock' | 'processes'>;

/** The system of a store with the fault. */
export function plantInSystem(fault: PlantedFault | undefined, system: LeaseSystem): LeaseSystem {
  const { clock, processes } = system;
  switch (fault) {
    case 'lease by the wall clock':
      return { processes, clock: { ...clock, monotonic: clock.now } };
    case 'early takeover':
      return { processes, clock: { ...clock, monotonic: () => 2 * clock.monotonic() } };
    case 'owner by its process id alone':
      return {
        clock,
        processes: {
          ...processes,
          whyUnchecked: () => null,
          isRunning: (owner) => {
            const { host, bootId, pidNamespace } = processes.current();
            return processes.isRunning({ ...owner, host, bootId, pidNamespace });
          },
        },
      };
    default:
      return system;
  }
}

/** What the store writes with the fault, for each statement that it contains. */
const replacements: Partial<Record<PlantedFault, readonly (readonly [from: RegExp | string, to: string])[]>> =
  {
    'append without its epoch': [
      ['FROM claims WHERE dispatch = ?1 AND epoch = ?6', 'FROM head WHERE ?6 >= 0'],
    ],
    'close that frees all claims': [
      ['DELETE FROM claims WHERE token = ?', 'DELETE FROM claims WHERE ? IS NOT NULL'],
    ],
    'heartbeat that stands still': [['SET beat = ? WHERE', 'SET beat = beat + 0 * ? WHERE']],
    'claim outside of a transaction': [
      ['BEGIN IMMEDIATE', 'SELECT 1'],
      ['COMMIT', 'SELECT 1'],
    ],
    'listing in two statements': [[/^BEGIN$/, 'SELECT 1']],
  };

/** The change of statements with the fault. */
export function plantInStatements(fault: PlantedFault | undefined): ChangeSql {
  const changes = (fault && replacements[fault]) ?? [];
  return (sql) => changes.reduce((changed, [from, to]) => changed.replace(from, to), sql);
}

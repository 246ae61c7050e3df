import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { type Clock, systemClock } from '@hansard/provider';
import { type Processes, systemProcesses } from '@hansard/store-kit';

/** What the leases use of the machine. A test or a simulator can replace each part. */
export interface StoreSystem {
  readonly clock: Clock;
  readonly processes: Processes;
  /** Opens a database that exists. */
  openDatabase(location: URL, options: DatabaseSyncOptions): DatabaseSync;
}

export const thisSystem: StoreSystem = {
  clock: systemClock,
  processes: systemProcesses,
  openDatabase: (location, options) => new DatabaseSync(location, options),
};

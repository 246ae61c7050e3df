import { type Clock, systemClock } from '@hansard/provider';
import { type Files, systemFiles } from './files.ts';

/** What the store uses of the machine. A test or a simulator can replace each part. */
export interface StoreSystem {
  readonly files: Files;
  readonly clock: Clock;
}

export const thisSystem: StoreSystem = { files: systemFiles, clock: systemClock };

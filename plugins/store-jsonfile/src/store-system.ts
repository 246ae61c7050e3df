import { type Clock, systemClock } from '@hansard/provider';
import { type Access, type Files, filesFor } from './files.ts';

/** What the store uses of the machine. A test or a simulator can replace each part. */
export interface StoreSystem {
  readonly files: Files;
  readonly clock: Clock;
}

/** The clock of this machine. Its timers do not keep a process running. */
const clock: Clock = {
  ...systemClock,
  after(ms, action) {
    const timer = setTimeout(action, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export function systemFor(access: Access): StoreSystem {
  return { files: filesFor(access), clock };
}

export const thisSystem: StoreSystem = systemFor('private');

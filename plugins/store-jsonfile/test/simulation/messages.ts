import type { ContractAnswer, SimulatedCall } from '@hansard/testing/simulation';
import type { DiskChange } from './simulated-disk.ts';

/** What happens to the last step of a grant, in place of success. A code is that of a failing system call. */
export type Fault = 'crash before' | 'crash after' | 'short write' | 'EIO' | 'ENOSPC' | 'EMFILE';

export type Operation = SimulatedCall;

/** The right to make this number of steps, which are system calls, after the changes of others are known. */
export interface Grant {
  readonly changes: readonly DiskChange[];
  readonly steps: number;
  readonly fault: Fault | null;
}

/** From the simulator to a process. */
export type Command =
  | { readonly kind: 'reset' }
  /** Ends a process that has no operation. */
  | { readonly kind: 'crash' }
  | ({ readonly kind: 'start'; readonly operation: Operation } & Grant)
  | ({ readonly kind: 'continue' } & Grant);

/** The result of an operation: what the store returned, or the code of its error. */
export type Outcome =
  | { readonly kind: 'returned'; readonly answer: ContractAnswer }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'crashed' };

/** From a process to the simulator. Without an outcome, the steps of the grant are used and the operation continues. */
export interface Report {
  readonly changes: readonly DiskChange[];
  readonly steps: number;
  /** The numbers of the listeners that were called. */
  readonly heard: readonly number[];
  readonly outcome: Outcome | null;
  /** When the next timer is due, by the monotonic clock; null without timers. */
  readonly nextTimer: number | null;
}

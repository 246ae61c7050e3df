import type { DiskChange } from './simulated-disk.ts';

/** What happens to the last step of a grant, in place of success. A code is that of a failing system call. */
export type Fault = 'crash before' | 'crash after' | 'short write' | 'EIO' | 'ENOSPC' | 'EMFILE';

/** A call of a store. `dispatch` is a number. */
export type Operation =
  | { readonly kind: 'create'; readonly dispatch: number }
  | { readonly kind: 'claim'; readonly dispatch: number }
  | { readonly kind: 'release'; readonly dispatch: number }
  /** With `isSensible`, a process that has not claimed the dispatch creates or claims it instead. */
  | {
      readonly kind: 'append';
      readonly dispatch: number;
      readonly ids: readonly string[];
      readonly isSensible: boolean;
    }
  | { readonly kind: 'end'; readonly dispatch: number }
  /** Makes the envelope longer by this number of characters, so that its file is replaced by a copy when its slot is full. */
  | { readonly kind: 'grow'; readonly dispatch: number; readonly by: number }
  /** Rewrites every event, and adds a notice. */
  | { readonly kind: 'rewrite'; readonly dispatch: number; readonly ids: readonly string[] }
  | { readonly kind: 'accept loss'; readonly dispatch: number; readonly ids: readonly string[] }
  | { readonly kind: 'read'; readonly dispatch: number }
  | { readonly kind: 'verify'; readonly dispatch: number }
  | { readonly kind: 'break claim'; readonly dispatch: number }
  | { readonly kind: 'timers' }
  | { readonly kind: 'close' };

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
  | { readonly kind: 'returned'; readonly ids?: readonly string[]; readonly damages?: number }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'crashed' };

/** From a process to the simulator. Without an outcome, the steps of the grant are used and the operation continues. */
export interface Report {
  readonly changes: readonly DiskChange[];
  readonly steps: number;
  readonly outcome: Outcome | null;
  /** When the next timer is due, by the monotonic clock; null without timers. */
  readonly nextTimer: number | null;
}

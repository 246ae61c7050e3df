import { RandomCalls, randomFrom } from '@hansard/testing/simulation';
import type { Fault, Operation } from './messages.ts';

/** One decision of the scheduler. A decision that is not possible when its turn comes is skipped. */
export type Decision =
  /** A process without an operation begins one. */
  | { readonly kind: 'start'; readonly process: number; readonly operation: Operation }
  /** A process makes this number of steps of its operation; the last one can fail. */
  | { readonly kind: 'run'; readonly process: number; readonly steps: number; readonly fault: Fault | null }
  /** A process ends its operation without interruption. */
  | { readonly kind: 'finish'; readonly process: number }
  /** A process does not run until it is continued. */
  | { readonly kind: 'stop'; readonly process: number }
  | { readonly kind: 'continue'; readonly process: number }
  /** Time passes. The timers of processes that run are called. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** The machine sleeps: only the wall clock continues. */
  | { readonly kind: 'suspend'; readonly ms: number }
  /** Somebody sets the wall clock. */
  | { readonly kind: 'set clock'; readonly byMs: number }
  | { readonly kind: 'lose power'; readonly seed: number };

/** A decision about one process. */
export type ProcessDecision = Extract<Decision, { readonly process: number }>;

export interface ScheduleOptions {
  readonly processes: number;
  readonly dispatches: number;
  readonly decisions: number;
  readonly leaseMs: number;
  readonly canLosePower: boolean;
}

const faults: readonly Fault[] = ['crash before', 'crash after', 'short write', 'EIO', 'ENOSPC', 'EMFILE'];

/** Decisions that are the same for the same seed. */
export function randomSchedule(seed: number, options: ScheduleOptions): Decision[] {
  return new RandomSchedule(seed, options).make();
}

class RandomSchedule {
  readonly #random: () => number;
  readonly #options: ScheduleOptions;
  readonly #calls: RandomCalls;

  constructor(seed: number, options: ScheduleOptions) {
    this.#random = randomFrom(seed);
    this.#options = options;
    this.#calls = new RandomCalls({ ...options, random: this.#random, longest: 6_000 });
  }

  make(): Decision[] {
    const decisions: Decision[] = [];
    while (decisions.length < this.#options.decisions) {
      const chance = this.#random();
      if (chance < 0.015) decisions.push(...this.#stoppedCopy());
      else if (chance < 0.02) decisions.push(...this.#pattern());
      else decisions.push(this.#decide());
    }
    return decisions;
  }

  #decide(): Decision {
    const chance = this.#random();
    const of = this.#process();
    if (chance < 0.4) return { kind: 'start', process: of, operation: this.#calls.next(of) };
    if (chance < 0.55) return { kind: 'run', process: of, steps: 1 + this.#below(6), fault: null };
    if (chance < 0.57)
      return {
        kind: 'run',
        process: of,
        steps: 1 + this.#below(6),
        fault: faults[this.#below(faults.length)] as Fault,
      };
    if (chance < 0.86) return { kind: 'finish', process: of };
    if (chance < 0.89) return { kind: 'stop', process: of };
    if (chance < 0.94) return { kind: 'continue', process: of };
    if (chance < 0.98) return { kind: 'wait', ms: Math.floor(this.#random() * this.#options.leaseMs * 1.2) };
    if (chance < 0.985)
      return { kind: 'suspend', ms: Math.floor(this.#random() * this.#options.leaseMs * 4) };
    if (chance < 0.99) return { kind: 'set clock', byMs: Math.floor((this.#random() - 0.5) * 7_200_000) };
    if (this.#options.canLosePower && chance < 0.992)
      return { kind: 'lose power', seed: this.#below(2 ** 31) };
    return { kind: 'finish', process: of };
  }

  #pattern(): Decision[] {
    return this.#calls.pattern(this.#process()).flatMap(([process, operation]): Decision[] => [
      { kind: 'finish', process },
      { kind: 'start', process, operation },
      { kind: 'finish', process },
    ]);
  }

  /** A process is stopped in the middle of a copy or of a deletion, and another one takes the dispatch: rare among the other decisions. */
  #stoppedCopy(): Decision[] {
    const of = this.#process();
    const other = (of + 1 + this.#below(this.#options.processes - 1)) % this.#options.processes;
    const dispatch = this.#calls.focus(of);
    const starts = (one: number, started: Operation): Decision[] => [
      { kind: 'start', process: one, operation: started },
      { kind: 'finish', process: one },
    ];
    const taking = (): Operation => {
      if (this.#random() < 0.3) return { kind: 'claim', dispatch };
      return this.#calls.rewrite(other, dispatch);
    };
    const chance = this.#random();
    const deleting: Operation = { kind: 'delete', dispatch };
    const copying = chance < 0.4 ? this.#calls.update(of, 'structuredResult') : this.#calls.rewrite(of);
    return [
      { kind: 'finish', process: of },
      ...starts(of, { kind: 'claim', dispatch }),
      ...starts(of, this.#calls.append(of, 1)),
      { kind: 'start', process: of, operation: chance < 0.8 ? copying : deleting },
      { kind: 'run', process: of, steps: 1 + this.#below(40), fault: null },
      { kind: 'stop', process: of },
      ...starts(other, taking()),
      { kind: 'wait', ms: this.#options.leaseMs * 1.1 },
      ...starts(other, taking()),
      { kind: 'continue', process: of },
      { kind: 'finish', process: of },
      // Also where the dispatch is gone: one that was claimed is not.
      ...starts(other, { ...this.#calls.append(other, 1), dispatch, isSensible: false } as Operation),
    ];
  }

  #process(): number {
    return this.#below(this.#options.processes);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

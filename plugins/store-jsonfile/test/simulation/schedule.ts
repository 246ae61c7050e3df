import { searched, tasks } from '@hansard/testing/simulation';
import type { Fault, Operation } from './messages.ts';
import { randomFrom } from './random-from.ts';

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
  /** How many ids each process has used. */
  readonly #numbers: number[];
  /** The events that each process appended last. */
  readonly #latest: (readonly string[])[] = [];
  /** The dispatch that each process works on. */
  readonly #focus: number[];

  constructor(seed: number, options: ScheduleOptions) {
    this.#random = randomFrom(seed);
    this.#options = options;
    this.#numbers = new Array<number>(options.processes).fill(0);
    this.#focus = Array.from({ length: options.processes }, () => this.#below(options.dispatches));
  }

  make(): Decision[] {
    const decisions: Decision[] = [];
    while (decisions.length < this.#options.decisions)
      if (this.#random() < 0.015) decisions.push(...this.#stoppedCopy());
      else decisions.push(this.#decide());
    return decisions;
  }

  #decide(): Decision {
    const chance = this.#random();
    const of = this.#process();
    if (chance < 0.4) return { kind: 'start', process: of, operation: this.#operation(of) };
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

  #operation(of: number): Operation {
    if (this.#random() < 0.1) this.#focus[of] = this.#below(this.#options.dispatches);
    const dispatch = this.#focus[of] ?? 0;
    const chance = this.#random();
    if (chance < 0.05) return { kind: 'create', dispatch, mark: this.#nextId(of) };
    if (chance < 0.17) return { kind: 'claim', dispatch };
    if (chance < 0.43) return this.#append(of, dispatch, this.#nextIds(of, 1));
    if (chance < 0.51) return this.#append(of, dispatch, this.#nextIds(of, 2 + this.#below(3)));
    // As a caller that repeats a call after an error.
    if (chance < 0.54) return this.#append(of, dispatch, this.#latest[of] ?? this.#nextIds(of, 1));
    if (chance < 0.55) return { kind: 'conflict', dispatch, id: this.#latest[of]?.[0] ?? this.#nextId(of) };
    if (chance < 0.59) return this.#update(of, dispatch);
    if (chance < 0.63) return this.#rewrite(of, dispatch);
    if (chance < 0.635) return { kind: 'accept loss', dispatch, ids: this.#nextIds(of, 1) };
    if (chance < 0.66) return { kind: 'delete', dispatch };
    if (chance < 0.7) return { kind: 'release', dispatch };
    if (chance < 0.72) return { kind: 'end', dispatch };
    if (chance < 0.78) return { kind: 'read', dispatch };
    if (chance < 0.795) return { kind: 'verify', dispatch };
    if (chance < 0.815) return { kind: 'break claim', dispatch };
    if (chance < 0.82) return { kind: 'copy' };
    if (chance < 0.98) return this.#other(of, dispatch);
    return { kind: 'close' };
  }

  #append(of: number, dispatch: number, ids: readonly string[]): Operation {
    this.#latest[of] = ids;
    return { kind: 'append', dispatch, ids, isSensible: this.#random() < 0.9 };
  }

  #update(of: number, dispatch: number): Operation {
    if (this.#random() < 0.4) return { kind: 'update', dispatch, field: 'model', value: this.#nextId(of) };
    const value = `${'r'.repeat(this.#below(6_000))}${this.#nextId(of)}`;
    return { kind: 'update', dispatch, field: 'structuredResult', value };
  }

  #rewrite(of: number, dispatch: number): Operation {
    const what = (['all', 'secret', 'secret', 'fail'] as const)[this.#below(4)] ?? 'all';
    return { kind: 'rewrite', dispatch, what, ids: this.#nextIds(of, 1) };
  }

  /** A call beside the owner of a dispatch. */
  #other(of: number, dispatch: number): Operation {
    const chance = this.#random();
    const scope = (['store', 'task', 'dispatch'] as const)[this.#below(3)] ?? 'store';
    if (chance < 0.12)
      return { kind: 'put task', task: this.#below(tasks), mark: this.#nextId(of), isNewer: false };
    if (chance < 0.14) return { kind: 'put task', task: tasks - 1, mark: this.#nextId(of), isNewer: true };
    if (chance < 0.2) return { kind: 'read tasks' };
    if (chance < 0.4) return this.#list();
    if (chance < 0.56)
      return { kind: 'search', word: searched[this.#below(searched.length)] ?? 'secret', scope };
    if (chance < 0.7) return { kind: 'follow', dispatch, limit: 1 + this.#below(20) };
    if (chance < 0.76) return { kind: 'watch', dispatch: scope === 'dispatch' ? dispatch : null, scope };
    if (chance < 0.86) return { kind: 'send letter', dispatch, id: `letter_${this.#nextId(of)}` };
    if (chance < 0.94) return { kind: 'take letters', dispatch };
    if (chance < 0.96) return { kind: 'create newer', mark: this.#nextId(of) };
    const how = (['read', 'claim', 'rewrite', 'verify'] as const)[this.#below(4)] ?? 'read';
    return { kind: 'use newer', how };
  }

  #list(): Operation {
    const scope = (['store', 'task', 'internal'] as const)[this.#below(3)] ?? 'store';
    const status = ([null, null, 'running', 'completed'] as const)[this.#below(4)] ?? null;
    const order = this.#random() < 0.5 ? 'oldest' : 'newest';
    return { kind: 'list', scope, limit: 1 + this.#below(3), order, status };
  }

  /** A process is stopped in the middle of a copy, and another one takes the dispatch: rare among the other decisions. */
  #stoppedCopy(): Decision[] {
    const of = this.#process();
    const other = (of + 1 + this.#below(this.#options.processes - 1)) % this.#options.processes;
    const dispatch = this.#focus[of] ?? 0;
    const starts = (one: number, started: Operation): Decision[] => [
      { kind: 'start', process: one, operation: started },
      { kind: 'finish', process: one },
    ];
    const taking = (): Operation => {
      if (this.#random() < 0.3) return { kind: 'claim', dispatch };
      return this.#rewrite(other, dispatch);
    };
    const copying: Operation =
      this.#random() < 0.5
        ? {
            kind: 'update',
            dispatch,
            field: 'structuredResult',
            value: `${'r'.repeat(2_500)}${this.#nextId(of)}`,
          }
        : this.#rewrite(of, dispatch);
    return [
      { kind: 'finish', process: of },
      ...starts(of, { kind: 'claim', dispatch }),
      ...starts(of, { kind: 'append', dispatch, ids: this.#nextIds(of, 1), isSensible: true }),
      { kind: 'start', process: of, operation: copying },
      { kind: 'run', process: of, steps: 1 + this.#below(40), fault: null },
      { kind: 'stop', process: of },
      ...starts(other, taking()),
      { kind: 'wait', ms: this.#options.leaseMs * 1.1 },
      ...starts(other, taking()),
      { kind: 'continue', process: of },
      { kind: 'finish', process: of },
    ];
  }

  #process(): number {
    return this.#below(this.#options.processes);
  }

  #nextId(of: number): string {
    return this.#nextIds(of, 1)[0] as string;
  }

  #nextIds(of: number, count: number): string[] {
    return Array.from({ length: count }, () => {
      this.#numbers[of] = (this.#numbers[of] ?? 0) + 1;
      return `p${of}-${this.#numbers[of]}`;
    });
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

/** A shortest schedule that still fails: no part of it, halved again and again down to one decision, can be left out. */
export function shrink(
  schedule: readonly Decision[],
  fails: (part: readonly Decision[]) => boolean,
): readonly Decision[] {
  let best = schedule;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length; ) {
      const without = [...best.slice(0, at), ...best.slice(at + size)];
      if (without.length < best.length && fails(without)) best = without;
      else at += size;
    }
  }
  return best;
}

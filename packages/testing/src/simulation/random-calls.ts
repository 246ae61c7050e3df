import { type ContractCall, searched, tasks } from './contract-calls.ts';
import type { SimulatedCall } from './contract-oracle.ts';

export interface RandomCallsOptions {
  readonly random: () => number;
  readonly processes: number;
  readonly dispatches: number;
  /** The most characters by which a change of an envelope makes it longer. */
  readonly longest: number;
}

/** Some calls of processes, one after the other. */
export type CallPattern = readonly (readonly [process: number, call: SimulatedCall])[];

/** Chooses the calls that processes make of a store: the same for the same random numbers. */
export class RandomCalls {
  readonly #random: () => number;
  readonly #options: RandomCallsOptions;
  /** How many ids each process has used. */
  readonly #numbers: number[];
  /** The events that each process appended last. */
  readonly #latest: (readonly string[])[] = [];
  /** The dispatch that each process works on. */
  readonly #focus: number[];

  constructor(options: RandomCallsOptions) {
    this.#random = options.random;
    this.#options = options;
    this.#numbers = new Array<number>(options.processes).fill(0);
    this.#focus = Array.from({ length: options.processes }, () => this.#below(options.dispatches));
  }

  next(of: number): SimulatedCall {
    if (this.#random() < 0.1) this.#focus[of] = this.#below(this.#options.dispatches);
    const dispatch = this.focus(of);
    const chance = this.#random();
    if (chance < 0.05) return { kind: 'create', dispatch, mark: this.#nextId(of) };
    if (chance < 0.18) return { kind: 'claim', dispatch };
    if (chance < 0.42) return this.append(of, 1);
    if (chance < 0.5) return this.append(of, 2 + this.#below(3));
    // As a caller that repeats a call after an error.
    if (chance < 0.54) return this.#append(of, this.#latest[of] ?? this.#nextIds(of, 1));
    if (chance < 0.55) return { kind: 'conflict', dispatch, id: this.#latest[of]?.[0] ?? this.#nextId(of) };
    if (chance < 0.59) return this.update(of);
    if (chance < 0.63) return this.rewrite(of);
    if (chance < 0.635) return { kind: 'accept loss', dispatch, ids: this.#nextIds(of, 1) };
    if (chance < 0.655) return { kind: 'delete', dispatch };
    if (chance < 0.7) return { kind: 'release', dispatch };
    if (chance < 0.72) return { kind: 'end', dispatch };
    if (chance < 0.78) return { kind: 'read', dispatch };
    if (chance < 0.795) return { kind: 'verify', dispatch };
    if (chance < 0.815) return { kind: 'break claim', dispatch };
    if (chance < 0.82) return { kind: 'copy' };
    if (chance < 0.985) return this.#other(of);
    return { kind: 'close' };
  }

  focus(of: number): number {
    return this.#focus[of] ?? 0;
  }

  append(of: number, size: number): ContractCall {
    return this.#append(of, this.#nextIds(of, size));
  }

  #append(of: number, ids: readonly string[]): ContractCall {
    this.#latest[of] = ids;
    return { kind: 'append', dispatch: this.focus(of), ids, isSensible: this.#random() < 0.9 };
  }

  update(of: number, field: 'model' | 'structuredResult' | null = null): ContractCall {
    const dispatch = this.focus(of);
    const chosen = field ?? (this.#random() < 0.4 ? 'model' : 'structuredResult');
    const longer = chosen === 'model' ? 0 : this.#below(this.#options.longest + 1);
    return { kind: 'update', dispatch, field: chosen, value: `${'r'.repeat(longer)}${this.#nextId(of)}` };
  }

  rewrite(of: number, dispatch = this.focus(of)): ContractCall {
    const what = (['all', 'secret', 'secret', 'fail'] as const)[this.#below(4)] ?? 'all';
    return { kind: 'rewrite', dispatch, what, ids: this.#nextIds(of, 1) };
  }

  /** What is too rare among single calls: a call that is made again, or that one process makes before and after another one's. */
  pattern(of: number): CallPattern {
    const { processes } = this.#options;
    const other = (of + 1 + this.#below(processes - 1)) % processes;
    const dispatch = this.focus(of);
    this.#focus[other] = dispatch;
    const chance = this.#random();
    if (chance < 0.3) {
      // As a caller that repeats an older call.
      const first = this.append(of, 1);
      return [
        [of, { kind: 'claim', dispatch }],
        [of, first],
        [of, this.append(of, 2)],
        [of, { kind: 'follow', dispatch, limit: 2 }],
        [of, first],
        [of, this.append(of, 4)],
        [of, { kind: 'follow', dispatch, limit: 10 }],
      ];
    }
    if (chance < 0.6) {
      const search = this.#search();
      return [
        [of, this.append(of, 4)],
        [of, this.append(of, 4)],
        [of, search],
        [of, { kind: 'read', dispatch }],
        [of, { kind: 'release', dispatch }],
        [other, { kind: 'rewrite', dispatch, what: 'all', ids: this.#nextIds(other, 1) }],
        [of, search],
        [of, { kind: 'read', dispatch }],
        [other, { kind: 'create newer', mark: this.#nextId(other) }],
        [of, { kind: 'list', scope: 'task', limit: 2, order: 'oldest', status: null }],
      ];
    }
    const handedOver = (to: number, field: 'model' | 'structuredResult'): CallPattern => [
      [to, { kind: 'claim', dispatch }],
      [to, this.update(to, field)],
      [to, { kind: 'release', dispatch }],
    ];
    return [
      [of, this.append(of, 1)],
      ...handedOver(of, 'model'),
      ...handedOver(other, 'model'),
      ...handedOver(of, 'structuredResult'),
      [of, { kind: 'read', dispatch }],
    ];
  }

  /** A call beside the owner of a dispatch. */
  #other(of: number): ContractCall {
    const dispatch = this.focus(of);
    const chance = this.#random();
    const scope = (['store', 'task', 'dispatch'] as const)[this.#below(3)] ?? 'store';
    if (chance < 0.12)
      return { kind: 'put task', task: this.#below(tasks), mark: this.#nextId(of), isNewer: false };
    if (chance < 0.14) return { kind: 'put task', task: tasks - 1, mark: this.#nextId(of), isNewer: true };
    if (chance < 0.2) return { kind: 'read tasks' };
    if (chance < 0.4) return this.#list();
    if (chance < 0.56) return this.#search();
    if (chance < 0.7) return { kind: 'follow', dispatch, limit: 1 + this.#below(20) };
    if (chance < 0.76) return { kind: 'watch', dispatch: scope === 'dispatch' ? dispatch : null, scope };
    if (chance < 0.86) return { kind: 'send letter', dispatch, id: `letter_${this.#nextId(of)}` };
    if (chance < 0.94) return { kind: 'take letters', dispatch };
    if (chance < 0.96) return { kind: 'create newer', mark: this.#nextId(of) };
    const how = (['read', 'claim', 'rewrite', 'verify'] as const)[this.#below(4)] ?? 'read';
    return { kind: 'use newer', how };
  }

  #list(): ContractCall {
    const scope = (['store', 'task', 'internal'] as const)[this.#below(3)] ?? 'store';
    const status = ([null, null, 'running', 'completed'] as const)[this.#below(4)] ?? null;
    const order = this.#random() < 0.5 ? 'oldest' : 'newest';
    return { kind: 'list', scope, limit: 1 + this.#below(3), order, status };
  }

  #search(): ContractCall {
    const scope = (['store', 'task', 'dispatch'] as const)[this.#below(3)] ?? 'store';
    return { kind: 'search', word: searched[this.#below(searched.length)] ?? 'secret', scope };
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
export function shrink<Decision>(
  schedule: readonly Decision[],
  fails: (part: readonly Decision[]) => boolean,
): readonly Decision[] {
  let best = schedule;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length; ) {
      const without = best.toSpliced(at, size);
      if (fails(without)) best = without;
      else at += size;
    }
  }
  return best;
}

import { type ContractCall, type SimulatedCall, searched, tasks } from '@hansard/testing/simulation';

/** A call of a store, or of the process itself. */
export type Operation = SimulatedCall;

/** What happens to the last step of a grant. The last two are errors of SQLite. */
export type Fault = 'crash before' | 'crash after' | 'full disk' | 'failing disk';

/** One decision of the scheduler. A decision that is not possible when its turn comes is skipped. */
export type Decision =
  /** A process without a call begins one, and makes this number of steps of it. */
  | {
      readonly kind: 'start';
      readonly process: number;
      readonly operation: Operation;
      readonly steps: number;
    }
  /** An interrupted process makes this number of steps of its call; the last one can fail. */
  | { readonly kind: 'run'; readonly process: number; readonly steps: number; readonly fault: Fault | null }
  | { readonly kind: 'stop'; readonly process: number }
  | { readonly kind: 'continue'; readonly process: number }
  | { readonly kind: 'crash'; readonly process: number }
  /** A process ends, and starts again elsewhere. */
  | { readonly kind: 'move'; readonly process: number; readonly to: 'namespace' | 'host' }
  /** All processes of the host of a process end, and its machine starts again. */
  | { readonly kind: 'reboot'; readonly process: number }
  /** Time passes. The timers of processes that run are called. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** The wall clock of the host of a process is set. */
  | { readonly kind: 'set clock'; readonly process: number; readonly byMs: number };

export interface ScheduleOptions {
  readonly processes: number;
  readonly dispatches: number;
  readonly leaseMs: number;
}

const decisions = 300;
const toTheEnd = 1_000;
export const faults: readonly Fault[] = ['crash before', 'crash after', 'full disk', 'failing disk'];

/** Decisions that are the same for the same seed. */
export function randomSchedule(
  seed: number,
  { processes, dispatches, leaseMs }: ScheduleOptions,
): Decision[] {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  let number = 0;
  const next = (of: number) => {
    number += 1;
    return `p${of}-${String(number).padStart(4, '0')}`;
  };
  /** The dispatch that a process works on, and the events that it appended last. */
  const focus = Array.from({ length: processes }, () => below(dispatches));
  const latest = new Map<number, readonly string[]>();
  const batch = (of: number, size: number) => {
    const ids = Array.from({ length: size }, () => next(of));
    latest.set(of, ids);
    return ids;
  };
  const operation = (of: number): Operation => {
    if (random() < 0.1) focus[of] = below(dispatches);
    const dispatch = focus[of] ?? 0;
    const chance = random();
    const isSensible = random() < 0.85;
    if (chance < 0.05) return { kind: 'create', dispatch, mark: next(of) };
    if (chance < 0.2) return { kind: 'claim', dispatch };
    if (chance < 0.42) return { kind: 'append', dispatch, ids: batch(of, 1), isSensible };
    if (chance < 0.49) return { kind: 'append', dispatch, ids: batch(of, 2 + below(3)), isSensible };
    // As a caller that repeats a call after an error.
    if (chance < 0.53) return { kind: 'append', dispatch, ids: latest.get(of) ?? batch(of, 2), isSensible };
    if (chance < 0.54) return { kind: 'conflict', dispatch, id: latest.get(of)?.[0] ?? next(of) };
    if (chance < 0.59) {
      const field = random() < 0.5 ? 'structuredResult' : 'model';
      return { kind: 'update', dispatch, field, value: next(of) };
    }
    if (chance < 0.61) return { kind: 'end', dispatch };
    if (chance < 0.67) return { kind: 'release', dispatch };
    if (chance < 0.69) return { kind: 'break claim', dispatch };
    if (chance < 0.71) return { kind: 'delete', dispatch };
    if (chance < 0.76) return { kind: 'read', dispatch };
    if (chance < 0.78) return { kind: 'verify', dispatch };
    if (chance < 0.82) {
      const what = (['all', 'secret', 'secret', 'fail'] as const)[below(4)] ?? 'all';
      return { kind: 'rewrite', dispatch, what, ids: [next(of)] };
    }
    if (chance < 0.825) return { kind: 'accept loss', dispatch, ids: [next(of)] };
    if (chance < 0.83) return { kind: 'copy' };
    if (chance < 0.955) return otherCall(dispatch, () => next(of), random);
    if (chance < 0.98) return { kind: 'timers' };
    return { kind: 'close' };
  };
  const steps = () => (random() < 0.6 ? toTheEnd : 1 + below(8));
  const decide = (): Decision => {
    const chance = random();
    const process = below(processes);
    if (chance < 0.55) return { kind: 'start', process, operation: operation(process), steps: steps() };
    if (chance < 0.74) return { kind: 'run', process, steps: steps(), fault: null };
    if (chance < 0.78)
      return { kind: 'run', process, steps: 1 + below(6), fault: faults[below(faults.length)] as Fault };
    if (chance < 0.82) return { kind: 'stop', process };
    if (chance < 0.89) return { kind: 'continue', process };
    if (chance < 0.96) return { kind: 'wait', ms: Math.floor(random() * leaseMs * 1.2) };
    if (chance < 0.966) return { kind: 'crash', process };
    if (chance < 0.972) return { kind: 'move', process, to: random() < 0.5 ? 'namespace' : 'host' };
    if (chance < 0.974) return { kind: 'reboot', process };
    return { kind: 'set clock', process, byMs: Math.floor((random() - 0.5) * 7_200_000) };
  };
  return Array.from({ length: decisions }, decide);
}

/** A call beside the owner of a dispatch. */
function otherCall(dispatch: number, next: () => string, random: () => number): ContractCall {
  const below = (limit: number) => Math.floor(random() * limit);
  const chance = random();
  const scope = (['store', 'task', 'dispatch'] as const)[below(3)] ?? 'store';
  if (chance < 0.12) return { kind: 'put task', task: below(tasks), mark: next(), isNewer: false };
  if (chance < 0.14) return { kind: 'put task', task: tasks - 1, mark: next(), isNewer: true };
  if (chance < 0.2) return { kind: 'read tasks' };
  if (chance < 0.4) {
    const listed = (['store', 'task', 'internal'] as const)[below(3)] ?? 'store';
    const status = ([null, null, 'running', 'completed'] as const)[below(4)] ?? null;
    const order = random() < 0.5 ? 'oldest' : 'newest';
    return { kind: 'list', scope: listed, limit: 1 + below(3), order, status };
  }
  if (chance < 0.56) return { kind: 'search', word: searched[below(searched.length)] ?? 'secret', scope };
  if (chance < 0.7) return { kind: 'follow', dispatch, limit: 1 + below(20) };
  if (chance < 0.86) return { kind: 'send letter', dispatch, id: `letter_${next()}` };
  if (chance < 0.94) return { kind: 'take letters', dispatch };
  if (chance < 0.96) return { kind: 'create newer', mark: next() };
  const how = (['read', 'claim', 'rewrite', 'verify'] as const)[below(4)] ?? 'read';
  return { kind: 'use newer', how };
}

/** A shortest schedule that still fails: no decision of it can be left out. */
export function shrink(
  schedule: readonly Decision[],
  fails: (part: readonly Decision[]) => boolean,
): readonly Decision[] {
  let best = schedule;
  for (let size = Math.ceil(best.length / 2); size >= 1; ) {
    const { length } = best;
    for (let at = 0; at < best.length; ) {
      const without = best.toSpliced(at, size);
      if (fails(without)) best = without;
      else at += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (best.length === length) break;
  }
  return best;
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

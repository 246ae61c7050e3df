import { RandomCalls, randomFrom, type SimulatedCall } from '@hansard/testing/simulation';

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
  const calls = new RandomCalls({ random, processes, dispatches, longest: 0 });
  const steps = () => (random() < 0.6 ? toTheEnd : 1 + below(8));
  const decide = (): Decision => {
    const chance = random();
    const process = below(processes);
    if (chance < 0.545) return { kind: 'start', process, operation: calls.next(process), steps: steps() };
    if (chance < 0.55) return { kind: 'start', process, operation: { kind: 'timers' }, steps: steps() };
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
  const pattern = () =>
    calls.pattern(below(processes)).flatMap(([process, operation]): Decision[] => [
      { kind: 'continue', process },
      { kind: 'run', process, steps: toTheEnd, fault: null },
      { kind: 'start', process, operation, steps: toTheEnd },
    ]);
  const schedule: Decision[] = [];
  while (schedule.length < decisions)
    if (random() < 0.01) schedule.push(...pattern());
    else schedule.push(decide());
  return schedule;
}

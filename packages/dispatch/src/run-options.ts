import type { Fidelity } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import type { Clock } from './clock.ts';
import type { CommunicationHub } from './communication-hub.ts';
import type { DispatchStore } from './dispatch-store.ts';
import type { LoopLimits } from './loop-detector.ts';

export interface RunDispatchOptions {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly agent: AgentProvider;
  readonly role: string;
  /** What the agent is asked to do; recorded as the first `user:message`. */
  readonly prompt?: string;
  readonly model?: string;
  readonly cwd?: string;
  /** The dispatch of the same task that starts this one (D4). */
  readonly parentDispatchId?: string;
  readonly botId?: string;
  /** Absent: `narrative` (D7). */
  readonly fidelity?: Fidelity;
  /** Absent: minted. */
  readonly dispatchId?: string;
  /** Where what happens is shown, and where messages for the agent come from. */
  readonly communication?: CommunicationHub;
  /** Aborts the dispatch. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly limits?: RunLimits;
  /** Absent: `defaultLoopLimits`. */
  readonly loopDetector?: LoopLimits | false;
  /** How long a stopped agent may take to end, in milliseconds; then the run ends without it. Absent: 5,000. */
  readonly graceMs?: number;
}

/** Where a limit is absent there is none. */
export interface RunLimits {
  /** The longest that the dispatch may take. */
  readonly timeMs?: number;
  /** The longest that the agent may yield nothing. */
  readonly stallMs?: number;
  /** The most that it may cost, in US dollars; an agent that goes on beyond it is stopped. */
  readonly costUsd?: number;
}

/** @throws TypeError for a limit that makes no sense */
export function checkRunOptions({ limits = {}, loopDetector, graceMs = 0 }: RunDispatchOptions): void {
  for (const [name, limit] of Object.entries({ ...limits, graceMs })) {
    if (limit !== undefined && !(Number.isFinite(limit) && limit >= 0))
      throw new TypeError(`${name} must be a number from 0; it is ${String(limit)}.`);
  }
  if (loopDetector === undefined || loopDetector === false) return;
  const { window, warnAt, killAt } = loopDetector;
  if (
    [window, warnAt, killAt].every(Number.isSafeInteger) &&
    1 <= warnAt &&
    warnAt <= killAt &&
    killAt <= window
  )
    return;
  throw new TypeError(
    `loopDetector needs whole numbers with 1 <= warnAt <= killAt <= window; it has ${warnAt}, ${killAt}, ${window}.`,
  );
}

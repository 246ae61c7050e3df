import type { HansardError } from '@hansard/events';
import type { Awaitable, Clock, HookDecision, HookProvider, HookQuestion } from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { untilAborted } from '../async/until-aborted.ts';
import { dispatchErrors } from '../dispatch-errors.ts';

/** How long a hook may take for a decision, in milliseconds. Enough for a hook that asks a model. */
export const defaultHookTimeoutMs = 300_000;

export interface DecisionTime {
  readonly clock: Clock;
  /** How long a hook may take for a decision, in milliseconds; false: no limit. */
  readonly timeoutMs: number | false;
  /** Ends the wait for a decision, even if the hook hangs. */
  readonly signal: AbortSignal;
}

/**
 * Asks a hook, and waits for its decision at most as long as it may take. A late decision is ignored.
 * @throws DISPATCH_HOOK_TIMEOUT; the error of the hook; the reason of the signal
 */
export async function decideInTime(
  { clock, timeoutMs, signal }: DecisionTime,
  hook: HookProvider,
  question: HookQuestion,
): Promise<HookDecision> {
  let cancel = () => {};
  try {
    return await untilAborted(signal, (): Awaitable<HookDecision> => {
      const decision = hook.decide(question);
      if (timeoutMs === false || !isPromise(decision)) return decision;
      const late = new Promise<never>((_, reject) => {
        cancel = clock.after(timeoutMs, () => reject(tooLate(hook, timeoutMs)));
      });
      return Promise.race([decision, late]);
    });
  } finally {
    cancel();
  }
}

function tooLate({ name }: HookProvider, limitMs: number): HansardError {
  return dispatchErrors.error('DISPATCH_HOOK_TIMEOUT', `it gave no decision within ${limitMs} ms.`, {
    details: { hook: name, limitMs },
  });
}

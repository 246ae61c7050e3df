import type { Awaitable, Clock, HookProvider } from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { untilAborted } from '../async/until-aborted.ts';
import { dispatchErrors } from '../dispatch-errors.ts';

/** How long a hook may take for an answer, in milliseconds. Enough for a hook that asks a model. */
export const defaultHookTimeoutMs = 300_000;

export interface AnswerTime {
  readonly clock: Clock;
  /** How long a hook may take for an answer, in milliseconds; false: no limit. */
  readonly timeoutMs: number | false;
  /** Ends the wait for an answer, even if the hook hangs. */
  readonly signal: AbortSignal;
}

/**
 * Asks a hook, and waits for its answer at most as long as it may take. A late answer is ignored. `late` begins the message of the
 * timeout.
 * @throws DISPATCH_HOOK_TIMEOUT; the error of the hook; the reason of the signal
 */
export async function answerInTime<T>(
  { clock, timeoutMs, signal }: AnswerTime,
  { name: hook }: HookProvider,
  late: string,
  ask: () => Awaitable<T>,
): Promise<T> {
  let cancel = () => {};
  try {
    return await untilAborted(signal, (): Awaitable<T> => {
      const answer = ask();
      if (timeoutMs === false || !isPromise(answer)) return answer;
      const timeout = new Promise<never>((_, reject) => {
        const message = `${late} ${timeoutMs} ms.`;
        const details = { hook, limitMs: timeoutMs };
        cancel = clock.after(timeoutMs, () =>
          reject(dispatchErrors.error('DISPATCH_HOOK_TIMEOUT', message, { details })),
        );
      });
      return Promise.race([answer, timeout]);
    });
  } finally {
    cancel();
  }
}

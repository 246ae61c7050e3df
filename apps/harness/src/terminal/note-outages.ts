import type { StoreOutage } from '@hansard/dispatch';
import { type CliContext, note } from './context.ts';
import { explainError } from './explain-error.ts';

/** How long calls can fail before it is worth a note, in milliseconds. */
const noteAfterMs = 1_000;

/** Says on standard error that the store has not answered for a second, and then that it answers again. For `onOutage`. */
export function noteOutages(context: CliContext): (outage: StoreOutage | null) => void {
  let since = 0;
  let isNoted = false;
  let timer: NodeJS.Timeout | undefined;
  return (outage) => {
    clearTimeout(timer);
    if (outage !== null) {
      since = performance.now();
      const { message } = explainError(outage.error);
      timer = setTimeout(() => {
        isNoted = true;
        const seconds = (outage.retryMs / 1_000).toLocaleString('en');
        note(
          context,
          `hansard: the store does not answer: ${message}\n  Each call is repeated for ${seconds} s.`,
        );
      }, noteAfterMs);
      // The calls that are repeated keep the process running.
      timer.unref();
    } else if (isNoted) {
      isNoted = false;
      const seconds = ((performance.now() - since) / 1_000).toFixed(1);
      note(context, `hansard: the store answers again, after ${seconds} s.`);
    }
  };
}

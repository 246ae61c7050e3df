import { setTimeout as sleep } from 'node:timers/promises';
import type { LetterState } from '@hansard/dispatch';

/** Milliseconds. An owner looks once a second. */
const receiptMs = 3_000;
const lookMs = 100;

/** The state of a letter when it is no longer waiting, or after three seconds. */
export async function untilReceipt(
  signal: AbortSignal,
  find: () => Promise<LetterState>,
): Promise<LetterState> {
  const until = Date.now() + receiptMs;
  let state = await find();
  while (state === 'waiting' && Date.now() < until) {
    await sleep(lookMs, undefined, { signal });
    state = await find();
  }
  return state;
}

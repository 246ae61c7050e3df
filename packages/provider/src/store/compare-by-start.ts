import type { DispatchEnvelope } from '@hansard/events';

type Started = Pick<DispatchEnvelope, 'startedAt' | 'dispatchId'>;

/** The order of `getDispatchEnvelopes`, for `sort`: by `startedAt`, dispatches without a start first, then `dispatchId`. */
export function compareByStart(left: Started, right: Started): number {
  return compare(left.startedAt ?? '', right.startedAt ?? '') || compare(left.dispatchId, right.dispatchId);
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

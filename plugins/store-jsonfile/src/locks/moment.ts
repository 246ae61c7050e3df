import type { Clock } from '@hansard/provider';

/** A time by both clocks of this process. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** Before every other moment. */
export const never: Moment = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

export function currentMoment(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * Milliseconds since a moment: the longer of the times by the two clocks. While a machine is suspended, the monotonic clock can
 * stand still; when the time of day is corrected, the wall clock can go back.
 */
export function elapsedSince({ monotonic, wall }: Moment, clock: Clock): number {
  return Math.max(clock.monotonic() - monotonic, clock.now() - wall);
}

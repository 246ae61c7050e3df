import type { RunDispatchOptions } from '@hansard/dispatch';
import type { HarnessConfig } from './config.ts';

/** What a configuration says about every dispatch. */
export function dispatchLimits({
  limits,
  loopDetector,
}: HarnessConfig): Pick<RunDispatchOptions, 'limits' | 'loopDetector'> {
  const { timeMs, stallMs, costUsd } = limits;
  return {
    limits: {
      ...(timeMs === undefined ? {} : { timeMs }),
      ...(stallMs === undefined ? {} : { stallMs }),
      ...(costUsd === undefined ? {} : { costUsd }),
    },
    ...(loopDetector === undefined ? {} : { loopDetector }),
  };
}

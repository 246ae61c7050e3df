import type { RunDispatchOptions } from '@hansard/dispatch';
import { definedOnly } from '@hansard/events';
import type { HarnessConfig } from './config.ts';

/** The limits of every dispatch, by the configuration. */
export function dispatchLimits({
  limits,
  loopDetector,
}: HarnessConfig): Pick<RunDispatchOptions, 'limits' | 'loopDetector'> {
  return { limits: definedOnly(limits), ...definedOnly({ loopDetector }) };
}

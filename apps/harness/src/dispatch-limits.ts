import type { RunDispatchOptions } from '@hansard/dispatch';
import { definedOnly } from '@hansard/events';
import type { HarnessConfig } from './config.ts';

/** What a configuration says about every dispatch. */
export function dispatchLimits({
  limits,
  loopDetector,
}: HarnessConfig): Pick<RunDispatchOptions, 'limits' | 'loopDetector'> {
  return { limits: definedOnly(limits), ...definedOnly({ loopDetector }) };
}

import type { RunDispatchOptions } from '@hansard/dispatch';
import { definedOnly } from '@hansard/events';
import type { HarnessConfig } from './config.ts';

/** The limits of every dispatch, by the configuration. */
export function dispatchLimits({
  limits: { hookMs: hookTimeoutMs, ...limits },
  loopDetector,
}: HarnessConfig): Pick<RunDispatchOptions, 'limits' | 'loopDetector' | 'hookTimeoutMs'> {
  return { limits: definedOnly(limits), ...definedOnly({ loopDetector, hookTimeoutMs }) };
}

import type { CapturedEvent } from '@hansard/events';
import { isFailedRecord } from '../rows/noise.ts';

const failures: ReadonlySet<string> = new Set([
  'harness:loop_kill',
  'harness:stall',
  'harness:timeout',
  'harness:abort',
  'harness:error',
]);

/** Whether an event reports a failure: of a call, of the harness, of the dispatch, or a denial by a hook. */
export function isFailedEvent({ type, data }: CapturedEvent): boolean {
  if (type === 'agent:tool_result') return data.status === 'error';
  if (type === 'harness:hook_decision') return data.decision === 'deny';
  if (type === 'session:complete') return data.status !== 'completed';
  if (type.startsWith('system:')) return type !== 'system:notice' && isFailedRecord(type, data);
  return failures.has(type);
}

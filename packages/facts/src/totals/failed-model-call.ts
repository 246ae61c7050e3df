import type { CapturedEvent } from '@hansard/events';

/** Messages of Claude Code about an attempt that failed, and that it repeats. */
const attempts: ReadonlySet<string> = new Set(['system:api_error', 'system:api_retry']);

/**
 * Whether an event reports a call of a model that gave no answer: a failed model of a session, an attempt that an engine repeats,
 * or the message that an engine puts in place of the answer.
 */
export function failedModelCall(event: CapturedEvent): boolean {
  const { type } = event;
  const { code, details } = event.data as Record<string, unknown>;
  if (type !== 'agent:text' && type !== 'user:message')
    return type === 'harness:error' ? code === 'SESSION_MODEL_FAILED' : attempts.has(type);
  if (typeof details !== 'object' || details === null) return false;
  const { isApiErrorMessage, is_api_error_message: isApiError } = details as Record<string, unknown>;
  return isApiErrorMessage === true || isApiError === true;
}

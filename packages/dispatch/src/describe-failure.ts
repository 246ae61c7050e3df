import { type EventData, messageOf } from '@hansard/events';

/** What was thrown, as the data of a `harness:error`. An error of another realm is no `Error` here, but looks like one. */
export function describeFailure(error: unknown): EventData<'harness:error'> {
  const { code, stack } = (error ?? {}) as { code?: unknown; stack?: unknown };
  return {
    message: messageOf(error),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof stack === 'string' ? { stack } : {}),
  };
}
